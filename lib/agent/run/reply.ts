// The reply of a run: turns parts into frames, and collects them into the message to store.
//
// After a takeover the responder starts over. Text already in the log is not written again while it is identical;
// where it differs, a frame gives the length of the text that is still valid.

import type { Json, JsonObject } from '../../json/json.ts';
import { AGENT_LIMITS } from '../limits.ts';
import type { RunnerOptions } from '../options.ts';
import type { TurnSecrets } from '../responder.ts';
import type { MessageToolCall } from '../session/message.ts';
import { isHighSurrogate, shortJson, splitText, wellFormed, wellFormedText } from '../well-formed.ts';
import type { AnyFrame, RunFault } from './frames.ts';
import type { HeldRun } from './lease.ts';
import type { LogWriter, Replay, ReplayedCall } from './log.ts';
import type { Run } from './run.ts';

/** A run while its reply is produced. */
export interface RunTurn {
  readonly held: HeldRun;
  readonly secrets: TurnSecrets;
  readonly writer: LogWriter;
  readonly replay: Replay;
  readonly reply: RunReply;
  /** Whether the session still exists. */
  readonly isKept: boolean;
}

export type RunReply = ReturnType<typeof makeReply>;

export interface ReplyContext {
  readonly run: Run;
  readonly replay: Replay;
  readonly write: (frame: AnyFrame) => Promise<void>;
}

type ReplyCall = { -readonly [Key in keyof ReplayedCall]: ReplayedCall[Key] };
type CallEnd = NonNullable<ReplyCall['end']>;

const THINKING = 'Thinking…';
const NOT_COMPLETED = '⏱️ Tool did not complete';

/** A reply of at most `replyBytes` bytes in UTF-8. */
export function makeReply(
  { clock, replyBytes }: Pick<RunnerOptions, 'clock' | 'replyBytes'>,
  { run, replay, write }: ReplyContext,
) {
  const stamp = { sessionId: run.body.session, requestId: run.body.requestId };
  const time = () => new Date(clock.now()).toISOString();
  const calls = new Map<string, ReplyCall>([...replay.calls].map(([id, call]) => [id, { ...call }]));
  let text = '';
  let reasoning = '';
  let bytes = 0;
  // Logged text that the responder has not repeated yet.
  let replayed = replay.text;
  let isFull = false;

  const runFrame = (partialLength?: number): AnyFrame => ({
    name: 'run',
    data: {
      runId: run.id,
      requestId: run.body.requestId,
      status: 'running',
      ...(partialLength !== undefined && { resumed: true as const, partialLength }),
    },
  });
  const reasoningFrame = (words: string, isComplete: boolean): AnyFrame => ({
    name: 'reasoning',
    data: {
      ...stamp,
      reasoning: words,
      ...(words !== '' && words !== THINKING && { reasoningDetails: [{ type: 'reasoning.text', text: words }] }),
      isComplete,
      timestamp: time(),
    },
  });

  /** As much of the text as fits. */
  function fit(more: string): string {
    const clean = wellFormedText(more);
    if (isFull) return '';
    const room = replyBytes - bytes;
    const size = Buffer.byteLength(clean);
    isFull = size > room;
    bytes += Math.min(size, room);
    return isFull ? cutBytes(clean, room) : clean;
  }

  /** Writes the part of `more` that is not in the log yet. */
  async function writeText(more: string): Promise<void> {
    const same = replayed === '' ? 0 : commonLength(replayed, more);
    const isDifferent = same < Math.min(replayed.length, more.length);
    replayed = isDifferent ? '' : replayed.slice(same);
    if (isDifferent) await write(runFrame(text.length + same));
    text += more;
    for (const content of splitText(more.slice(same), AGENT_LIMITS.deltaChars))
      await write({ name: 'message', data: { content, timestamp: time() } });
  }

  async function finishCall(call: ReplyCall, end: CallEnd): Promise<void> {
    call.end = end;
    await write(callFrame(stamp, call));
  }

  return {
    /** Announces that the run has started or continues. */
    async open(): Promise<void> {
      await write(runFrame(replay.names.has('run') ? replay.text.length : undefined));
      if (!replay.names.has('reasoning')) await write(reasoningFrame(THINKING, false));
    },
    addText: (more: string) => writeText(fit(more)),
    async addReasoning(more: string): Promise<void> {
      const fitting = fit(more);
      reasoning += fitting;
      // Reasoning is not replayed: after a takeover it is sent again.
      for (const piece of splitText(fitting, AGENT_LIMITS.deltaChars)) await write(reasoningFrame(piece, false));
    },
    async startCall({ kind, id, name, args }: Omit<ReplayedCall, 'end'>): Promise<void> {
      if (calls.has(id)) return;
      const call: ReplyCall = { kind, id, name, args: shortArgs(args) };
      calls.set(id, call);
      await write(callFrame(stamp, call));
    },
    /** Does nothing if the call is unknown or has ended. */
    async endCall(id: string, result: { output: Json } | { error: string }): Promise<void> {
      const call = calls.get(id);
      if (!call || call.end) return;
      if ('error' in result) return finishCall(call, { error: shortText(result.error) });
      // Truncated JSON would be invalid.
      const json = shortJson(result.output);
      await finishCall(call, { output: fit(json) === json ? json : JSON.stringify({ tooLong: true }) });
    },
    async addComponent({ component, args, id }: { component: string; args?: JsonObject; id?: string }): Promise<void> {
      const data = { ...stamp, componentName: component, status: 'done' };
      await write({
        name: 'render_component',
        data: { ...data, ...(args && { args: shortArgs(args) }), ...(id !== undefined && { eventId: id }) },
      });
    },
    addRouterStep: (step: string) => write({ name: 'router.update', data: { ...stamp, step: shortText(step) } }),
    /** Keeps the text that readers have seen: the responder will not repeat the rest. */
    keepReplayed(): void {
      text += replayed;
      replayed = '';
    },
    /** Ends unanswered calls and the reasoning. Retracts replayed text that the responder did not repeat. */
    async close(fault?: RunFault): Promise<void> {
      if (replayed) await write(runFrame(text.length));
      replayed = '';
      for (const call of calls.values())
        if (!call.end)
          await finishCall(call, call.kind === 'tool' ? { output: NOT_COMPLETED } : { error: NOT_COMPLETED });
      await write(reasoningFrame('', true));
      if (fault) await write({ name: 'error', data: { ...fault, ...stamp, timestamp: time() } });
    },
    /** Whether the reply has reached its size limit; anything after that was dropped. */
    isFull: () => isFull,
    /** The content that readers have. */
    content: () => ({ text, reasoning, toolCalls: [...calls.values()].map(toStoredCall) }),
  };
}

function callFrame(
  stamp: { sessionId: string; requestId: string },
  { kind, id, name, args, end }: ReplyCall,
): AnyFrame {
  if (kind === 'tool') {
    const output = end && (end.output ?? end.error);
    const status = end ? ('done' as const) : ('isRunning' as const);
    const data = { ...stamp, toolName: name, args: { ...args, toolName: name }, status, eventId: id };
    return { name: 'tool_call', data: { ...data, ...(output !== undefined && { output }) } };
  }
  const status = end ? (end.error === undefined ? ('done' as const) : ('error' as const)) : ('isRunning' as const);
  return { name: 'action_call', data: { ...stamp, toolCallId: id, toolName: name, args, status, ...end } };
}

function toStoredCall({ name, id, args, end }: ReplyCall): MessageToolCall {
  const output = end && (end.output ?? JSON.stringify({ error: end.error }));
  return { name, id, args, status: end ? 'done' : 'isRunning', ...(output !== undefined && { output }) };
}

const shortText = (text: string) => wellFormedText(text.slice(0, 1_000));

function shortArgs(args: JsonObject): JsonObject {
  const clean = wellFormed(args) as JsonObject;
  return Buffer.byteLength(JSON.stringify(clean)) <= AGENT_LIMITS.frameJsonBytes ? clean : { tooLong: true };
}

function commonLength(a: string, b: string): number {
  const most = Math.min(a.length, b.length);
  let at = 0;
  while (at < most && a.charCodeAt(at) === b.charCodeAt(at)) at++;
  return at > 0 && isHighSurrogate(a.charCodeAt(at - 1)) ? at - 1 : at;
}

/** Truncates text to so many bytes, between characters. */
function cutBytes(text: string, bytes: number): string {
  let end = Math.max(0, bytes);
  const whole = Buffer.from(text);
  while (end > 0 && (whole[end]! & 0xc0) === 0x80) end--;
  return whole.subarray(0, end).toString();
}

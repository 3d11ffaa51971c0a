// One reply while it is made: parts become frames, and the frames add up to the message that is kept.
//
// After a takeover the responder begins again. Text that the log holds already is not written again as long as it is
// the same; where it differs, a frame gives the length of the text that is still valid.

import type { Clock } from '../../clock.ts';
import type { Json, JsonObject } from '../../store/store.ts';
import { AGENT_LIMITS } from '../limits.ts';
import type { MessageToolCall } from '../session/message.ts';
import { isFirstHalf, piecesOf, shortJson, wellFormed, wellFormedText } from '../well-formed.ts';
import type { AnyFrame, RunFault } from './frames.ts';
import type { Replay, ReplayedCall } from './log.ts';
import type { Run } from './run.ts';

export interface Reply {
  /** Says that the run has begun, or goes on. */
  open(): Promise<void>;
  text(text: string): Promise<void>;
  reasoning(text: string): Promise<void>;
  called(call: { kind: ReplayedCall['kind']; id: string; name: string; args: JsonObject }): Promise<void>;
  /** How a call went; for one that is not known or has ended nothing happens. */
  returned(id: string, end: { output: Json } | { error: string }): Promise<void>;
  render(part: { component: string; args?: JsonObject; id?: string }): Promise<void>;
  router(step: string): Promise<void>;
  /** There will be no more parts: what readers have is kept as it is. */
  adopt(): void;
  /** Ends unanswered calls and the reasoning. Replayed text that the responder did not repeat is taken back. */
  close(fault?: RunFault): Promise<void>;
  /** True when the reply has as many bytes as it may have: what came after was dropped. */
  isFull(): boolean;
  /** What readers have now. */
  said(): { text: string; reasoning: string; toolCalls: MessageToolCall[] };
}

export interface ReplyOptions {
  readonly run: Run;
  readonly replay: Replay;
  readonly clock: Clock;
  /** Bytes in UTF-8. */
  readonly maxBytes: number;
  readonly write: (frame: AnyFrame) => Promise<void>;
}

type Call = { -readonly [Key in keyof ReplayedCall]: ReplayedCall[Key] };

export const THINKING = 'Thinking…';
const NEVER_DONE = '⏱️ Tool did not complete';

export function makeReply({ run, replay, clock, maxBytes, write }: ReplyOptions): Reply {
  const stamp = { sessionId: run.body.session, requestId: run.body.requestId };
  const time = () => new Date(clock.now()).toISOString();
  const calls = new Map<string, Call>([...replay.calls].map(([id, call]) => [id, { ...call }]));
  let text = '';
  let reasoning = '';
  let bytes = 0;
  // What the log holds already and has not been said again.
  let old = replay.text;
  let full = false;

  const began = (partialLength?: number): AnyFrame => ({
    name: 'run',
    data: {
      runId: run.id,
      requestId: run.body.requestId,
      status: 'running',
      ...(partialLength !== undefined && { resumed: true as const, partialLength }),
    },
  });
  const think = (words: string, isComplete: boolean): AnyFrame => ({
    name: 'reasoning',
    data: {
      ...stamp,
      reasoning: words,
      ...(words !== '' && words !== THINKING && { reasoningDetails: [{ type: 'reasoning.text', text: words }] }),
      isComplete,
      timestamp: time(),
    },
  });

  /** As much of it as there is room for. */
  function fit(more: string): string {
    const clean = wellFormedText(more);
    if (full) return '';
    const room = maxBytes - bytes;
    const size = Buffer.byteLength(clean);
    if (size <= room) {
      bytes += size;
      return clean;
    }
    full = true;
    bytes = maxBytes;
    return cutTo(clean, room);
  }

  /** JSON that is cut is none. */
  function fitWhole(json: string): string {
    return fit(json) === json ? json : JSON.stringify({ tooLong: true });
  }

  async function say(more: string): Promise<void> {
    for (const content of piecesOf(more, AGENT_LIMITS.deltaChars))
      await write({ name: 'message', data: { content, timestamp: time() } });
  }

  /** What of `more` is not in the log already. */
  async function unreplayed(more: string): Promise<string> {
    if (!old) return more;
    const same = commonLength(old, more);
    const isDifferent = same < Math.min(old.length, more.length);
    old = isDifferent ? '' : old.slice(same);
    if (isDifferent) await write(began(text.length + same));
    return more.slice(same);
  }

  async function cutOff(): Promise<void> {
    if (!old) return;
    old = '';
    await write(began(text.length));
  }

  function frameOf(call: Call): AnyFrame {
    const { kind, id, name, args, end } = call;
    if (kind === 'tool') {
      const output = end && (end.output ?? end.error);
      const status = end ? ('done' as const) : ('isRunning' as const);
      const data = { ...stamp, toolName: name, args: { ...args, toolName: name }, status, eventId: id };
      return { name: 'tool_call', data: { ...data, ...(output !== undefined && { output }) } };
    }
    const status = end ? (end.error === undefined ? ('done' as const) : ('error' as const)) : ('isRunning' as const);
    return { name: 'action_call', data: { ...stamp, toolCallId: id, toolName: name, args, status, ...end } };
  }

  async function finishCall(call: Call, end: NonNullable<Call['end']>): Promise<void> {
    call.end = end;
    await write(frameOf(call));
  }

  return {
    async open() {
      if (!replay.names.has('run')) await write(began());
      else await write(began(replay.text.length));
      if (!replay.names.has('reasoning')) await write(think(THINKING, false));
    },
    async text(more) {
      const fitting = fit(more);
      const fresh = await unreplayed(fitting);
      text += fitting;
      await say(fresh);
    },
    async reasoning(more) {
      const fitting = fit(more);
      reasoning += fitting;
      // Reasoning is not kept frame by frame: after a takeover it is sent again.
      for (const piece of piecesOf(fitting, AGENT_LIMITS.deltaChars)) await write(think(piece, false));
    },
    async called({ kind, id, name, args }) {
      if (calls.has(id)) return;
      const call: Call = { kind, id, name, args: shortArgs(args) };
      calls.set(id, call);
      await write(frameOf(call));
    },
    async returned(id, end) {
      const call = calls.get(id);
      if (!call || call.end) return;
      await finishCall(
        call,
        'error' in end ? { error: shortText(end.error) } : { output: fitWhole(shortJson(end.output)) },
      );
    },
    async render({ component, args, id }) {
      const data = { ...stamp, componentName: component, status: 'done' };
      await write({
        name: 'render_component',
        data: { ...data, ...(args && { args: shortArgs(args) }), ...(id !== undefined && { eventId: id }) },
      });
    },
    router: (step) => write({ name: 'router.update', data: { ...stamp, step: shortText(step) } }),
    adopt() {
      text += old;
      old = '';
    },
    async close(fault) {
      await cutOff();
      for (const call of calls.values()) if (!call.end) await finishCall(call, orphanEnd(call));
      await write(think('', true));
      if (fault) await write({ name: 'error', data: { ...fault, ...stamp, timestamp: time() } });
    },
    isFull: () => full,
    said: () => ({ text, reasoning, toolCalls: [...calls.values()].map(keptCall) }),
  };
}

const orphanEnd = ({ kind }: Call) => (kind === 'tool' ? { output: NEVER_DONE } : { error: NEVER_DONE });

function keptCall({ name, id, args, end }: Call): MessageToolCall {
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
  return at > 0 && isFirstHalf(a.charCodeAt(at - 1)) ? at - 1 : at;
}

function cutTo(text: string, bytes: number): string {
  let end = Math.max(0, bytes);
  const whole = Buffer.from(text);
  while (end > 0 && (whole[end]! & 0xc0) === 0x80) end--;
  return whole.subarray(0, end).toString();
}

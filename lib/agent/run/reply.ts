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
import type { RunFault } from './frame-data.ts';
import type { AnyFrame } from './frames.ts';
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

export interface ReplyContext {
  readonly run: Run;
  readonly replay: Replay;
  readonly write: (frame: AnyFrame) => Promise<void>;
}

type ReplyCall = { -readonly [Key in keyof ReplayedCall]: ReplayedCall[Key] };
type CallEnd = NonNullable<ReplyCall['end']>;

const THINKING = 'Thinking…';
const NOT_COMPLETED = '⏱️ Tool did not complete';

/** The frames of a reply, and what they add up to. */
export class RunReply {
  readonly #clock: RunnerOptions['clock'];
  readonly #run: Run;
  readonly #replay: Replay;
  readonly #write: ReplyContext['write'];
  readonly #calls: Map<string, ReplyCall>;
  /** Bytes that still fit. */
  #room: number;
  #text = '';
  #reasoning = '';
  /** Logged text that the responder has not repeated yet. */
  #replayed: string;
  #isFull = false;

  /** A reply of at most `replyBytes` bytes in UTF-8. */
  constructor(
    { clock, replyBytes }: Pick<RunnerOptions, 'clock' | 'replyBytes'>,
    { run, replay, write }: ReplyContext,
  ) {
    this.#clock = clock;
    this.#room = replyBytes;
    this.#run = run;
    this.#replay = replay;
    this.#write = write;
    this.#calls = new Map([...replay.calls].map(([id, call]) => [id, { ...call }]));
    this.#replayed = replay.text;
  }

  /** Whether the reply has reached its size limit; anything after that was dropped. */
  get isFull(): boolean {
    return this.#isFull;
  }

  /** The content that readers have. */
  content() {
    const toolCalls = [...this.#calls.values()].map(toStoredCall);
    return { text: this.#text, reasoning: this.#reasoning, toolCalls };
  }

  /** Announces that the run has started or continues. */
  async open(): Promise<void> {
    const { names, text } = this.#replay;
    await this.#write(this.#runFrame(names.has('run') ? text.length : undefined));
    if (!names.has('reasoning')) await this.#write(this.#reasoningFrame(THINKING, false));
  }

  /** Writes the part of the text that is not in the log yet. */
  async addText(more: string): Promise<void> {
    const fitting = this.#fit(more);
    const same = this.#replayed === '' ? 0 : commonLength(this.#replayed, fitting);
    const isDifferent = same < Math.min(this.#replayed.length, fitting.length);
    this.#replayed = isDifferent ? '' : this.#replayed.slice(same);
    if (isDifferent) await this.#write(this.#runFrame(this.#text.length + same));
    this.#text += fitting;
    for (const content of splitText(fitting.slice(same), AGENT_LIMITS.deltaChars))
      await this.#write({ name: 'message', data: { content, timestamp: this.#time() } });
  }

  async addReasoning(more: string): Promise<void> {
    const fitting = this.#fit(more);
    this.#reasoning += fitting;
    // Reasoning is not replayed: after a takeover it is sent again.
    for (const piece of splitText(fitting, AGENT_LIMITS.deltaChars))
      await this.#write(this.#reasoningFrame(piece, false));
  }

  async startCall({ kind, id, name, args }: Omit<ReplayedCall, 'end'>): Promise<void> {
    if (this.#calls.has(id)) return;
    const call: ReplyCall = { kind, id, name, args: shortArgs(args) };
    this.#calls.set(id, call);
    await this.#write(callFrame(this.#stamp(), call));
  }

  /** Does nothing if the call is unknown or has ended. */
  async endCall(id: string, result: { output: Json } | { error: string }): Promise<void> {
    const call = this.#calls.get(id);
    if (!call || call.end) return;
    if ('error' in result) return this.#finishCall(call, { error: shortText(result.error) });
    // Truncated JSON would be invalid.
    const json = shortJson(result.output);
    await this.#finishCall(call, { output: this.#fit(json) === json ? json : JSON.stringify({ tooLong: true }) });
  }

  async addComponent({ component, args, id }: { component: string; args?: JsonObject; id?: string }): Promise<void> {
    const data = { ...this.#stamp(), componentName: component, status: 'done' };
    await this.#write({
      name: 'render_component',
      data: { ...data, ...(args && { args: shortArgs(args) }), ...(id !== undefined && { eventId: id }) },
    });
  }

  addRouterStep(step: string): Promise<void> {
    return this.#write({ name: 'router.update', data: { ...this.#stamp(), step: shortText(step) } });
  }

  /** Keeps the text that readers have seen: the responder will not repeat the rest. */
  keepReplayed(): void {
    this.#text += this.#replayed;
    this.#replayed = '';
  }

  /** Ends unanswered calls and the reasoning. Retracts replayed text that the responder did not repeat. */
  async close(fault?: RunFault): Promise<void> {
    if (this.#replayed) await this.#write(this.#runFrame(this.#text.length));
    this.#replayed = '';
    for (const call of this.#calls.values())
      if (!call.end)
        await this.#finishCall(call, call.kind === 'tool' ? { output: NOT_COMPLETED } : { error: NOT_COMPLETED });
    await this.#write(this.#reasoningFrame('', true));
    if (!fault) return;
    await this.#write({ name: 'error', data: { ...fault, ...this.#stamp(), timestamp: this.#time() } });
  }

  #stamp() {
    const { session: sessionId, requestId } = this.#run.body;
    return { sessionId, requestId };
  }

  #time(): string {
    return new Date(this.#clock.now()).toISOString();
  }

  #runFrame(partialLength?: number): AnyFrame {
    const { id: runId, body } = this.#run;
    const data = { runId, requestId: body.requestId, status: 'running' as const };
    return { name: 'run', data: partialLength === undefined ? data : { ...data, resumed: true, partialLength } };
  }

  #reasoningFrame(reasoning: string, isComplete: boolean): AnyFrame {
    const isSaid = reasoning !== '' && reasoning !== THINKING;
    const details = isSaid ? { reasoningDetails: [{ type: 'reasoning.text' as const, text: reasoning }] } : {};
    const data = { ...this.#stamp(), reasoning, ...details, isComplete, timestamp: this.#time() };
    return { name: 'reasoning', data };
  }

  /** As much of the text as fits. */
  #fit(more: string): string {
    const clean = wellFormedText(more);
    if (this.#isFull) return '';
    const room = this.#room;
    const size = Buffer.byteLength(clean);
    this.#isFull = size > room;
    this.#room -= Math.min(size, room);
    return this.#isFull ? cutBytes(clean, room) : clean;
  }

  async #finishCall(call: ReplyCall, end: CallEnd): Promise<void> {
    call.end = end;
    await this.#write(callFrame(this.#stamp(), call));
  }
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

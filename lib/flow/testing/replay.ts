// Recorded dialogues: lines of JSON, one per turn, with every secret replaced by a number; parses them and replays them on a
// later version of the flow: each turn is the same, moved to another screen, or different.

import { TwinlineError } from '../../errors.ts';
import { isCount, isListWhere, isObject, isText } from '../../given.ts';
import type { Json, JsonObject } from '../../json/json.ts';
import type { CompiledFlow } from '../run/compile.ts';
import { type MarkedFlow, markFlow } from './coverage.ts';
import type { FlowTestFile, FlowTestSetup, MockAnswer } from './file.ts';
import type { Masked } from './mask.ts';
import { standIns } from './mask.ts';
import { diffLines } from './run.ts';
import { openTestSession, type TestStepResult } from './session.ts';

export interface ReplayedTurn {
  /** From 1. */
  readonly turn: number;
  /** As JSON; `****` for a secret. */
  readonly typed: string;
  /** `moved`: the same text on a screen with another name. */
  readonly outcome: 'same' | 'moved' | 'different';
  /** The difference, in words. */
  readonly message?: string;
  /** Further lines: a diff. */
  readonly details?: readonly string[];
}

/**
 * Replays the inputs of a dialogue; services answer as recorded. Stops at the first turn that cannot be taken. What it passes
 * through is noted in `markedFlow`.
 */
export async function replayDialogue(
  compiledFlow: CompiledFlow,
  dialogue: Dialogue,
  markedFlow: MarkedFlow = markFlow(compiledFlow),
): Promise<ReplayedTurn[]> {
  const session = openTestSession(compiledFlow, markedFlow, dialogue);
  const replayed: ReplayedTurn[] = [];
  const secretFor = standIns();
  let screen = '';
  for (const [at, turn] of dialogue.turns.entries()) {
    const place = { turn: at + 1, typed: typeof turn.in === 'string' ? session.showInput(turn.in) : '****' };
    try {
      const typed = typeof turn.in === 'string' ? turn.in : secretFor(turn.in, compiledFlow.screens.get(screen));
      const step = await session.take({ ...turn, in: typed }, { at: turn.at });
      screen = step.screen;
      replayed.push({ ...place, ...compareTurn(turn, step) });
      const hasMore = at + 1 < dialogue.turns.length;
      if (step.reply.kind !== 'end' || !hasMore || dialogue.turns[at + 1]!.dial !== undefined) continue;
      return [...replayed, { turn: at + 2, typed: '', outcome: 'different', message: 'the dialogue is over already.' }];
    } catch (error) {
      const { message, cause } = error as Error;
      const words = cause instanceof Error ? `${message} ${cause.message}` : message;
      return [...replayed, { ...place, outcome: 'different', message: words }];
    }
  }
  return replayed;
}

type ReplayOutcome = Pick<ReplayedTurn, 'outcome' | 'message' | 'details'>;

function compareTurn(then: DialogueTurn, { reply, masked, screen, unanswered }: TestStepResult): ReplayOutcome {
  const isSame = then.text === undefined || then.text === reply.text || isSameMasked(then.text, masked);
  const details = isSame ? [] : diffLines(then.text!, masked ?? reply.text);
  if (unanswered.length) return { outcome: 'different', message: describeUnanswered(unanswered), details };
  const ends = reply.kind === 'end';
  if (then.end !== undefined && then.end !== ends)
    return { outcome: 'different', message: ends ? 'it ends now.' : 'it goes on now.', details };
  if (details.length) return { outcome: 'different', details };
  if (then.state === undefined || then.state === screen) return { outcome: 'same' };
  return { outcome: 'moved', message: `screen "${then.state}" is "${screen}" now.` };
}

// Substitutes for private values may now have another length.
const isSameMasked = (then: string, now: string | undefined) =>
  now !== undefined && then.replace(MASKED, '*') === now.replace(MASKED, '*');
const MASKED = /\*+(?:\s+\*+)*/g;

// The test message for an unanswered call, without its advice to the author.
function describeUnanswered(calls: readonly string[]): string {
  return calls.map((words) => `${words.split(', and ')[0]}, and then nothing answered that.`).join(' ');
}

/** A service answer; exactly one of `return` and `fail`. */
export interface RecordedCall {
  readonly service: string;
  readonly return?: Json;
  /** One of ERROR_CODES. */
  readonly fail?: string;
}

/** One turn: one line of a recording. */
export interface RecordedTurn {
  /** Identifies the dialogue within its file. */
  readonly session: string;
  /** From 1; the first one dials. */
  readonly turn: number;
  readonly flow: string;
  readonly version: number;
  /** Milliseconds since 1970. */
  readonly at?: number;
  /** E.164 with `+`; only with the first turn. */
  readonly phone?: string;
  /** What the flow kept of the caller before the dial, without private values; only with the first turn. */
  readonly memory?: JsonObject;
  readonly in: string | Masked;
  readonly text: string;
  readonly end: boolean;
  /** Path of the screen; absent once the dialogue has ended. */
  readonly state?: string;
  /** Service calls of this turn. */
  readonly calls: readonly RecordedCall[];
}

/** A complete dialogue, from a recording or a test. */
export interface Dialogue extends FlowTestSetup {
  readonly name: string;
  readonly flow: string;
  /** Undefined if not recorded. */
  readonly version?: number;
  readonly turns: readonly DialogueTurn[];
}

export interface DialogueTurn {
  /** Milliseconds since 1970. @default as much later as the calls take */
  readonly at?: number | undefined;
  readonly in: string | Masked;
  /** See {@link FlowTestStep.dial}. */
  readonly dial?: string | undefined;
  /** The expected text; undefined is not compared. */
  readonly text?: string | undefined;
  readonly end?: boolean | undefined;
  readonly state?: string | undefined;
}

/** Parses recorded lines, in which dialogues may interleave. Throws ERR_INPUT naming the line. */
export function parseRecording(text: string, file: string): Dialogue[] {
  const sessions = new Map<string, RecordedTurn[]>();
  for (const [at, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    const turn = readTurn(line, `${file}:${at + 1}`);
    const turns = sessions.get(turn.session) ?? [];
    if (turn.turn !== turns.length + 1)
      throw recordingError(
        `${file}:${at + 1}`,
        `turn ${turn.turn} of "${turn.session}" comes after turn ${turns.length}`,
      );
    sessions.set(turn.session, [...turns, turn]);
  }
  if (!sessions.size) throw recordingError(file, 'it is empty');
  return [...sessions.values()].map(toDialogue);
}

/** Flow tests as dialogues: their steps and expectations. */
export function toDialogues({ flow, tests }: FlowTestFile): Dialogue[] {
  return tests.map(({ name, steps, note: _, ...setup }) => ({
    ...setup,
    name,
    flow,
    turns: steps.map(({ in: input, dial, text, end, screen }) => ({ in: input, dial, text, end, state: screen })),
  }));
}

function toDialogue(turns: readonly RecordedTurn[]): Dialogue {
  const { session, flow, version, phone, memory } = turns[0]!;
  const calls = turns.flatMap((turn) => turn.calls);
  const names = new Set(calls.map((call) => call.service));
  const listAnswers = (name: string): MockAnswer[] =>
    calls.flatMap(({ service, ...answer }) => (service === name ? [answer] : []));
  return {
    name: session,
    flow,
    version,
    services: Object.fromEntries([...names].map((name) => [name, listAnswers(name)])),
    ...(phone !== undefined && { phone }),
    ...(memory && { memory }),
    turns: turns.map(({ at, in: input, text, end, state }) => ({ at, in: input, text, end, state })),
  };
}

function readTurn(line: string, place: string): RecordedTurn {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    throw recordingError(place, 'it is not JSON');
  }
  const key = isObject(value)
    ? KEYS.find(([name, fits]) => !fits((value as { [key: string]: unknown })[name]))
    : KEYS[0];
  if (key) throw recordingError(place, `"${key[0]}" is missing, or not what it should be`);
  return value as RecordedTurn;
}

const isMasked = (input: unknown) => isObject(input) && isCount(input.secret) && typeof input.fits === 'boolean';
const isCall = (call: unknown) => isObject(call) && isText(call.service) && 'return' in call !== 'fail' in call;

const KEYS: readonly (readonly [name: keyof RecordedTurn, fits: (value: unknown) => boolean])[] = [
  ['session', isText],
  ['turn', isCount],
  ['flow', isText],
  ['version', isCount],
  ['at', (at) => at === undefined || isCount(at)],
  ['phone', (phone) => phone === undefined || isText(phone)],
  ['memory', (memory) => memory === undefined || isObject(memory)],
  ['in', (input) => typeof input === 'string' || isMasked(input)],
  ['text', (text) => typeof text === 'string'],
  ['end', (end) => typeof end === 'boolean'],
  ['state', (state) => state === undefined || isText(state)],
  ['calls', (calls) => isListWhere(calls, isCall)],
];

function recordingError(place: string, why: string): TwinlineError {
  return new TwinlineError(
    'ERR_INPUT',
    `Cannot read the recording ${place}: ${why}. Record it anew with chat --record.`,
  );
}

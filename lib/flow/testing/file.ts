// The shape of a <name>.test.json file: tests of a flow as written by their author.

import type { Json, JsonObject } from '../../json/json.ts';
import { durationMs } from '../format/way.ts';

/** A parsed test file. */
export interface FlowTestFile {
  readonly $schema?: string;
  readonly flow: string;
  readonly tests: readonly FlowTest[];
}

/** How a conversation starts, and what services answer. */
export interface FlowTestSetup {
  /** Initial variables. */
  readonly given?: JsonObject;
  /** When the caller dials, in ISO 8601 with an offset. @default TEST_NOW */
  readonly now?: string;
  /** What the flow keeps of the caller when they dial, by variable. @default nothing */
  readonly memory?: JsonObject;
  /** E.164 with `+`. @default TEST_PHONE */
  readonly phone?: string;
  /** Answers by service name; a call takes the first unused one that matches. */
  readonly services?: { readonly [name: string]: readonly MockAnswer[] };
}

export interface FlowTest extends FlowTestSetup {
  readonly name: string;
  readonly note?: string;
  readonly steps: readonly FlowTestStep[];
}

/** One service answer: exactly one of `return`, `fail` and `callback`. */
export interface MockAnswer {
  /** The part of the input to match. @default any input */
  readonly when?: JsonObject;
  readonly return?: Json;
  /** What is posted to the callback of the call, `delayMs` after it. */
  readonly callback?: Json;
  /** One of ERROR_CODES, or a code of a ServiceError. */
  readonly fail?: string;
  /** @default 0 */
  readonly delayMs?: number;
  /** Number of calls it answers. @default 1 */
  readonly times?: number;
}

export interface FlowTestStep {
  /** The input; '' in the first step, which dials. */
  readonly in: string;
  /** The time since the last reply, such as `45s`. @default none */
  readonly after?: string;
  /** Path of the expected screen: `pin`, or `login.pin` inside the called flow `login`. */
  readonly screen?: string;
  readonly text?: string;
  readonly has?: string | readonly string[];
  /** An RE2 pattern that matches part of the text. */
  readonly match?: string;
  readonly end?: boolean;
  /** The caller has hung up, and dials again after this time, as in `10m`; `in` is '' then. */
  readonly dial?: string;
  /** What is kept of the caller then: values by variable, null for one that is not kept. */
  readonly memory?: JsonObject;
  readonly track?: readonly string[];
  readonly note?: string;
}

/** When a step is taken, for the session under test. */
export const readPause = ({ after }: Pick<FlowTestStep, 'after'>) =>
  after === undefined ? {} : { afterMs: durationMs(after) };

/** Ends the names of files with flow tests: `wallet.test.json`. */
export const FLOW_TEST_FILE = '.test.json';
/** The caller's number in tests that name none. */
export const TEST_PHONE = '+263771234567';
/** The time of the dial in tests that name none. */
export const TEST_NOW = '2026-01-01T12:00:00Z';

// Tests of a flow as their author writes them: the shape of a <name>.test.json file.

import type { Json, JsonObject } from '../../json/json.ts';

/** A file of tests that has been read. */
export interface FlowTestFile {
  readonly $schema?: string;
  readonly flow: string;
  readonly tests: readonly FlowTest[];
}

/** How a conversation begins, and what services answer in it. */
export interface FlowTestSetup {
  /** Variables that have these values at the start. */
  readonly given?: JsonObject;
  /** E.164 with `+`. @default TEST_PHONE */
  readonly phone?: string;
  /** Answers by the name of the service; a call takes the first one left that fits. */
  readonly services?: { readonly [name: string]: readonly MockAnswer[] };
}

export interface FlowTest extends FlowTestSetup {
  readonly name: string;
  readonly note?: string;
  readonly steps: readonly FlowTestStep[];
}

/** One answer of a service: exactly one of `return` and `fail`. */
export interface MockAnswer {
  /** The part of the input that it is for. @default any input */
  readonly when?: JsonObject;
  readonly return?: Json;
  /** One of ERROR_CODES, or a code of a ServiceError. */
  readonly fail?: string;
  /** @default 0 */
  readonly delayMs?: number;
  /** Calls that it answers. @default 1 */
  readonly times?: number;
}

export interface FlowTestStep {
  /** What is typed; '' in the first step, which dials. */
  readonly in: string;
  /** Path of the screen that is shown then: `pin`, or `login.pin` inside a called flow. */
  readonly screen?: string;
  readonly text?: string;
  readonly has?: string | readonly string[];
  /** An RE2 pattern that fits a part of the text. */
  readonly match?: string;
  readonly end?: boolean;
  readonly track?: readonly string[];
  readonly note?: string;
}

/** Ends the names of files with flow tests: `wallet.test.json`. */
export const FLOW_TEST_FILE = '.test.json';
/** The caller's number in tests that name none. */
export const TEST_PHONE = '+263771234567';

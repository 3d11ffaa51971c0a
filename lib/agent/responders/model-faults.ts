// Classifies failures of a model into the kinds that clients know; messages contain no text from the provider.
//
// Billing and authentication problems concern the operator: users get a generic error, and the log gets the details.

import { TwinlineError } from '../../errors.ts';
import { isObject } from '../../given.ts';
import { readRetryAfter } from '../../retry.ts';
import type { FaultKind, RunFault } from '../run/frame-data.ts';
import { type FailureKind, ModelCallError } from './language-model.ts';

/** A classified failure. */
export interface ModelFailure {
  readonly kind: FailureKind;
  /** The model answered, though not with a whole reply: nobody has to repair anything. */
  readonly isAnswer?: boolean;
  /** How long the provider asks to wait. */
  readonly retryMs?: number;
  /** HTTP status of the provider's response. */
  readonly status?: number;
  /** The provider's error code, when it is a single word. */
  readonly word?: string;
  /** The cause, in our own words. */
  readonly why?: string;
}

type ErrorFields = { readonly [name: string]: unknown };

const KIND_OF_STATUS: { readonly [status: number]: FaultKind } = {
  401: 'auth',
  402: 'billing',
  403: 'auth',
  407: 'auth',
  408: 'timeout',
  429: 'rate_limit',
  504: 'timeout',
  524: 'timeout',
};

// A provider's error code is more specific than the status, and an error inside a stream has no status.
const KIND_OF_WORD: readonly (readonly [RegExp, FaultKind])[] = [
  [/quota|billing|credit|balance|payment/, 'billing'],
  [/rate_?limit|too_many_requests|overloaded/, 'rate_limit'],
  [/auth|api_?key|permission/, 'auth'],
  [/timeout|timed_out/, 'timeout'],
  [/server|internal|unavailable/, 'server'],
];

/** Classifies an error that a model threw, or an `error` part of its stream. */
export function readFailure(thrownError: unknown): ModelFailure {
  const error = findRoot(thrownError);
  if (error instanceof TwinlineError)
    return { kind: error.code === 'ERR_TIMEOUT' ? 'timeout' : 'server', why: error.message };
  if (!isObject(error)) return { kind: 'unknown' };
  if (error instanceof ModelCallError && error.kind)
    return { kind: error.kind, why: error.message, isAnswer: error.kind === 'filtered' || error.kind === 'length' };
  const reported = isObject(error.data) && isObject(error.data.error) ? error.data.error : error;
  const word = readWord(reported);
  const status = readStatus(error.statusCode) ?? readStatus(reported.code);
  const kind = findFaultKind(error, { status, word });
  const retryMs = readRetryMs(error);
  return {
    kind,
    ...(retryMs !== undefined && { retryMs }),
    ...(status !== undefined && { status }),
    ...(word !== undefined && { word }),
  };
}

/** Whether the provider rejected the content of the request. */
export function isRejected({ status }: ModelFailure): boolean {
  return status === 400 || status === 422;
}

/** Whether an error of a stream is about one chunk, which the stream goes on behind. */
export function isSkippable(error: unknown): boolean {
  return isObject(error) && /(TypeValidation|JSONParse)/.test(String(error.name));
}

/** Milliseconds after which the provider wants to be asked again; undefined: it does not say. */
export function readRetryMs(error: unknown): number | undefined {
  const headers = isObject(error) && isObject(error.responseHeaders) ? error.responseHeaders : {};
  const { 'retry-after-ms': ms, 'retry-after': after } = headers;
  return /^\d+(\.\d+)?$/.test(String(ms)) ? Number(ms) : readRetryAfter(String(after), Date.now());
}

const FAULTS: { readonly [kind in FailureKind]: readonly [status: number, retryable: boolean, words: string] } = {
  rate_limit: [429, true, 'The model is receiving too many requests. Try again in a minute.'],
  timeout: [504, true, 'The model did not answer in time.'],
  server: [502, true, 'The model failed.'],
  network: [503, true, 'The model is unreachable.'],
  billing: [500, false, 'The reply could not be made.'],
  auth: [500, false, 'The reply could not be made.'],
  byo_fallback: [500, false, 'The reply could not be made.'],
  unknown: [500, false, 'The reply could not be made.'],
  filtered: [500, false, "The content filter of the model's provider withheld the reply, or the rest of it."],
  length: [500, false, 'The reply was cut: it is as long as the model may write.'],
};
/** The kinds that clients are not told. */
const HIDDEN: ReadonlySet<FailureKind> = new Set(['filtered', 'length']);
const OPERATORS: ReadonlySet<FailureKind> = new Set(['billing', 'auth', 'byo_fallback']);

/** The fault as shown to users. */
export function toRunFault({ kind, retryMs = 0 }: ModelFailure): RunFault {
  const [status, retryable, words] = FAULTS[kind];
  const isHidden = OPERATORS.has(kind) || HIDDEN.has(kind);
  const isLong = kind === 'rate_limit' && retryMs > USUAL_WAIT_MS;
  const error = isLong ? words.replace('in a minute', `in ${Math.ceil(retryMs / 60_000)} minutes`) : words;
  return { error, kind: isHidden ? 'unknown' : (kind as FaultKind), source: 'platform', status, retryable };
}

const USUAL_WAIT_MS = 60_000;

/** The fault as shown to the operator, without the provider's message, which may contain keys. */
export function describeFailure({ kind, status, word, why }: ModelFailure): TwinlineError {
  const answer = status === undefined ? '' : `, status ${status}`;
  const quote = word === undefined ? '' : `, "${word}"`;
  const what = OPERATORS.has(kind) ? ' Check its key and its account.' : why === undefined ? '' : ` ${why}`;
  return new TwinlineError('ERR_SERVICE', `The model did not answer: ${kind}${answer}${quote}.${what}`);
}

// Models of the AI SDK take errors of a fetch for network errors, and wrap them.
function findRoot(thrownError: unknown): unknown {
  const last = isObject(thrownError) && 'lastError' in thrownError ? thrownError.lastError : thrownError;
  for (let error = last, depth = 0; isObject(error) && depth < 5; error = error.cause, depth++)
    if (error instanceof TwinlineError) return error;
  return last;
}

type KnownFault = { readonly status: number | undefined; readonly word: string | undefined };

function findFaultKind(error: ErrorFields, { status, word = '' }: KnownFault): FaultKind {
  const byWord = KIND_OF_WORD.find(([words]) => words.test(word))?.[1];
  const byStatus = status === undefined ? undefined : KIND_OF_STATUS[status];
  // A 429 for an exhausted account will not go away by waiting; any other status takes precedence over the code.
  if (byStatus === 'rate_limit' && byWord === 'billing') return 'billing';
  if (byStatus) return byStatus;
  if (status !== undefined && status >= 500) return 'server';
  if (status !== undefined) return byWord === 'billing' ? 'billing' : 'unknown';
  return byWord ?? kindOfName(error);
}

// Without a response, the error is one of the SDK or the system.
function kindOfName({ name, message, code }: ErrorFields): FaultKind {
  if (/(JSONParse|TypeValidation|InvalidResponse|EmptyResponse)/.test(String(name))) return 'server';
  if (/APICallError$/.test(String(name)) || message === 'terminated') return 'network';
  return typeof code === 'string' && /^(E[A-Z]+|UND_ERR_\w+)$/.test(code) ? 'network' : 'unknown';
}

function readWord({ code, type }: ErrorFields): string | undefined {
  const words = [code, type].filter((one): one is string => typeof one === 'string' && /^[a-z][a-z_]{1,39}$/.test(one));
  return words[0];
}

function readStatus(value: unknown): number | undefined {
  const status = Number(value);
  return Number.isInteger(status) && status >= 400 && status < 600 ? status : undefined;
}

// What goes wrong between a model and us: one of the kinds that clients know, in words that hold nothing of the provider.
//
// Billing and keys concern the operator: users get a general error, and the log gets the details.

import { TwinlineError } from '../../errors.ts';
import { isObject } from '../../given.ts';
import type { FaultKind, RunFault } from '../run/frames.ts';

/** What is known of a failure. */
export interface ModelFailure {
  readonly kind: FaultKind;
  /** Of the provider's answer. */
  readonly status?: number;
  /** The provider's word for it, when it is one word. */
  readonly word?: string;
  /** Why, in words of our own. */
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

// Providers tell more by a word than by the status; an error inside a stream has no other.
const KIND_OF_WORD: readonly (readonly [RegExp, FaultKind])[] = [
  [/quota|billing|credit|balance|payment/, 'billing'],
  [/rate_?limit|too_many_requests|overloaded/, 'rate_limit'],
  [/auth|api_?key|permission/, 'auth'],
  [/timeout|timed_out/, 'timeout'],
  [/server|internal|unavailable/, 'server'],
];

/** Classifies what the SDK threw, or what an `error` in a stream held. */
export function readFailure(thrown: unknown): ModelFailure {
  const error = findRoot(thrown);
  if (error instanceof TwinlineError)
    return { kind: error.code === 'ERR_TIMEOUT' ? 'timeout' : 'server', why: error.message };
  if (!isObject(error)) return { kind: 'unknown' };
  const reported = isObject(error.data) && isObject(error.data.error) ? error.data.error : error;
  const word = readWord(reported);
  const status = readStatus(error.statusCode) ?? readStatus(reported.code);
  const kind = findFaultKind(error, { status, word });
  return { kind, ...(status !== undefined && { status }), ...(word !== undefined && { word }) };
}

/** Whether the provider refused the request for what is in it. */
export function isRejected({ status }: ModelFailure): boolean {
  return status === 400 || status === 422;
}

const FAULTS: { readonly [kind in FaultKind]: readonly [status: number, retryable: boolean, words: string] } = {
  rate_limit: [429, true, 'The model is asked too much at the moment. Try again in a minute.'],
  timeout: [504, true, 'The model did not answer in time.'],
  server: [502, true, 'The model failed.'],
  network: [503, true, 'The model cannot be reached.'],
  billing: [500, false, 'The reply could not be made.'],
  auth: [500, false, 'The reply could not be made.'],
  byo_fallback: [500, false, 'The reply could not be made.'],
  unknown: [500, false, 'The reply could not be made.'],
};
const OPERATORS: ReadonlySet<FaultKind> = new Set(['billing', 'auth', 'byo_fallback']);

/** As users may read it. */
export function toRunFault({ kind }: ModelFailure): RunFault {
  const [status, retryable, error] = FAULTS[kind];
  return { error, kind: OPERATORS.has(kind) ? 'unknown' : kind, source: 'platform', status, retryable };
}

/** As the operator may read it: the words of the provider may hold keys, so they are left out. */
export function describeFailure({ kind, status, word, why }: ModelFailure): TwinlineError {
  const answer = status === undefined ? '' : `, status ${status}`;
  const said = word === undefined ? '' : `, "${word}"`;
  const what = OPERATORS.has(kind) ? ' Check its key and its account.' : why === undefined ? '' : ` ${why}`;
  return new TwinlineError('ERR_SERVICE', `The model did not answer: ${kind}${answer}${said}.${what}`);
}

// After its last try the SDK throws an error about all of them; what our own fetch throws, it takes for a network's.
function findRoot(thrown: unknown): unknown {
  const last = isObject(thrown) && 'lastError' in thrown ? thrown.lastError : thrown;
  for (let error = last, depth = 0; isObject(error) && depth < 5; error = error.cause, depth++)
    if (error instanceof TwinlineError) return error;
  return last;
}

type KnownFault = { readonly status: number | undefined; readonly word: string | undefined };

function findFaultKind(error: ErrorFields, { status, word = '' }: KnownFault): FaultKind {
  const byWord = KIND_OF_WORD.find(([words]) => words.test(word))?.[1];
  const byStatus = status === undefined ? undefined : KIND_OF_STATUS[status];
  // A 429 for an empty account is no matter of waiting; other statuses say more than words.
  if (byStatus === 'rate_limit' && byWord === 'billing') return 'billing';
  if (byStatus) return byStatus;
  if (status !== undefined && status >= 500) return 'server';
  if (status !== undefined) return byWord === 'billing' ? 'billing' : 'unknown';
  return byWord ?? kindOfName(error);
}

// Without an answer there is an error of the SDK or of the system.
function kindOfName({ name, message, code }: ErrorFields): FaultKind {
  if (/without a finish reason/.test(String(message))) return 'network';
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

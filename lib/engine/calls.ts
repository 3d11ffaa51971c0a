// Calls of services: deadline, bounded retry, one idempotency key; and which of them this process is making, or has made, until
// their answers are stored or their leases end.

import type { Clock } from '../clock.ts';
import { COMMON_LIMITS } from '../common-limits.ts';
import { cutText, type ErrorCode, TwinlineError } from '../errors.ts';
import type { Json, JsonObject } from '../json/json.ts';
import { retryDelay } from '../retry.ts';
import { CALLBACK_PLACE, type CallPolicy } from './conversation.ts';
import { nameCall } from './later.ts';
import { ENGINE_LIMITS } from './limits.ts';
import type { ServiceAnswer } from './machine/step.ts';
import { LaterAnswer, type Service, ServiceError, type ServiceSession, type Services } from './service.ts';
import type { SessionCall } from './session/record.ts';
import { addSecret, hasKnownCode, holdPrivate, holdSecrets, keepSecrets } from './session/secret-calls.ts';

export interface CallRequest {
  readonly call: SessionCall;
  readonly input: Json;
  readonly policy: CallPolicy;
  readonly session: ServiceSession;
  /** What the machine brings along for names that no service is registered as. @default none */
  readonly own?: Services;
  /** Texts that must not come back in answers and errors. @default none */
  readonly secrets?: readonly string[];
  /** Gives the texts that no log may show. @default none */
  readonly privates?: (() => readonly string[]) | undefined;
  /** Makes the token by which the call is answered from outside. @default none: it cannot be */
  readonly token?: (() => string) | undefined;
  /** The address at which somebody brings the answer for a token. @default none */
  readonly callbackUrl?: ((token: string) => string | undefined) | undefined;
  /** Receives the error of each try that fails. @default none */
  readonly onFailure?: ((error: unknown) => void) | undefined;
}

const BACKOFF = { firstMs: ENGINE_LIMITS.callBackoffMs };

/** Longest time that a call can take with all its tries, in milliseconds. */
export function longestMs(policy: CallPolicy): number {
  const pauses = ENGINE_LIMITS.callBackoffMs * (2 ** policy.retries - 1);
  return policy.timeoutMs * (policy.retries + 1) + pauses;
}

/** How a call ended, and whether one that failed may succeed when it is tried again. `laterMs`: its answer comes within that time. */
export type CallOutcome = ServiceAnswer & { readonly retry?: boolean; readonly laterMs?: number };

/** The calls that this process makes. */
export interface Calls {
  /** Starts the call, or joins it when it was started here already. Never rejects. */
  start(request: CallRequest): Promise<CallOutcome>;
  /** A call that was started here and whose answer is not stored yet. */
  find(key: string): Promise<CallOutcome> | undefined;
  /** Its answer has been stored. */
  forget(key: string): void;
  /** How many are running. */
  readonly size: number;
}

interface PendingAnswer extends KnownCall {
  readonly answer: Promise<CallOutcome>;
  isRunning: boolean;
}

/** An answer stays until it is stored or its lease ends: the turn that waited for it may have to begin anew. */
export function callRunner(services: Services, clock: Clock): Calls {
  const safeServices = keepSecrets(services);
  const calls = knownCalls<PendingAnswer>();
  let running = 0;
  return {
    start: (request) => {
      const { key, until } = request.call;
      const earlier = calls.get(key);
      if (earlier) return earlier.answer;
      calls.dropStale(clock.now());
      running++;
      const answer = makeCall(safeServices, clock, request).finally(() => {
        running--;
        call.isRunning = false;
        calls.settle(key, call, clock.now());
      });
      const call: PendingAnswer = { answer, until, isRunning: true };
      calls.set(key, call);
      return answer;
    },
    find: (key) => calls.get(key)?.answer,
    forget: (key) => calls.delete(key),
    get size() {
      return running;
    },
  };
}

async function makeCall(services: Services, clock: Clock, request: CallRequest): Promise<CallOutcome> {
  const name = request.call.service;
  const { own = {} } = request;
  const service = [services, keepSecrets(own)].find((table) => Object.hasOwn(table, name))?.[name];
  if (!service) return refusal(new TwinlineError('ERR_SERVICE_UNKNOWN', `No service is registered as "${name}".`));
  for (let tries = 1; ; tries++) {
    const answer = await oneTry(service, clock, request);
    // In a task of its own: a listener that throws must not change the answer.
    if (!answer.ok && request.onFailure) queueMicrotask(() => request.onFailure!(answer.error));
    if (answer.ok) return answer;
    if (tries > request.policy.retries || !answer.retry) return { ...refusal(answer.error), retry: answer.retry };
    await clock.wait(retryDelay(tries, BACKOFF));
  }
}

type Try = { ok: true; output: Json; laterMs?: number } | { ok: false; retry: boolean; error: unknown };

async function oneTry(service: Service, clock: Clock, request: CallRequest): Promise<Try> {
  const { call, policy, session, input, secrets = [], privates, token } = request;
  const stop = new AbortController();
  const end = new AbortController();
  const late = clock.wait(policy.timeoutMs, end.signal).then((): Try => {
    if (!end.signal.aborted) stop.abort();
    const message = `Service "${call.service}" did not answer within ${policy.timeoutMs} ms.`;
    return { ok: false, retry: true, error: new TwinlineError('ERR_TIMEOUT', message) };
  });
  // The service starts inside a promise, so that one that throws at once is a rejection too.
  const work = Promise.resolve()
    .then(() => {
      const callback = policy.callbackMs === undefined ? undefined : openCallback(request);
      const base = { signal: stop.signal, idempotencyKey: call.key, session };
      const serviceCall = holdPrivate(callback ? { ...base, callbackUrl: callback.url } : base, privates);
      holdSecrets(serviceCall, callback ? [...secrets, callback.token, callback.url] : secrets, input);
      nameCall(serviceCall, token && (() => addSecret(serviceCall, token())));
      return service((callback ? fillCallback(input, callback.url) : input) as JsonObject, serviceCall);
    })
    .then((output): Try => {
      if (output instanceof LaterAnswer) return { ok: true, output: null, laterMs: output.within };
      if (policy.callbackMs !== undefined) return { ok: true, output: null, laterMs: policy.callbackMs };
      return { ok: true, output: clean(output, call.service) };
    })
    .catch((error): Try => ({ ok: false, retry: mayPass(error), error }));
  const first = await Promise.race([work, late]);
  // A reason saves the cost of creating an error that is never read.
  end.abort(null);
  return first;
}

// Each try has a token of its own; all of them name the call.
function openCallback({ call, token, callbackUrl }: CallRequest): { readonly token: string; readonly url: string } {
  const secret = token?.();
  const url = secret === undefined ? undefined : callbackUrl?.(secret);
  if (secret !== undefined && url !== undefined) return { token: secret, url };
  throw new TwinlineError(
    'ERR_CONFIG',
    `Cannot call "${call.service}" and wait for a callback: there is no address for it. Set PUBLIC_URL, or give the engine callbackUrl and a keyring.`,
  );
}

function fillCallback(value: Json, url: string): Json {
  if (typeof value === 'string') return value.replaceAll(CALLBACK_PLACE, url);
  if (Array.isArray(value)) return value.map((item) => fillCallback(item, url));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, fillCallback(part as Json, url)]));
}

/** The code of a failure as a machine may see it. */
export function failureCode(error: unknown): string {
  return (refusal(error) as ServiceAnswer & { readonly ok: false }).error.code;
}

const TOLD_CHARS = COMMON_LIMITS.recordChars / 4;

// As an answer: it becomes part of the record. What is no JSON, or leaves no room, is left out.
function readData(data: unknown): { readonly data?: Json } {
  try {
    const text = JSON.stringify(data);
    return text === undefined || text.length > TOLD_CHARS ? {} : { data: JSON.parse(text) as Json };
  } catch {
    return {};
  }
}

function mayPass(error: unknown): boolean {
  return error instanceof ServiceError || hasKnownCode(error) ? error.retry : true;
}

// What a service answers becomes part of the record, so it must be JSON and must leave room.
function clean(output: unknown, service: string): Json {
  const text = JSON.stringify(output ?? null);
  if (text.length > COMMON_LIMITS.recordChars / 2)
    throw new TwinlineError(
      'ERR_INPUT',
      `Service "${service}" answered ${text.length} characters of JSON; a session keeps at most ${COMMON_LIMITS.recordChars / 2}. Answer less, or a page.`,
    );
  return JSON.parse(text) as Json;
}

/** The codes that a call of any service may fail with, and when: `error` of a flow. Services have codes of their own besides. */
export const CALL_ERRORS: { readonly [code in ErrorCode]?: string } = {
  ERR_TIMEOUT: 'no try was answered within its `timeout`',
  ERR_SERVICE: 'the service failed with an error of its own, whose words are kept back',
  ERR_SERVICE_UNKNOWN: 'no service has this name',
  ERR_INPUT: `the service answered more than ${COMMON_LIMITS.recordChars / 2} characters of JSON, or something of \`with\` is not as it must be`,
  ERR_EXPRESSION: 'the service answered, and a `when` or `set` of `done` cannot be computed with that answer',
};

/** An error as a machine may see it: what a service tells by ServiceError, and our own; of others no word, for they may quote secrets. */
export function refusal(error: unknown): ServiceAnswer {
  if (error instanceof ServiceError) {
    const { code, message, data } = error;
    return { ok: false, error: { code, message: cutText(String(message), TOLD_CHARS), ...readData(data) } };
  }
  if (hasKnownCode(error)) return { ok: false, error: { code: error.code, message: error.message } };
  return { ok: false, error: { code: 'ERR_SERVICE', message: 'The service failed.' } };
}

export interface KnownCall {
  /** The end of its lease, in milliseconds since 1970. */
  readonly until: number;
  readonly isRunning: boolean;
}

export interface KnownCalls<C extends KnownCall> {
  get(key: string): C | undefined;
  set(key: string, call: C): void;
  delete(key: string): void;
  /** Notes that a call runs no more. */
  settle(key: string, call: C, now: number): void;
  /** Forgets calls whose lease has ended and that do not run. */
  dropStale(now: number): void;
}

interface KeyedCall<C> {
  readonly key: string;
  readonly call: C;
}

/** Entries of the line that are not worth clearing. */
const SLACK = 256;

/**
 * The line of leases is an array: a Map that is read from its beginning must skip the holes of all that was deleted there,
 * so each call would cost more the more are open. Here a call enters once, and again when it outlasts its lease.
 */
export function knownCalls<C extends KnownCall>(): KnownCalls<C> {
  const calls = new Map<string, C>();
  let line: KeyedCall<C>[] = [];
  let head = 0;

  const isKnown = ({ key, call }: KeyedCall<C>) => calls.get(key) === call;

  function enter(place: KeyedCall<C>): void {
    line.push(place);
    // No call stands here more than twice: a third of the line is gone whenever it is cleared, and pays for the copy.
    if (line.length <= 3 * calls.size + SLACK) return;
    line = line.slice(head).filter(isKnown);
    head = 0;
  }

  return {
    get: (key) => calls.get(key),
    set(key, call) {
      calls.set(key, call);
      enter({ key, call });
    },
    delete: (key) => void calls.delete(key),
    settle(key, call, now) {
      // Its lease ended while it ran, so it left the line.
      if (call.until <= now) enter({ key, call });
    },
    dropStale(now) {
      for (; head < line.length && line[head]!.call.until <= now; head++) {
        const place = line[head]!;
        if (!place.call.isRunning && isKnown(place)) calls.delete(place.key);
      }
    },
  };
}

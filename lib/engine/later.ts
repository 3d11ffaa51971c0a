// Answers that come later, from outside: how a service says so, and the token that names its call to whoever brings the answer.

import { COMMON_LIMITS } from '../common-limits.ts';
import { ERROR_CODES, TwinlineError } from '../errors.ts';
import { isObject, requireGiven } from '../given.ts';
import type { Json } from '../json/json.ts';
import { checkPayload } from '../json/lossless.ts';
import type { Keyring } from '../keyring.ts';
import { openText, sealText } from '../sealing.ts';
import { ENGINE_LIMITS } from './limits.ts';
import type { CallError } from './machine/failure.ts';
import type { ServiceAnswer } from './machine/step.ts';
import { isServiceCode, LaterAnswer, type ServiceCall } from './service.ts';

const tokenMakers = new WeakMap<ServiceCall, () => string>();

/** Remembers how the token of a call is made; most calls need none. */
export function nameCall(call: ServiceCall, makeToken: (() => string) | undefined): ServiceCall {
  if (makeToken) tokenMakers.set(call, makeToken);
  return call;
}

/**
 * For a service whose answer comes later, as when a payment is confirmed on another phone: hand on the `token` of what this gives, and
 * answer it. The call waits, across restarts, until somebody gives the token to `completeCall` with the answer, on any instance with the
 * same store and keys; it fails with ERR_TIMEOUT when nobody has for `within` milliseconds, 1 to ENGINE_LIMITS.laterMs. A machine that
 * leaves the state waits no more. A call that is tried again after a crash gets another token; both name it.
 *
 * `call` is the second argument of the service, as it was given. Throws ERR_CONFIG when it is a copy, or its engine or lifecycle has no
 * keyring, and ERR_INPUT for another `within`.
 * @example
 * const store = memorySnapshots();
 * const pay = async (_input: unknown, call: Parameters<typeof later>[0]) => later(call, { within: 120_000 });
 * createEngine({ store, services: { 'bank.pay': pay } }).store.name; // → 'memory'
 */
export function later(call: ServiceCall, options: { readonly within: number }): LaterAnswer {
  requireGiven('answer a call later', options, {});
  const { within } = options;
  if (!Number.isInteger(within) || within < 1 || within > ENGINE_LIMITS.laterMs)
    throw new TwinlineError(
      'ERR_INPUT',
      `Cannot answer a call later: within must be a whole number of milliseconds from 1 to ${ENGINE_LIMITS.laterMs}, not ${String(within)}.`,
    );
  const makeToken = tokenMakers.get(call);
  if (!makeToken)
    throw new TwinlineError(
      'ERR_CONFIG',
      'Cannot answer a call later: its token is sealed with keys. Give the engine or lifecycle a keyring, and pass the call as the service got it.',
    );
  return new LaterAnswer(makeToken(), within);
}

/** What became of an answer that somebody brought: `not-waiting`: its time was over, or the machine has left the state, or has ended. */
export type Completion = 'completed' | 'already-completed' | 'not-waiting';

const TOKEN_CHARS = 4_096;

/** Names a call by where it is stored and its key. `scope` tells sessions and the kinds of documents apart. */
export function sealToken(keyring: Keyring, scope: string, name: readonly [string, string]): string {
  const ciphertext = sealText(keyring, { purpose: 'call-token/v1', label: [scope] }, JSON.stringify(name));
  return Buffer.from(ciphertext).toString('base64url');
}

/** What a token names. Throws ERR_INPUT for what is none of these keys, ERR_CONFIG without keys. */
export function openToken(keyring: Keyring | undefined, scope: string, token: string): [string, string] {
  if (!keyring) throw new TwinlineError('ERR_CONFIG', 'Cannot complete a call: tokens are opened with the keyring.');
  const isPossible = typeof token === 'string' && token.length <= TOKEN_CHARS;
  const ciphertext = isPossible ? Buffer.from(token, 'base64url').toString() : '';
  const name = openText(keyring, { purpose: 'call-token/v1', label: [scope] }, ciphertext);
  if (name !== undefined) return JSON.parse(name) as [string, string];
  throw new TwinlineError(
    'ERR_INPUT',
    'Cannot complete a call: the token is none that was given here, or its key is gone.',
  );
}

/**
 * The answer as it is stored. Throws ERR_INPUT when it is none, `{ ok: true, output }` or `{ ok: false, error: { code, message } }`, or
 * JSON would change it.
 */
export function checkAnswer(answer: ServiceAnswer): ServiceAnswer {
  const refuse = (what: string) => new TwinlineError('ERR_INPUT', `Cannot complete a call: ${what}.`);
  if (!isObject(answer) || typeof answer.ok !== 'boolean') throw refuse('the answer has no "ok" that is true or false');
  const content: unknown = answer.ok ? (answer.output ?? null) : answer.error;
  checkPayload('The answer of a call', content);
  const text = JSON.stringify(content);
  if (text.length > COMMON_LIMITS.recordChars / 2)
    throw refuse(`the answer has more than ${COMMON_LIMITS.recordChars / 2} characters`);
  if (answer.ok) return { ok: true, output: JSON.parse(text) as Json };
  const { code, message } = isObject(content) ? content : {};
  const isCode = typeof code === 'string' && (Object.hasOwn(ERROR_CODES, code) || isServiceCode(code));
  if (typeof message === 'string' && isCode) return { ok: false, error: JSON.parse(text) as CallError };
  throw refuse('its error needs a message, and a code of ERROR_CODES or one that a ServiceError may have');
}

/** How a call has ended whose answer did not come in time. */
export function lateAnswer(service: string): ServiceAnswer {
  const message = `The answer of "${service}" did not come in time.`;
  return { ok: false, error: { code: 'ERR_TIMEOUT', message } };
}

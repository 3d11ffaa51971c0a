// Calls that hold a secret: what a service says about one, in its answer or in its error, is not passed on as it is.
//
// A service gets a PIN so that it can check it. What it answers ends up in logs, records, inspectors and
// recordings, and none of those may hold the PIN. So answers are masked, and of errors only what cannot quote it is kept.

import { ERROR_CODES, TwinlineError } from '../../errors.ts';
import type { Json, JsonObject } from '../../json/json.ts';
import { holdsSecret, listRequestSecrets, mayQuote, type Redactor, redactor } from '../../redact.ts';
import { isServiceCode, LaterAnswer, type Service, type ServiceCall, ServiceError, type Services } from '../service.ts';

const secretsByCall = new WeakMap<ServiceCall, readonly string[]>();

/**
 * Remembers which secrets a call holds, for wrappers between the engine and the service: those of the turn, and the
 * credentials in an input such as that of `http.get`.
 */
export function holdSecrets(call: ServiceCall, turn: readonly string[], input: Json = {}): ServiceCall {
  const secrets = [...turn, ...listRequestSecrets(input)];
  if (secrets.length) secretsByCall.set(call, secrets);
  return call;
}

/** One more secret of the call; gives it back. */
export function addSecret(call: ServiceCall, secret: string): string {
  secretsByCall.set(call, [...(secretsByCall.get(call) ?? []), secret]);
  return secret;
}

const privateByCall = new WeakMap<ServiceCall, () => readonly string[]>();

/** Remembers the private values of the session that makes a call: logs of an error of its service mask them. */
export function holdPrivate(call: ServiceCall, list: (() => readonly string[]) | undefined): ServiceCall {
  if (list) privateByCall.set(call, list);
  return call;
}

/** The input of a call without the secrets that it holds. */
export function showInput(input: JsonObject, call: ServiceCall): JsonObject {
  return redactor(secretsByCall.get(call) ?? []).json(input) as JsonObject;
}

/**
 * The same services, but for calls that hold secrets: each place in an answer that is the secret is masked, and an
 * error whose words may quote it is replaced. The words of services of `own` count as ours: they are kept unless the
 * secret stands in them. What logs show of an error has private values masked. Every answer passes `redact`. All of this is
 * harmless when it is done twice.
 */
export function keepSecrets(
  services: Services,
  { own = () => true, redact = redactor([]) }: { own?: (name: string) => boolean; redact?: Redactor } = {},
): Services {
  const keep = (name: string, service: Service): Service => {
    return async (input, call) => {
      try {
        const output = await service(input, call);
        if (output instanceof LaterAnswer) return output;
        const answer = redact.json(output);
        const secrets = secretsByCall.get(call);
        return secrets ? redactor(secrets).json(answer) : answer;
      } catch (error) {
        const secrets = secretsByCall.get(call);
        const privates = privateByCall.get(call);
        if (privates) mayQuote(error, redactor(privates()));
        if (error instanceof ServiceError) throw maskError(error, [redact, redactor(secrets ?? [])]);
        if (!secrets || isRewritten(error)) throw error;
        throw own(name) && isOurs(error, secrets) ? error : withoutWords(name, error, secrets);
      }
    };
  };
  return Object.fromEntries(Object.entries(services).map(([name, service]) => [name, keep(name, service)]));
}

/** Whether this is an error of ours with one of our codes. Others who import the class may write anything there. */
export function hasKnownCode(error: unknown): error is TwinlineError {
  return error instanceof TwinlineError && Object.hasOwn(ERROR_CODES, error.code);
}

// A service tells these words on purpose, as it does those of its answers: masked in the same way.
function maskError(error: ServiceError, redactors: readonly Redactor[]): ServiceError {
  const { code, message, data, retry } = error;
  const words: readonly Json[] = [code, message, isJson(data) ? data : null];
  const masks = redactors.reduce((value, one) => one.json(value) as readonly Json[], words);
  if (masks === words) return error;
  const [said, text, more] = masks as readonly [string, string, Json];
  const options = isJson(data) ? { data: more, retry } : { retry };
  const masked = new ServiceError(isServiceCode(said) ? said : 'REFUSED', text, options);
  rewritten.add(masked);
  return masked;
}

function isJson(value: unknown): value is Json {
  try {
    return JSON.stringify(value) !== undefined;
  } catch {
    return false;
  }
}

// Reading a property of a thrown value may throw.
function readProperty(thrown: unknown, name: string): unknown {
  try {
    return (thrown as { readonly [name: string]: unknown } | undefined)?.[name];
  } catch {
    return undefined;
  }
}

function isOurs(error: unknown, secrets: readonly string[]): boolean {
  if (!hasKnownCode(error)) return false;
  const { message, reason = '', details, cause } = error;
  if (holdsSecret([message, reason, JSON.stringify(details)].join('\n'), secrets)) return false;
  // Causes of ours: an error of ours, what the system says, or an HTTP status.
  if (cause === undefined || isOurs(cause, secrets)) return true;
  if (cause instanceof Error) return !holdsSecret(`${cause.message}\n${cause.stack}`, secrets);
  return !holdsSecret(JSON.stringify(cause) ?? '', secrets);
}

const CLASSES = new Set(['Error', 'TypeError', 'RangeError', 'SyntaxError', 'ReferenceError', 'EvalError', 'URIError']);
const SYSTEM_CODE = /^(?:E[A-Z]{2,15}|ERR_[A-Z_]{2,40}|UND_ERR_[A-Z_]{2,30})$/;
const FRAME = /^\s+at .*?\(?(?<place>(?:file:\/\/|node:|\/)[\w./@%+~-]+:\d+:\d+)\)?$/m;

const rewritten = new WeakSet<object>();

/** Whether these words of an error are ours, and took the place of others. */
export function isRewritten(error: unknown): boolean {
  return typeof error === 'object' && error !== null && rewritten.has(error);
}

// Its class, its code and its place, as far as those are of a kind that cannot quote anything.
function withoutWords(name: string, error: unknown, secrets: readonly string[]): TwinlineError {
  const [code, type, stack] = ['code', 'name', 'stack'].map((field) => readProperty(error, field));
  const isKnown = hasKnownCode(error);
  const retry = isKnown ? error.retry : undefined;
  const what = [
    typeof type === 'string' && CLASSES.has(type) ? type : undefined,
    typeof code === 'string' && SYSTEM_CODE.test(code) ? code : undefined,
    typeof stack === 'string' ? FRAME.exec(stack)?.groups?.place : undefined,
  ].filter((part) => part !== undefined && !holdsSecret(part, secrets));
  const details = what.length ? ` (${what.join(', ')})` : '';
  const message = `The service "${name}" failed${details}. Its words are left out, because the call holds a secret.`;
  const replacement = new TwinlineError(isKnown ? error.code : 'ERR_SERVICE', message);
  rewritten.add(replacement);
  return typeof retry === 'boolean' ? Object.defineProperty(replacement, 'retry', { value: retry }) : replacement;
}

// Calls that hold a secret: what a service says about one, in its answer or in its error, is not passed on as it is.
//
// A service is told a PIN so that it can check it. Whatever it then says ends up in logs, records, inspectors and
// recordings, and none of those may hold the PIN. So answers are masked, and of errors only what cannot quote it is kept.

import { ERROR_CODES, TwinlineError } from '../../errors.ts';
import type { Json } from '../../store/store.ts';
import type { Service, ServiceCall, Services } from '../service.ts';

const secretsByCall = new WeakMap<ServiceCall, readonly string[]>();

/** Remembers which secrets a call holds, for wrappers between the engine and the service. */
export function holdSecrets(call: ServiceCall, secrets: readonly string[]): ServiceCall {
  if (secrets.length) secretsByCall.set(call, secrets);
  return call;
}

/**
 * The same services, but for calls that hold secrets: each place in an answer that is the secret is {@link MASK}, and an
 * error whose words may quote it is replaced. The words of services of `own` count as ours: they are kept unless the
 * secret stands in them. All of this is harmless when it is done twice.
 */
export function keepSecrets(services: Services, own: (name: string) => boolean = () => true): Services {
  const keep = (name: string, service: Service): Service => {
    return async (input, call) => {
      try {
        const answer = await service(input, call);
        const secrets = secretsByCall.get(call);
        return secrets ? maskSecrets(answer, secrets) : answer;
      } catch (error) {
        const secrets = secretsByCall.get(call);
        if (!secrets || isRewritten(error)) throw error;
        throw own(name) && isOurs(error, secrets) ? error : withoutWords(name, error, secrets);
      }
    };
  };
  return Object.fromEntries(Object.entries(services).map(([name, service]) => [name, keep(name, service)]));
}

/** What stands in the place of a secret. */
export const MASK = '****';
/** A shorter secret is masked only where it is the whole text: too many texts hold a 1. */
const DISTINCT_CHARS = 4;

/** An answer without secrets: texts and numbers that are one, and texts that hold one as a word, also encoded. */
export function maskSecrets(answer: Json, secrets: readonly string[]): Json {
  if (secrets.length === 0) return answer;
  const whole = new Set(secrets);
  const inText = secretPattern(secrets.filter((secret) => secret.length >= DISTINCT_CHARS));
  const maskText = (text: string) => (whole.has(text) ? MASK : inText ? text.replace(inText, MASK) : text);
  const mask = (value: Json): Json => {
    if (typeof value === 'string') return maskText(value);
    if (typeof value === 'number') return isSecretNumber(value, secrets) ? MASK : value;
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map(mask);
    return Object.fromEntries(Object.entries(value).map(([name, part]) => [maskText(name), mask(part as Json)]));
  };
  // A service may answer what is no JSON; that is refused later.
  return JSON.stringify(answer) === undefined ? answer : mask(JSON.parse(JSON.stringify(answer)) as Json);
}

// `04829` as a number is 4829.
function isSecretNumber(value: number, secrets: readonly string[]): boolean {
  return secrets.some((secret) => secret.length >= DISTINCT_CHARS && /^\d+$/.test(secret) && Number(secret) === value);
}

/** Whether a text holds a secret, as it is or encoded as URLs, JSON, base64 or hex do. */
export function holdsSecret(text: string, secrets: readonly string[]): boolean {
  return secrets.some((secret) =>
    [...listPlainForms(secret), ...listEncodedForms(secret)].some((form) => text.includes(form)),
  );
}

// As it is, a secret must stand by itself, for an amount may hold the same digits; what is encoded may stand anywhere.
function secretPattern(secrets: readonly string[]): RegExp | undefined {
  const plain = secrets.flatMap(listPlainForms).map(escapePattern);
  const encoded = secrets.flatMap(listEncodedForms).map(escapePattern);
  if (plain.length === 0) return undefined;
  return new RegExp(`(?<![\\w.,])(?:${plain.join('|')})(?!\\w|[.,]\\d)|${encoded.join('|')}`, 'g');
}

function listPlainForms(secret: string): string[] {
  return [...new Set([secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)])].filter(Boolean);
}

function listEncodedForms(secret: string): string[] {
  const bytes = Buffer.from(secret);
  // The characters of base64 that do not depend on what stands beside the secret, for each place where it can begin.
  const base64 = [0, 1, 2].map((before) => {
    const text = Buffer.concat([Buffer.alloc(before), bytes])
      .toString('base64')
      .replace(/=+$/, '');
    return text.slice(Math.ceil((before * 4) / 3), Math.floor(((before + bytes.length) * 4) / 3));
  });
  const hex = bytes.toString('hex');
  return [...base64, hex, hex.toUpperCase()].filter((form) => form.length >= DISTINCT_CHARS);
}

const escapePattern = (text: string) => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');

/** Whether this is an error of ours with one of our codes. Others who import the class may write anything there. */
export function hasKnownCode(error: unknown): error is TwinlineError {
  return error instanceof TwinlineError && Object.hasOwn(ERROR_CODES, error.code);
}

// Reading a property of what somebody has thrown may throw.
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
  const known = hasKnownCode(error);
  const retry = known ? error.retry : undefined;
  const what = [
    typeof type === 'string' && CLASSES.has(type) ? type : undefined,
    typeof code === 'string' && SYSTEM_CODE.test(code) ? code : undefined,
    typeof stack === 'string' ? FRAME.exec(stack)?.groups?.place : undefined,
  ].filter((part) => part !== undefined && !holdsSecret(part, secrets));
  const details = what.length ? ` (${what.join(', ')})` : '';
  const message = `The service "${name}" failed${details}. Its words are left out, because the call holds a secret.`;
  const made = new TwinlineError(known ? error.code : 'ERR_SERVICE', message);
  rewritten.add(made);
  return typeof retry === 'boolean' ? Object.defineProperty(made, 'retry', { value: retry }) : made;
}

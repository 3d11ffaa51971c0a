// Keeping secrets out of words that leave the process: one way to find a secret in a text, in each form in which it may stand there.
//
// What gets a secret may quote it: a service, an MCP server, a store, a plugin. So what they say passes a redactor where
// it comes in, before anything is answered, stored, shown or recorded; and all lines of the log and of standard error pass
// one where they go out. There are two kinds of secrets: those of the configuration, which `Config.redact` knows, and those
// of one call or turn, for which a redactor is made.
//
// - A text of LONG_CHARS or more is masked wherever it stands, also within other words.
// - A shorter one, such as a PIN, must stand by itself: an amount or a time may hold the same digits. So it is looked for
//   in the words of others about the very call that held it, and never in whole lines of the log.
// - One of fewer than SHORT_CHARS is masked only where it is the whole text: too many texts hold a 1.

import { isObject } from './given.ts';
import type { Json } from './json/json.ts';

/** What stands in the place of a secret. */
export const MASK = '****';
const SHORT_CHARS = 4;
/** From this length on, nothing but the secret itself is this text. */
export const LONG_CHARS = 8;

export interface Redactor {
  /** The text with {@link MASK} for each secret, also where it is encoded as URLs, JSON, base64 or hex are. */
  text(text: string): string;
  /** The same for names, texts and numbers of a value. What is no JSON stays as it is. */
  json(value: Json): Json;
}

/** A redactor for these secrets. Cheap to make: nothing is prepared until something is looked at. */
export function redactor(given: readonly (string | undefined)[]): Redactor {
  const secrets = [...new Set(given)].filter((secret): secret is string => secret !== undefined && secret !== '');
  let pattern: RegExp | undefined;
  const text = (said: string): string => {
    if (secrets.length === 0) return said;
    if (secrets.includes(said)) return MASK;
    pattern ??= secretPattern(secrets);
    return said.replace(pattern, MASK);
  };
  const mask = (value: Json): Json => {
    if (typeof value === 'string') return text(value);
    if (typeof value === 'number') return isSecretNumber(value, secrets) ? MASK : value;
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map(mask);
    return Object.fromEntries(Object.entries(value).map(([name, part]) => [text(name), mask(part as Json)]));
  };
  return {
    text,
    json: (value) => {
      const written = secrets.length ? JSON.stringify(value) : undefined;
      return written === undefined ? value : mask(JSON.parse(written) as Json);
    },
  };
}

const redactors = new WeakMap<object, Redactor>();

/** Remembers what an error of others may quote, for the log that describes it. Gives the error. */
export function mayQuote<T>(error: T, redact: Redactor): T {
  if (typeof error === 'object' && error !== null) redactors.set(error, redact);
  return error;
}

/** The redactor that {@link mayQuote} was given. */
export function findRedactor(error: unknown): Redactor | undefined {
  // Of what is no object, a WeakMap knows nothing.
  return redactors.get(error as object);
}

// `04829` as a number is 4829.
function isSecretNumber(value: number, secrets: readonly string[]): boolean {
  return secrets.some((secret) => secret.length >= SHORT_CHARS && /^\d+$/.test(secret) && Number(secret) === value);
}

/** Whether a text holds a secret, in any of its forms, and within other words too. */
export function holdsSecret(text: string, secrets: readonly string[]): boolean {
  return secrets.some((secret) =>
    [...listPlainForms(secret), ...listEncodedForms(secret)].some((form) => text.includes(form)),
  );
}

const NOTHING = /(?!)/g;

// What is encoded may stand anywhere, for it is no word that a text could hold by chance.
function secretPattern(secrets: readonly string[]): RegExp {
  const known = secrets.filter(({ length }) => length >= SHORT_CHARS);
  const apart = known
    .filter((secret) => !isLong(secret))
    .flatMap(listPlainForms)
    .map(escapePattern);
  const anywhere = known
    .flatMap((secret) => [...(isLong(secret) ? listPlainForms(secret) : []), ...listEncodedForms(secret)])
    // A longer one first: a shorter may begin it, and would leave its end.
    .sort((a, b) => b.length - a.length)
    .map(escapePattern);
  if (apart.length) anywhere.push(`(?<![\\w.,])(?:${apart.join('|')})(?!\\w|[.,]\\d)`);
  return anywhere.length ? new RegExp(anywhere.join('|'), 'g') : NOTHING;
}

function listPlainForms(secret: string): string[] {
  // Twice, for JSON that is a text in a line of the log.
  const json = JSON.stringify(secret).slice(1, -1);
  const inJson = JSON.stringify(json).slice(1, -1);
  return [...new Set([secret, json, inJson, encodeURIComponent(Buffer.from(secret).toString())])];
}

function listEncodedForms(secret: string): string[] {
  const bytes = Buffer.from(secret);
  // The characters of base64 that do not depend on what stands beside the secret, for each place where it can begin.
  const base64 = [0, 1, 2].map((before) => {
    const text = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
    return text.slice(Math.ceil((before * 4) / 3), Math.floor(((before + bytes.length) * 4) / 3));
  });
  const base64url = base64.map((text) => text.replaceAll('+', '-').replaceAll('/', '_'));
  const hex = bytes.toString('hex');
  return [...new Set([...base64, ...base64url, hex, hex.toUpperCase()])].filter(({ length }) => length >= SHORT_CHARS);
}

const escapePattern = (text: string) => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');

const CREDENTIAL =
  /^(?:cookie|authorization|proxy-authorization)$|(?:^|[-_])(?:api-?key|key|token|secret|password|auth|signature|delegation|invocation)$/i;

/**
 * The secrets among headers or parameters: values of LONG_CHARS or more under a name that says so, without `Bearer` and
 * `Basic` before them. Shorter ones are words such as `key=maize`.
 */
export function listCredentials(fields: unknown): string[] {
  return Object.entries(isObject(fields) ? fields : {}).flatMap(([name, value]) => {
    if (typeof value !== 'string' || !CREDENTIAL.test(name)) return [];
    const [, scheme = '', rest = value] = /^(\w+) +(.+)$/.exec(value) ?? [];
    const isBasic = scheme.toLowerCase() === 'basic';
    return [rest, ...(isBasic ? listLogin(Buffer.from(rest, 'base64').toString()) : [])].filter(isLong);
  });
}

const isLong = ({ length }: string) => length >= LONG_CHARS;

// Of `user:password`; who has no user name writes the secret alone.
function listLogin(login: string): string[] {
  return [login, login.slice(login.indexOf(':') + 1)];
}

/** The secrets in what an HTTP service is called with. */
export function listRequestSecrets(input: unknown): string[] {
  const { url, query, headers } = isObject(input) ? input : {};
  return [...listUrlSecrets(url), ...listCredentials(query), ...listCredentials(headers)];
}

/** The secrets in a URL: its password, and parameters that are credentials. */
export function listUrlSecrets(url: unknown): string[] {
  if (typeof url !== 'string') return [];
  const [, login] = /:\/\/([^@/?#]*)@/.exec(url) ?? [];
  const [, query = ''] = /\?([^#]*)/.exec(url) ?? [];
  return [
    ...(login === undefined ? [] : listLogin(login).flatMap((part) => [part, decode(part)])),
    ...listCredentials(Object.fromEntries(new URLSearchParams(query))),
  ];
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

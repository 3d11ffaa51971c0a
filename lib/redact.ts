// Redaction: finds secrets in text, in every form in which they may appear, and masks them.
//
// Whoever receives a secret may quote it: a service, an MCP server, a store, a plugin. So their messages pass a redactor
// on arrival, before they are answered, stored, shown or recorded; and every line of the log and of standard error
// passes one on the way out. `Config.redact` knows the secrets of the configuration; secrets of a single call or turn
// get a redactor of their own.
//
// - A secret of LONG_CHARS or more is masked anywhere, even inside other words.
// - A shorter one, such as a PIN, is masked only as a separate word, because amounts or times may contain the same
//   digits; and only in messages about the call that carried it, never in whole lines of the log.
// - One of fewer than SHORT_CHARS is masked only when it is the whole text: too many texts contain a 1.

import { isObject } from './given.ts';
import type { Json } from './json/json.ts';

/** Replaces a secret. */
export const MASK = '****';
const SHORT_CHARS = 4;
/** From this length on, a match is never a coincidence. */
export const LONG_CHARS = 8;

export interface Redactor {
  /** Replaces each secret by {@link MASK}, also in its URL, JSON, base64 and hex encodings. */
  text(text: string): string;
  /** Does the same for the names, strings and numbers of a JSON value. Other values are returned unchanged. */
  json(value: Json): Json;
}

/** A redactor for these secrets. Cheap to create: the pattern is compiled on first use. */
export function redactor(values: readonly (string | undefined)[]): Redactor {
  const secrets = [...new Set(values)].filter((secret): secret is string => secret !== undefined && secret !== '');
  let pattern: RegExp | undefined;
  const text = (input: string): string => {
    if (secrets.length === 0) return input;
    if (secrets.includes(input)) return MASK;
    pattern ??= secretPattern(secrets);
    return input.replace(pattern, MASK);
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

/** Attaches a redactor to a foreign error, for the log to use when it describes the error. Returns the error. */
export function mayQuote<T>(error: T, redact: Redactor): T {
  if (typeof error === 'object' && error !== null) redactors.set(error, redact);
  return error;
}

/** The redactor attached by {@link mayQuote}. */
export function findRedactor(error: unknown): Redactor | undefined {
  // A WeakMap has no entries for non-objects.
  return redactors.get(error as object);
}

// `04829` sent as a number is 4829.
function isSecretNumber(value: number, secrets: readonly string[]): boolean {
  return secrets.some((secret) => secret.length >= SHORT_CHARS && /^\d+$/.test(secret) && Number(secret) === value);
}

/** Every text and number in a value, as text. */
export function listTexts(value: Json): string[] {
  if (typeof value === 'object' && value !== null)
    return Object.values(value).flatMap((part) => listTexts(part as Json));
  return typeof value === 'string' || typeof value === 'number' ? [String(value)] : [];
}

/** Whether a text contains a secret in any of its forms, even inside other words. */
export function holdsSecret(text: string, secrets: readonly string[]): boolean {
  return secrets.some((secret) =>
    [...listPlainForms(secret), ...listEncodedForms(secret)].some((form) => text.includes(form)),
  );
}

const NOTHING = /(?!)/g;

// Encoded forms match anywhere, because they never occur in a text by chance.
function secretPattern(secrets: readonly string[]): RegExp {
  const known = secrets.filter(({ length }) => length >= SHORT_CHARS);
  const apart = known
    .filter((secret) => !isLong(secret))
    .flatMap(listPlainForms)
    .map(escapePattern);
  const anywhere = known
    .flatMap((secret) => [...(isLong(secret) ? listPlainForms(secret) : []), ...listEncodedForms(secret)])
    // Longest first: a shorter secret may be a prefix, which would leave the rest unmasked.
    .sort((a, b) => b.length - a.length)
    .map(escapePattern);
  if (apart.length) anywhere.push(`(?<![\\w.,])(?:${apart.join('|')})(?!\\w|[.,]\\d)`);
  return anywhere.length ? new RegExp(anywhere.join('|'), 'g') : NOTHING;
}

function listPlainForms(secret: string): string[] {
  // Escaped twice for JSON inside a string of a log line.
  const json = JSON.stringify(secret).slice(1, -1);
  const inJson = JSON.stringify(json).slice(1, -1);
  return [...new Set([secret, json, inJson, encodeURIComponent(Buffer.from(secret).toString())])];
}

function listEncodedForms(secret: string): string[] {
  const bytes = Buffer.from(secret);
  // For each alignment, the base64 characters that do not depend on the neighbouring bytes.
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
 * The secrets among headers or parameters: values of LONG_CHARS or more whose name suggests a credential, without
 * `Bearer` and `Basic`. Shorter values are words, such as `key=maize`.
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

// From `user:password`; without a user name, the whole text is the secret.
function listLogin(login: string): string[] {
  return [login, login.slice(login.indexOf(':') + 1)];
}

/** The secrets in a request to an HTTP service. */
export function listRequestSecrets(input: unknown): string[] {
  const { url, query, headers } = isObject(input) ? input : {};
  return [...listUrlSecrets(url), ...listCredentials(query), ...listCredentials(headers)];
}

/** The secrets in a URL: its password, and query parameters that are credentials. */
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

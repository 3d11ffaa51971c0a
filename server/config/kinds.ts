// What a setting is, and the kinds of values that settings have: how the text of a variable is read, and what the value must be.

import ipaddr from 'ipaddr.js';
import { TwinlineError } from '../../lib/errors.ts';
import { isTimeZone } from '../../lib/flow/expression/days.ts';
import { isObject } from '../../lib/given.ts';
import { parseHosts } from '../../lib/http/host-list.ts';
import { findHeaderFault, type HeadersByOrigin } from '../../lib/http/service.ts';
import type { JsonObject } from '../../lib/json/json.ts';
import { parseKeyring } from '../../lib/keyring.ts';
import { readSmsFormat, SMS_FORMATS } from '../../lib/sms/format.ts';
import { isRedisUrl, REDIS_URL_FORMS } from '../../lib/store/redis/url.ts';
import { FLOW_CODE } from '../../lib/ussd/codes.ts';

export interface SettingKind<T> {
  /** What the value must be, as the end of "must be …". */
  readonly words: string;
  /** All values, where there are few. */
  readonly names?: readonly string[];
  /** The value in a variable's text; what cannot be read stays text, for `findFault` to refuse. */
  read(text: string): unknown;
  /** Why a value is refused. */
  findFault(value: unknown): Fault | undefined;
  /** Names the type for {@link SettingValue}; never set. */
  readonly value?: T;
}

/** A wrong value; `items`: the places in a list that are wrong, from 1 on. */
export interface Fault {
  readonly items: readonly number[];
}

export type SettingValue<K> = K extends SettingKind<infer T> ? T : never;

/** Where a value may come from when the variable is not set: made once, and kept in DATA_DIR. */
export type Generated = 'pin-key' | 'oracle-key';

export interface Setting {
  readonly kind: SettingKind<unknown>;
  readonly meaning: string;
  /** What to do about a bad value. */
  readonly fix: string;
  /** The value when the variable is not set, as its text. */
  readonly default?: string;
  /** The same in production; '' for none. */
  readonly productionDefault?: string;
  /** Made in development; required in production. */
  readonly generated?: Generated;
  /**
   * Never shown: `all` of it, its `password` only, the secrets in the `entries` of a list, the values of `headers`, or of `fields`, where
   * only those are masked elsewhere whose names say that they are secret.
   */
  readonly secret?: 'all' | 'password' | 'entries' | 'headers' | 'fields';
}

const refuseUnless = (isRight: boolean): Fault | undefined => (isRight ? undefined : { items: [] });

/** A whole number in plain decimal digits; `1e3`, `0x10` and ` 5` are none. */
export function integer(minimum: number, maximum: number): SettingKind<number> {
  return {
    words: `a whole number from ${minimum} to ${maximum}`,
    read: (text) => (/^\d{1,15}$/.test(text) ? Number(text) : text),
    findFault: (value) => refuseUnless(typeof value === 'number' && value >= minimum && value <= maximum),
  };
}

const FLAGS: Readonly<Record<string, boolean>> = {
  ...{ true: true, on: true, yes: true, 1: true },
  ...{ false: false, off: false, no: false, 0: false },
};

/** A yes or no. */
export function flag(): SettingKind<boolean> {
  return {
    words: 'true or false',
    read: (text) => {
      const word = text.toLowerCase();
      return Object.hasOwn(FLAGS, word) ? FLAGS[word] : text;
    },
    findFault: (value) => refuseUnless(typeof value === 'boolean'),
  };
}

/** One word of a list. */
export function oneOf<const T extends string>(...names: readonly T[]): SettingKind<T> {
  return {
    words: `one of ${names.join(', ')}`,
    names,
    read: (text) => text,
    findFault: (value) => refuseUnless(names.includes(value as T)),
  };
}

/** A text in one of {@link FORMATS}. */
export function text(format: Format): SettingKind<string> {
  return {
    words: FORMATS[format].words,
    read: (text) => text,
    findFault: (value) => refuseUnless(fitsFormat(String(value), format)),
  };
}

/** Texts separated by commas, each in one of {@link FORMATS}; spaces around them do not count. */
export function list(format: Format): SettingKind<readonly string[]> {
  return {
    words: `a comma list, each ${FORMATS[format].words}`,
    read: (text) => text.split(',').map((item) => item.trim()),
    findFault: (value) => {
      const items = (value as readonly string[]).flatMap((item, at) => (fitsFormat(item, format) ? [] : [at + 1]));
      return items.length ? { items } : undefined;
    },
  };
}

/** Service codes with their flows, and one flow without a code: that of all others. */
export function dialledFlows(): SettingKind<readonly string[]> {
  const { words, read, findFault } = list('dialled-flow');
  return {
    words: `${words}, one of them without a code: the flow of all other codes`,
    read,
    findFault: (value) => {
      const names = (value as readonly string[]).map((entry) => FLOW_CODE.exec(entry)?.[1] ?? '');
      const items = names.flatMap((name, at) => (names.indexOf(name) === at ? [] : [at + 1]));
      return findFault(value) ?? (items.length || !names.includes('') ? { items } : undefined);
    },
  };
}

const readJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};

/** The format of an SMS gateway: a name, or JSON. */
export function smsFormat(): SettingKind<string | JsonObject> {
  return {
    words: `one of ${Object.keys(SMS_FORMATS).join(', ')}, or JSON of a format`,
    read: readJson,
    findFault: (value) => refuseUnless(readSmsFormat(value) !== undefined),
  };
}

/** Fields by name, as JSON. */
export function fieldsByName(): SettingKind<JsonObject> {
  return {
    words: 'JSON of fields by name, such as {"username":"sandbox"}',
    read: readJson,
    findFault: (value) => refuseUnless(isObject(value) && Object.values(value).every((one) => typeof one !== 'object')),
  };
}

/** Headers by origin, as JSON. */
export function headersByOrigin(): SettingKind<HeadersByOrigin> {
  return {
    words: 'JSON of headers by origin, such as {"https://api.example.com":{"authorization":"Bearer …"}}',
    read: readJson,
    findFault: (value) => {
      if (typeof value !== 'object' || value === null || Array.isArray(value)) return { items: [] };
      const items = Object.entries(value).flatMap(([origin, headers], at) =>
        findHeaderFault(origin, headers) === undefined ? [] : [at + 1],
      );
      return items.length ? { items } : undefined;
    },
  };
}

function fitsFormat(text: string, format: Format): boolean {
  const { test }: FormatRule = FORMATS[format];
  return typeof test === 'function' ? test(text) : test.test(text);
}

interface FormatRule {
  readonly words: string;
  readonly test: RegExp | ((text: string) => boolean);
}

/** What texts can be required to be. */
export const FORMATS = {
  host: { words: 'a host name or address', test: (text) => ipaddr.isValid(text) || /^[\w-]+(\.[\w-]+)*$/.test(text) },
  path: { words: 'a path without control characters', test: /^\P{Cc}+$/u },
  'redis-url': { words: REDIS_URL_FORMS, test: isRedisUrl },
  'mongodb-url': {
    words: 'a mongodb:// or mongodb+srv:// URL',
    test: (text) => hasScheme(text.replace(/,[^/]*/, ''), ['mongodb:', 'mongodb+srv:']),
  },
  'http-url': { words: 'an http:// or https:// URL', test: (text) => hasScheme(text, ['http:', 'https:']) },
  // Signed into credentials, and shown in commands by pages.
  'public-url': {
    words: 'an http:// or https:// URL without a user, a query and a fragment, and without characters that shells read',
    test: isPublicUrl,
  },
  'pin-keys': {
    words: 'keys of 32 random bytes (not the same few again and again), as [kid:]<64 hex or base64>[,…]',
    test: (text) => !keyProblem(text),
  },
  'ed25519-key': { words: 'an Ed25519 key in ucanto’s string format', test: isEd25519Key },
  did: { words: 'a DID', test: /^did:[a-z0-9]+:[\w.:%-]+$/ },
  token: { words: 'visible ASCII characters without spaces', test: /^[\x21-\x7e]{1,4096}$/ },
  'operator-token': { words: 'visible ASCII characters without spaces', test: /^[\x21-\x2b\x2d-\x7e]{1,4096}$/ },
  origin: {
    words: '* alone or an origin such as https://app.example.com',
    test: (text) => text === '*' || isOrigin(text),
  },
  cidr: { words: 'an address or a network such as 10.0.0.0/8', test: isNetwork },
  'ussd-gateway': {
    words: 'an address, a network such as 203.0.113.0/24, <dialect>:<secret of 16 to 256 characters>, or * alone',
    test: (text) => text === '*' || isNetwork(text) || GATEWAY_SECRET.test(text),
  },
  'http-host': { words: 'host, host:port or *.example.com', test: (text) => !throws(() => parseHosts([text])) },
  'time-zone': { words: 'a time zone such as Africa/Nairobi', test: isTimeZone },
  flow: { words: 'the name of a flow', test: /^[A-Za-z][\w-]{0,63}$/ },
  'dialled-flow': {
    words: 'the name of a flow, or <service code>:<flow> such as *700*4#:bus',
    test: (text) => /^[A-Za-z][\w-]{0,63}$/.test(text) || FLOW_CODE.test(text),
  },
  service: { words: 'the name of a service, such as bills.find', test: /^[A-Za-z][\w-]*(\.[A-Za-z][\w-]*)*$/ },
  module: { words: 'a file path or a package name', test: /^[^\p{Cc},]+$/u },
  route: {
    words: 'METHOD /path',
    test: /^(GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS) \/[\x21-\x7e]*$/,
  },
  lines: { words: 'a text without control characters other than line ends', test: /^(?:\P{Cc}|[\n\t])+$/u },
  words: { words: 'a text without control characters', test: /^\P{Cc}+$/u },
} as const satisfies Record<string, FormatRule>;

/** `<dialect>:<secret>`: the secret of visible ASCII characters, without the comma that parts the list. */
export const GATEWAY_SECRET = /^([a-z][a-z0-9-]{0,31}):([\x21-\x2b\x2d-\x7e]{16,256})$/;

export type Format = keyof typeof FORMATS;

/** Why these are not PIN keys, without any part of the text; undefined when they are. */
export function keyProblem(text: string): string | undefined {
  try {
    parseKeyring(text);
    return undefined;
  } catch (error) {
    return error instanceof TwinlineError ? error.message : 'It cannot be read.';
  }
}

/** Whether this is `10.0.0.0/8`, `::1/128` or a bare address. */
export function isNetwork(text: string): boolean {
  return text.includes('/')
    ? ipaddr.isValidCIDR(text)
    : ipaddr.IPv6.isValid(text) || ipaddr.IPv4.isValidFourPartDecimal(text);
}

// Private key 0x1300 with its 32 bytes, then public key 0xed with its own, in multibase `M` (padded base64).
function isEd25519Key(text: string): boolean {
  const bytes = Buffer.from(text.slice(1), 'base64');
  const exact = text[0] === 'M' && bytes.toString('base64') === text.slice(1);
  return exact && bytes.length === 68 && bytes.readUInt16BE(0) === 0x8026 && bytes.readUInt16BE(34) === 0xed01;
}

function hasScheme(text: string, schemes: readonly string[]): boolean {
  return URL.canParse(text) && schemes.includes(new URL(text).protocol) && new URL(text).host !== '';
}

function isPublicUrl(text: string): boolean {
  if (!/^https?:\/\/[^\s"'`$;&|<>(){}*?!#\\]+$/i.test(text) || !URL.canParse(text)) return false;
  const { username, password } = new URL(text);
  return username === '' && password === '';
}

function isOrigin(text: string): boolean {
  return hasScheme(text, ['http:', 'https:']) && new URL(text).origin === text;
}

function throws(work: () => unknown): boolean {
  try {
    work();
    return false;
  } catch {
    return true;
  }
}

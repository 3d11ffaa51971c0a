// The checks of GATEWAY_FILE, one for each key.

import { GATEWAY_LIMITS } from './limits.ts';
import { compileRewrites, isPrefix, LEGACY_NAMES, type Rewrite } from './route/rewrites.ts';

export type Report = (field: string, error: string) => void;

/** Checks one value and gives it in its stored form; reports instead what is wrong. */
export type Check = (value: unknown, at: string, report: Report) => unknown;

type Values = { readonly [name: string]: unknown };

const UPSTREAM = /^(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9_](?:[A-Za-z0-9._-]*[A-Za-z0-9_])?):(\d{1,5})$/;
const KEY = /^[\x21-\x7e]{1,256}$/;
const HASHED = /^sha256:[0-9a-f]{64}$/;
const HEADER = /^[a-z0-9!#$%&'*+.^_`|~-]{1,128}$/;
// They belong to the connection, to gRPC or to the gateway.
const KEPT_HEADERS =
  /^(?:grpc-|content-|transfer-|proxy-|x-cosmos-block-height$)|^(?:connection|host|keep-alive|te|trailer|upgrade|expect)$/;
const TTL_MS = 3_600_000;
const CACHE_BYTES = 17_179_869_184;

export const CHECKS: { readonly [name: string]: Check } = {
  upstream: (value, at, report) => {
    const port = typeof value === 'string' && value.length <= 260 ? UPSTREAM.exec(value)?.[1] : undefined;
    if (port === undefined || Number(port) < 1 || Number(port) > 65_535)
      report(at, `must be host:port, such as "node:9090" or "[::1]:9090"; it is ${shownValue(value)}`);
    return value;
  },
  tls: (value, at, report) => {
    if (isObject(value)) return partsOf({ ca: path }, value, { at, report, required: ['ca'] });
    if (typeof value !== 'boolean') report(at, `must be true, false or {"ca":"file.pem"}; it is ${shownValue(value)}`);
    return value;
  },
  channel: oneOf('grpc-js', 'http2'),
  descriptors: path,
  reflection: yesOrNo,
  json: oneOf('cosmos', 'proto3'),
  prefixes: (value, at, report) => {
    if (!isObject(value)) {
      report(at, `must be {"/path":"/path"}; it is ${shownValue(value)}`);
      return {};
    }
    for (const [from, to] of Object.entries(value)) {
      const here = `${at}/${pointer(from)}`;
      if (!isPrefix(from)) report(here, 'must begin with / and hold literal segments, without a slash at the end');
      if (typeof to !== 'string' || !isPrefix(to))
        report(here, `must lead to a path such as "/ixo", without a slash at the end; it is ${shownValue(to)}`);
    }
    return value;
  },
  rewrites,
  legacy: listOf(oneOf(...LEGACY_NAMES)),
  disabled: listOf(rpcPattern),
  unknownRoute: oneOf(404, 501),
  gate: (value, at, report) => {
    if (isObject(value)) {
      const gate = partsOf({ keys, forbid: listOf(rpcPattern) }, value, { at, report, required: ['keys'] });
      return { forbid: [], ...gate };
    }
    report(at, `must be {"keys":["…"],"forbid":["package.*"]}; it is no object`);
    return undefined;
  },
  forwardHeaders: listOf((value, at, report) => {
    const name = typeof value === 'string' ? value.toLowerCase() : '';
    if (!HEADER.test(name)) report(at, `must be the name of a header; it is ${shownValue(value)}`);
    else if (KEPT_HEADERS.test(name)) report(at, `${name} is kept for the connection, gRPC or the gateway`);
    return name;
  }),
  deadlineMs: wholeNumber(1, 600_000),
  cache: (value, at, report) => {
    if (!isObject(value)) {
      report(at, `must be {"ttlMs":1000,"maxBytes":67108864}; it is ${shownValue(value)}`);
      return undefined;
    }
    const checks = { ttlMs: wholeNumber(1, TTL_MS), maxBytes: wholeNumber(1, CACHE_BYTES) };
    return partsOf(checks, value, { at, report, required: ['ttlMs', 'maxBytes'] });
  },
};

function rewrites(value: unknown, at: string, report: Report): Rewrite[] {
  const list = listOf((one, here, tell) => {
    if (isObject(one))
      return partsOf({ from: path, to: path }, one, { at: here, report: tell, required: ['from', 'to'] });
    tell(here, `must be {"from":"/path/{id}","to":"/path/{id}"}; it is ${shownValue(one)}`);
    return undefined;
  })(value, at, report) as (Rewrite | undefined)[];
  const good: Rewrite[] = [];
  for (const [index, rewrite] of list.entries()) {
    if (typeof rewrite?.from !== 'string' || typeof rewrite.to !== 'string') continue;
    try {
      compileRewrites({ prefixes: {}, rewrites: [...good, rewrite] });
      good.push(rewrite);
    } catch (error) {
      report(`${at}/${index}`, (error as Error).message);
    }
  }
  return good;
}

/** Keys are never shown, not even a broken one. */
function keys(value: unknown, at: string, report: Report): unknown {
  if (Array.isArray(value) && !value.length)
    report(at, 'must hold at least one key; without a gate, leave "gate" away');
  const list = listOf((key, here, tell) => {
    if (typeof key !== 'string' || !KEY.test(key))
      tell(here, 'must be a text of 1 to 256 visible ASCII characters, or sha256: and 64 hex digits');
    else if (key.startsWith('sha256:') && !HASHED.test(key))
      tell(here, 'begins with sha256: and goes on with something else than 64 hex digits in lower case');
    return key;
  })(value, at, report);
  for (const [index, key] of list.entries())
    if (list.indexOf(key) < index) report(`${at}/${index}`, `is the same key as ${at}/${list.indexOf(key)}`);
  return list;
}

function rpcPattern(value: unknown, at: string, report: Report): unknown {
  if (typeof value !== 'string' || !isRpcPattern(value))
    report(
      at,
      `must be a method or a pattern such as "ixo.bonds.*", with three stars at most; it is ${shownValue(value)}`,
    );
  return value;
}

function path(value: unknown, at: string, report: Report): unknown {
  if (typeof value !== 'string' || value === '' || value.length > 4_096 || value.includes('\0'))
    report(at, `must be a path; it is ${shownValue(value)}`);
  return value;
}

function yesOrNo(value: unknown, at: string, report: Report): unknown {
  if (typeof value !== 'boolean') report(at, `must be true or false; it is ${shownValue(value)}`);
  return value;
}

function oneOf(...allowed: readonly (string | number)[]): Check {
  return (value, at, report) => {
    if (!allowed.some((one) => one === value))
      report(at, `must be ${allowed.map((one) => JSON.stringify(one)).join(' or ')}; it is ${shownValue(value)}`);
    return value;
  };
}

function wholeNumber(least: number, most: number): Check {
  return (value, at, report) => {
    if (!Number.isSafeInteger(value) || (value as number) < least || (value as number) > most)
      report(at, `must be a whole number from ${least} to ${most}; it is ${shownValue(value)}`);
    return value;
  };
}

function listOf(check: Check): (value: unknown, at: string, report: Report) => unknown[] {
  return (value, at, report) => {
    if (!Array.isArray(value)) report(at, 'must be a list, in [ ]');
    else if (value.length > GATEWAY_LIMITS.gatewayFileItems)
      report(at, `has ${value.length} entries; ${GATEWAY_LIMITS.gatewayFileItems} are allowed`);
    else return value.map((one, index) => check(one, `${at}/${index}`, report));
    return [];
  };
}

interface Place {
  readonly at: string;
  readonly report: Report;
  readonly required: readonly string[];
}

function partsOf(checks: { readonly [name: string]: Check }, value: Values, { at, report, required }: Place): Values {
  for (const name of Object.keys(value))
    if (!Object.hasOwn(checks, name))
      report(`${at}/${pointer(name)}`, `unknown; expected only ${Object.keys(checks).join(' and ')}`);
  for (const name of required) if (!Object.hasOwn(value, name)) report(`${at}/${name}`, 'missing');
  const given = Object.keys(checks).filter((name) => Object.hasOwn(value, name));
  return Object.fromEntries(given.map((name) => [name, checks[name]!(value[name], `${at}/${name}`, report)]));
}

function pointer(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}

export function isObject(value: unknown): value is Values {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function shownValue(value: unknown): string {
  return value === undefined ? 'missing' : JSON.stringify(value).slice(0, 60);
}

/** Whether a method such as `ixo.bonds.v1beta1.Query/Bonds` is meant. */
export type RpcFilter = (rpc: string) => boolean;

/** `*` stands for any text; the method may follow its service after a slash or a dot. */
export function rpcFilter(patterns: readonly string[]): RpcFilter {
  const tests = patterns.map((pattern) => {
    const parts = dotted(pattern)
      .split('*')
      .map((part) => part.replaceAll('.', '\\.'));
    return new RegExp(`^${parts.join('.*')}$`);
  });
  return (rpc) => tests.some((test) => test.test(dotted(rpc)));
}

/** The patterns that mean none of these methods: most likely misspelt. */
export function idlePatterns(patterns: readonly string[], rpcs: readonly string[]): string[] {
  return patterns.filter((pattern) => !rpcs.some(rpcFilter([pattern])));
}

/** Letters, digits, `_`, dots, slashes and stars; at most three stars in a row of 256 characters. */
export function isRpcPattern(pattern: string): boolean {
  return /^[A-Za-z0-9_./*]{1,256}$/.test(pattern) && pattern.split('*').length <= 4;
}

function dotted(rpc: string): string {
  return rpc.replaceAll('/', '.');
}

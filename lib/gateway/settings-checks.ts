// Checks of GATEWAY_FILE, by key; and its patterns for methods, such as `ixo.bonds.*`.

import { type FieldCheck, quoteValue, type ReportProblem } from '../config-file.ts';
import { isObject } from '../given.ts';
import { escapeStep } from '../json/reader.ts';
import { GATEWAY_LIMITS } from './limits.ts';
import { compileRewrites, isPrefix, LEGACY_NAMES, type Rewrite } from './route/rewrites.ts';

const UPSTREAM = /^(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9_](?:[A-Za-z0-9._-]*[A-Za-z0-9_])?):(\d{1,5})$/;
const KEY = /^[\x21-\x7e]{1,256}$/;
const HASHED = /^sha256:[0-9a-f]{64}$/;
const HEADER = /^[a-z0-9!#$%&'*+.^_`|~-]{1,128}$/;
// Reserved by the connection, gRPC or the gateway.
const KEPT_HEADERS =
  /^(?:grpc-|content-|transfer-|proxy-|x-cosmos-block-height$)|^(?:connection|host|keep-alive|te|trailer|upgrade|expect)$/;
const TTL_MS = 3_600_000;
const CACHE_BYTES = 17_179_869_184;

const path = mustBe('a path', (value) => isText(value, 4_096) && value !== '' && !value.includes('\0'));
const rpcPattern = mustBe(
  'a method or a pattern such as "ixo.bonds.*", with three stars at most',
  (value) => typeof value === 'string' && isRpcPattern(value),
);
const certificate = checkObjectOf('true, false or {"ca":"file.pem"}', { ca: path }, { required: ['ca'] });
const gate = checkObjectOf(
  '{"keys":["…"],"forbid":["package.*"]}',
  { keys: checkKeys, forbid: checkListOf(rpcPattern) },
  { required: ['keys'], isSecret: true },
);

export const CHECKS: { readonly [name: string]: FieldCheck } = {
  upstream: mustBe('host:port, such as "node:9090" or "[::1]:9090"', (value) => {
    const port = isText(value, 260) ? Number(UPSTREAM.exec(value)?.[1]) : 0;
    return port >= 1 && port <= 65_535;
  }),
  tls: (value, at, report) => (typeof value === 'boolean' ? value : (certificate(value, at, report) ?? value)),
  channel: checkOneOf('grpc-js', 'http2'),
  descriptors: path,
  reflection: mustBe('true or false', (value) => typeof value === 'boolean'),
  json: checkOneOf('cosmos', 'proto3'),
  prefixes: (value, at, report) => {
    if (!isObject(value)) {
      report(at, `must be {"/path":"/path"}; it is ${quoteValue(value)}`);
      return {};
    }
    for (const [from, to] of Object.entries(value)) {
      const here = `${at}/${escapeStep(from)}`;
      if (!isPrefix(from)) report(here, 'must start with / and have literal segments, without a trailing slash');
      if (typeof to !== 'string' || !isPrefix(to))
        report(here, `must be a path such as "/ixo", without a trailing slash; it is ${quoteValue(to)}`);
    }
    return value;
  },
  rewrites: checkRewrites,
  legacy: checkListOf(checkOneOf(...LEGACY_NAMES)),
  disabled: checkListOf(rpcPattern),
  unknownRoute: checkOneOf(404, 501),
  gate: (value, at, report) => {
    const gateSettings = gate(value, at, report);
    return gateSettings && { forbid: [], ...gateSettings };
  },
  forwardHeaders: checkListOf((value, at, report) => {
    const name = typeof value === 'string' ? value.toLowerCase() : '';
    if (!HEADER.test(name)) report(at, `must be the name of a header; it is ${quoteValue(value)}`);
    else if (KEPT_HEADERS.test(name)) report(at, `${name} is reserved by the connection, gRPC or the gateway`);
    return name;
  }),
  deadlineMs: wholeNumber(1, 600_000),
  cache: checkObjectOf(
    '{"ttlMs":1000,"maxBytes":67108864}',
    { ttlMs: wholeNumber(1, TTL_MS), maxBytes: wholeNumber(1, CACHE_BYTES) },
    { required: ['ttlMs', 'maxBytes'] },
  ),
};

function checkRewrites(value: unknown, at: string, report: ReportProblem): Rewrite[] {
  const entry = checkObjectOf(
    '{"from":"/path/{id}","to":"/path/{id}"}',
    { from: path, to: path },
    { required: ['from', 'to'] },
  );
  const list = checkListOf(entry)(value, at, report) as (Rewrite | undefined)[];
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

/** Keys are never shown, not even malformed ones. */
function checkKeys(value: unknown, at: string, report: ReportProblem): unknown {
  if (Array.isArray(value) && !value.length) report(at, 'must have at least one key; omit "gate" to run without one');
  const list = checkListOf((key, here) => {
    if (typeof key !== 'string' || !KEY.test(key))
      report(here, 'must be 1 to 256 visible ASCII characters, or sha256: and 64 hex digits');
    else if (key.startsWith('sha256:') && !HASHED.test(key))
      report(here, 'starts with sha256: but is not followed by 64 lower-case hex digits');
    return key;
  })(value, at, report);
  for (const [index, key] of list.entries())
    if (list.indexOf(key) < index) report(`${at}/${index}`, `is the same key as ${at}/${list.indexOf(key)}`);
  return list;
}

/** A check that returns the value, and reports it if invalid. */
function mustBe(what: string, isRight: (value: unknown) => boolean): FieldCheck {
  return (value, at, report) => {
    if (!isRight(value)) report(at, `must be ${what}; it is ${quoteValue(value)}`);
    return value;
  };
}

function checkOneOf(...options: readonly (string | number)[]): FieldCheck {
  const what = options.map((one) => JSON.stringify(one)).join(' or ');
  return mustBe(what, (value) => options.some((one) => one === value));
}

function wholeNumber(least: number, most: number): FieldCheck {
  return mustBe(
    `a whole number from ${least} to ${most}`,
    (value) => Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most,
  );
}

function checkListOf(check: FieldCheck): (value: unknown, at: string, report: ReportProblem) => unknown[] {
  return (value, at, report) => {
    if (!Array.isArray(value)) report(at, 'must be a list, in [ ]');
    else if (value.length > GATEWAY_LIMITS.gatewayFileItems)
      report(at, `has ${value.length} entries; ${GATEWAY_LIMITS.gatewayFileItems} are allowed`);
    else return value.map((one, index) => check(one, `${at}/${index}`, report));
    return [];
  };
}

/** Checks an object member by member; returns undefined for anything else. `isSecret`: never show the value. */
function checkObjectOf(
  what: string,
  checks: { readonly [name: string]: FieldCheck },
  { required: requiredFields, isSecret = false }: { readonly required: readonly string[]; readonly isSecret?: boolean },
): (value: unknown, at: string, report: ReportProblem) => { readonly [name: string]: unknown } | undefined {
  return (value, at, report) => {
    if (!isObject(value)) {
      report(at, `must be ${what}; it is ${isSecret ? 'no object' : quoteValue(value)}`);
      return undefined;
    }
    for (const name of Object.keys(value))
      if (!Object.hasOwn(checks, name))
        report(`${at}/${escapeStep(name)}`, `unknown; expected only ${Object.keys(checks).join(' and ')}`);
    for (const name of requiredFields) if (!Object.hasOwn(value, name)) report(`${at}/${name}`, 'missing');
    const names = Object.keys(checks).filter((name) => Object.hasOwn(value, name));
    return Object.fromEntries(names.map((name) => [name, checks[name]!(value[name], `${at}/${name}`, report)]));
  };
}

function isText(value: unknown, maxChars: number): value is string {
  return typeof value === 'string' && value.length <= maxChars;
}

/** Whether a method such as `ixo.bonds.v1beta1.Query/Bonds` matches. */
export type RpcFilter = (rpc: string) => boolean;

/**
 * `*` matches any text; a slash or a dot may separate service and method.
 * @example
 * const isForbidden = rpcFilter(['ixo.bonds.*']);
 * isForbidden('ixo.bonds.v1beta1.Query/Bond'); // → true
 * isForbidden('ixo.entity.v1beta1.Query/Entity'); // → false
 */
export function rpcFilter(patterns: readonly string[]): RpcFilter {
  const tests = patterns.map((pattern) => {
    const parts = toDots(pattern)
      .split('*')
      .map((part) => part.replaceAll('.', '\\.'));
    return new RegExp(`^${parts.join('.*')}$`);
  });
  return (rpc) => tests.some((test) => test.test(toDots(rpc)));
}

/**
 * The patterns that match none of these methods: probably misspelt.
 * @example
 * idlePatterns(['demo.*', 'demo.Old/*'], ['demo.Library/Get']); // → ['demo.Old/*']
 */
export function idlePatterns(patterns: readonly string[], rpcs: readonly string[]): string[] {
  return patterns.filter((pattern) => !rpcs.some(rpcFilter([pattern])));
}

/** At most 256 letters, digits, `_`, dots, slashes and up to three stars. */
function isRpcPattern(pattern: string): boolean {
  return /^[A-Za-z0-9_./*]{1,256}$/.test(pattern) && pattern.split('*').length <= 4;
}

function toDots(rpc: string): string {
  return rpc.replaceAll('/', '.');
}

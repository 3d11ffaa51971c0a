// GATEWAY_FILE: defaults, every problem at once without a key in it, prefixes, rewrites and the routes of earlier versions.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { TwinlineError } from '../../lib/errors.ts';
import {
  compileRewrites,
  idlePatterns,
  LEGACY_PROFILES,
  legacyRewrites,
  parseGatewayFile,
  rpcFilter,
} from '../../lib/gateway/index.ts';
import { parseTemplate } from '../../lib/gateway/route/paths.ts';
import cases from '../fixtures/gateway/files.json' with { type: 'json' };

const test = suite('gateway file');

const parse = (value: unknown) => parseGatewayFile(JSON.stringify(value), 'gateway.json');
const MINIMAL = { upstream: 'node:9090', reflection: true };

function problems(value: unknown): string[] {
  try {
    parse(value);
  } catch (error) {
    assert.is((error as TwinlineError).code, 'ERR_CONFIG');
    return (error as TwinlineError).details.map(({ field, error: why }) => `${field}: ${why}`);
  }
  return [];
}

test('only the node and its descriptors are needed; the rest has defaults', () => {
  assert.equal(parse(MINIMAL), { ...cases.defaults, gate: undefined, cache: undefined });
});

test('a whole file is read as it stands', () => {
  const { whole } = cases;
  assert.equal(parse(whole), {
    ...whole,
    descriptors: { kind: 'file', path: 'ixo.binpb' },
    forwardHeaders: ['x-trace'],
  });
  assert.equal(parse({ ...MINIMAL, gate: { keys: ['k'] } }).gate, { keys: ['k'], forbid: [] });
});

test('a problem is told at its place', () => {
  for (const [pointer, change] of cases.faults as [string, object][]) {
    const found = problems({ ...MINIMAL, ...change });
    assert.is(found.length, 1, found.join('\n'));
    assert.ok(found[0]!.startsWith(`${pointer}: `), found[0]);
  }
});

test('every problem is told at once', () => {
  assert.is(problems({ json: 'xml', deadlineMs: -1, nope: 1 }).length, 5);
});

test('no message shows a key, not even when the file or the key is broken', () => {
  const texts = [
    '{"gate":{"keys":["s3cr3t"',
    '{"gate":{"keys":[s3cr3t]}}',
    '{"gate":{"keys":["s3cr3t"]},}',
    '"s3cr3t"',
    JSON.stringify({ gate: { keys: ['s3cr3t with space', 's3cr3t', 's3cr3t', 'sha256:s3cr3t'] } }),
    JSON.stringify({ gate: ['s3cr3t'] }),
  ];
  for (const text of texts)
    assert.throws(
      () => parseGatewayFile(text),
      (error: TwinlineError) =>
        error.code === 'ERR_CONFIG' && !/s3cr3t/.test(`${error.message}${JSON.stringify(error)}${error.stack}`),
    );
});

test('broken JSON is told with its line and column', () => {
  for (const [text, place] of [
    ['{\n  "upstream": "node:9090",,\n}', /not JSON from line 2, column 27/],
    ['{\n  "upstream": node:9090\n}', /not JSON from line 2, column 1[56]/],
  ] as const)
    assert.throws(
      () => parseGatewayFile(text),
      (error: Error) => place.test(error.message),
    );
});

type Paths = Partial<Parameters<typeof compileRewrites>[0]>;

// What a file says → each path and what it becomes; null is not served.
for (const [rule, paths, becomes] of cases.paths as unknown as [string, Paths, { [path: string]: string | null }][])
  test(rule, () => {
    const path = compileRewrites({ prefixes: {}, rewrites: [], ...paths });
    for (const [from, to] of Object.entries(becomes)) assert.is(path(from) ?? null, to, from);
  });

test('prefixes come before rewrites; the rewrites of a deployment before those of earlier versions', () => {
  const path = compileRewrites({
    prefixes: { '/old': '/ixo' },
    rewrites: [{ from: '/ixo/claim/{any}', to: '/mine/{any}' }],
    legacy: legacyRewrites(['ixo-v0.20']),
  });
  assert.is(path('/old/claim/7'), '/mine/7');
  assert.is(path('/old/collection/7'), '/ixo/claims/collection/7');
});

test('the routes of earlier versions lead to those of today, and all sets together do not contradict each other', () => {
  const path = compileRewrites({
    prefixes: {},
    rewrites: [],
    legacy: legacyRewrites(['ixo-v0.18', 'ixo-v0.19', 'ixo-v0.20', 'ixo-v4']),
  });
  for (const [from, to] of Object.entries(cases.legacy)) assert.is(path(from), to);
  for (const { gone } of Object.values(LEGACY_PROFILES)) for (const template of gone) parseTemplate(template);
});

test('patterns of methods: stars across dots, a dot or a slash before the method, no more than is meant', () => {
  const bonds = rpcFilter(['ixo.bonds.*', 'a.B/C', '*.Params']);
  assert.ok(bonds('ixo.bonds.v1beta1.Query/Bond'));
  assert.ok(bonds('a.B/C'));
  assert.ok(rpcFilter(['a.B.C'])('a.B/C'));
  assert.ok(bonds('ixo.mint.v1beta1.Query/Params'));
  assert.not.ok(bonds('ixo.bondsx.Query/Bond'));
  assert.not.ok(bonds('ixoxbonds.Query/Bond'));
  assert.not.ok(bonds('a.B/CD'));
  assert.not.ok(rpcFilter([])('a.B/C'));
  assert.equal(idlePatterns(['ixo.*', 'ixxo.*'], ['ixo.a.B/C']), ['ixxo.*']);
});

test.run();

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
  type Rewrite,
  rpcFilter,
} from '../../lib/gateway/index.ts';
import { parseTemplate } from '../../lib/gateway/route/paths.ts';

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
  assert.equal(parse(MINIMAL), {
    ...{
      upstream: 'node:9090',
      tls: false,
      descriptors: { kind: 'reflection' },
      json: 'cosmos',
      prefixes: {},
      rewrites: [],
    },
    ...{
      legacy: [],
      disabled: [],
      unknownRoute: 404,
      gate: undefined,
      forwardHeaders: [],
      deadlineMs: 10_000,
      cache: undefined,
      channel: 'grpc-js',
    },
  });
});

test('a whole file is read as it stands', () => {
  const whole = {
    ...{ upstream: '[::1]:9090', tls: { ca: 'ca.pem' }, descriptors: 'ixo.binpb', json: 'proto3' },
    prefixes: { '/ixo': '/ixo', '/impacthub': '/ixo', '/': '/api' },
    rewrites: [{ from: '/ixo/claim/{id}', to: '/ixo/claims/claim/{id}' }],
    ...{ legacy: ['ixo-v0.20'], disabled: ['ixo.bonds.*'], unknownRoute: 501 },
    gate: { keys: ['k1', `sha256:${'a'.repeat(64)}`], forbid: ['ixo.token.*'] },
    ...{ forwardHeaders: ['X-Trace'], deadlineMs: 5_000, cache: { ttlMs: 1_000, maxBytes: 67_108_864 } },
    channel: 'http2',
  };
  assert.equal(parse(whole), {
    ...whole,
    descriptors: { kind: 'file', path: 'ixo.binpb' },
    forwardHeaders: ['x-trace'],
  });
  assert.equal(parse({ ...MINIMAL, gate: { keys: ['k'] } }).gate, { keys: ['k'], forbid: [] });
});

const FAULTS: readonly (readonly [pointer: string, change: object])[] = [
  ['/upstream', { upstream: 'node' }],
  ['/upstream', { upstream: 'http://node:9090' }],
  ['/upstream', { upstream: 'node:0' }],
  ['/upstream', { upstream: 'node:65536' }],
  ['/upstream', { upstream: 9090 }],
  ['/tls', { tls: 'yes' }],
  ['/tls/ca', { tls: {} }],
  ['/descriptors', { descriptors: 'a.binpb' }],
  ['/descriptors', { reflection: false }],
  ['/json', { json: 'xml' }],
  ['/prefixes', { prefixes: ['/ixo'] }],
  ['/prefixes/~1ixo~1', { prefixes: { '/ixo/': '/ixo' } }],
  ['/prefixes/ixo', { prefixes: { ixo: '/ixo' } }],
  ['/prefixes/~1a', { prefixes: { '/a': '/{b}' } }],
  ['/rewrites', { rewrites: {} }],
  ['/rewrites/0', { rewrites: ['x'] }],
  ['/rewrites/0/to', { rewrites: [{ from: '/a' }] }],
  ['/rewrites/0', { rewrites: [{ from: '/a/{x}', to: '/b/{y}' }] }],
  ['/rewrites/0', { rewrites: [{ from: '/a/*', to: '/b/*' }] }],
  [
    '/rewrites/1',
    {
      rewrites: [
        { from: '/a/{x}', to: '/b/{x}' },
        { from: '/a/{y}', to: '/c/{y}' },
      ],
    },
  ],
  ['/rewrites/0/when', { rewrites: [{ from: '/a', to: '/b', when: 1 }] }],
  ['/legacy/0', { legacy: ['ixo-v99'] }],
  ['/disabled/1', { disabled: ['a.*', 'a b'] }],
  ['/disabled/0', { disabled: ['*a*b*c*'] }],
  ['/unknownRoute', { unknownRoute: 400 }],
  ['/gate', { gate: 'key' }],
  ['/gate/keys', { gate: {} }],
  ['/gate/keys', { gate: { keys: [] } }],
  ['/gate/forbid', { gate: { keys: ['k'], forbid: 'a.*' } }],
  ['/forwardHeaders/0', { forwardHeaders: ['x y'] }],
  ['/forwardHeaders/0', { forwardHeaders: ['Grpc-Timeout'] }],
  ['/forwardHeaders/0', { forwardHeaders: ['host'] }],
  ['/forwardHeaders', { forwardHeaders: ['authorization'], gate: { keys: ['k'] } }],
  ['/deadlineMs', { deadlineMs: 0 }],
  ['/cache/maxBytes', { cache: { ttlMs: 1 } }],
  ['/cache/ttlMs', { cache: { ttlMs: 1.5, maxBytes: 1 } }],
  ['/cors', { cors: true }],
];

test('a problem is told at its place', () => {
  for (const [pointer, change] of FAULTS) {
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

const PREFIXES = { '/ixo': '/ixo', '/ixo/old': '/old', '/impacthub': '/ixo' };
const REWRITES: readonly Rewrite[] = [
  { from: '/a/{x}', to: '/b/{x}/c' },
  { from: '/a/special', to: '/s' },
  { from: '/all/{rest=**}', to: '/r/{rest}' },
  { from: '/two/{x}/{y}', to: '/{y}/{x}' },
];

/** What a file says → each path and what it becomes; undefined is not served. */
const PATHS: readonly (readonly [rule: string, paths: Paths, becomes: Readonly<Record<string, string | undefined>>])[] =
  [
    ['without prefixes every path stays as it is', {}, { '/a%2Fb//c:d': '/a%2Fb//c:d' }],
    [
      'with prefixes only these are served, by whole segments, the longest first',
      { prefixes: PREFIXES },
      {
        ...{ '/impacthub/entity/a%2Fb': '/ixo/entity/a%2Fb', '/impacthub': '/ixo', '/ixo/old/x': '/old/x' },
        ...{ '/ixo/older': '/ixo/older', '/ixomatic/x': undefined, '/other': undefined, '/IXO/x': undefined },
      },
    ],
    ['a prefix can be put on', { prefixes: { '/': '/api' } }, { '/x': '/api/x' }],
    ['a prefix can be taken off', { prefixes: { '/api': '/' } }, { '/api/x': '/x', '/api': '/' }],
    [
      'paths are rewritten once, still encoded',
      { rewrites: REWRITES },
      {
        ...{
          '/a/1%2F2': '/b/1%2F2/c',
          '/a/did:ixo:1': '/b/did:ixo:1/c',
          '/a/special': '/s',
          '/a': '/a',
          '/a/x/y': '/a/x/y',
        },
        ...{ '/all/x/y%2Fz/': '/r/x/y%2Fz/', '/all': '/r', '/two/1/2': '/2/1', '/b/1': '/b/1' },
      },
    ],
  ];

for (const [rule, paths, becomes] of PATHS)
  test(rule, () => {
    const path = compileRewrites({ prefixes: {}, rewrites: [], ...paths });
    for (const [from, to] of Object.entries(becomes)) assert.is(path(from), to, from);
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
  const expected = {
    '/ixo/did/did:ixo:abc': '/ixo/did/dids/did:ixo:abc',
    '/ixo/did/dids': '/ixo/did/dids',
    '/ixo/did/dids/x': '/ixo/did/dids/x',
    '/ixo/allDidDocs': '/ixo/did/dids',
    '/ixo/bonds': '/ixo/bonds/bonds',
    '/ixo/bonds_detailed': '/ixo/bonds/bonds_detailed',
    '/ixo/entity/config': '/ixo/entity/params',
    '/ixo/entity/did:ixo:entity:1': '/ixo/entity/did:ixo:entity:1',
    '/ixo/claim': '/ixo/claims/claims',
    '/ixo/claim/bafk': '/ixo/claims/claim/bafk',
    '/ixo/collection': '/ixo/claims/collections',
    '/ixo/dispute/p': '/ixo/claims/dispute/p',
    '/ixo/liquidstake/v1beta1/params': '/ixo/liquidstake/v1beta1/module_params',
  };
  for (const [from, to] of Object.entries(expected)) assert.is(path(from), to);
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

// Types that no descriptor declares: asked of the node, kept, given up within bounds, whatever the node does.

import { createFileRegistry, fromBinary, toBinary } from '@bufbuild/protobuf';
import { BinaryWriter } from '@bufbuild/protobuf/wire';
import { FileDescriptorProtoSchema, FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SimulatedClock } from '../../lib/clock.ts';
import { grpcChannel } from '../../lib/gateway/channel/grpc-channel.ts';
import { createJsonWriters, http2Channel, readDescriptorSet, typeSource } from '../../lib/gateway/index.ts';
import { GATEWAY_LIMITS } from '../../lib/gateway/limits.ts';
import { compileProtos } from '../support/protoc.ts';
import { GOOD, type Manners, type Question, reflectingNode } from './reflection-node.ts';

const test = suite('types of a node');

// What the gateway knows from the start, and what only the node knows: c needs b, and d nothing that is known.
const KNOWN = compileProtos({
  'top.proto':
    'syntax = "proto3"; package top; import "google/protobuf/any.proto"; message Top { repeated google.protobuf.Any any = 1; string text = 2; }',
});
const NODE = compileProtos({
  'a.proto':
    'syntax = "proto3"; package a; import "b.proto"; import "google/protobuf/any.proto"; message A { b.B b = 1; google.protobuf.Any any = 2; } message Other { string x = 1; }',
  'b.proto': 'syntax = "proto3"; package b; message B { string b_text = 1; }',
  'd.proto': 'syntax = "proto3"; package d; message D { string x = 1; message Deep { string y = 1; } }',
});
const { registry: known } = readDescriptorSet(KNOWN);
const files = new Map(
  fromBinary(FileDescriptorSetSchema, NODE).file.map((file) => [file.name, toBinary(FileDescriptorProtoSchema, file)]),
);
const every = createFileRegistry(fromBinary(FileDescriptorSetSchema, NODE));
const fileOf = (symbol: string) => every.getMessage(symbol)?.file.proto.name;

const write = () => new BinaryWriter();
const any = (url: string, value: Uint8Array = new Uint8Array()) =>
  write().tag(1, 2).string(url).tag(2, 2).bytes(value).finish();
const top = (...anys: Uint8Array[]) => {
  const writer = write();
  for (const one of anys) writer.tag(1, 2).bytes(one);
  return writer.tag(2, 2).string('end').finish();
};

interface Told {
  readonly questions: Question[];
  /** The JSON of a Top. */
  json(
    bytes: Uint8Array,
    form?: 'cosmos' | 'proto3',
    deadlineMs?: number,
  ): Promise<{ any: object[]; isFinal: boolean }>;
  readonly types: ReturnType<typeof typeSource>;
  readonly clock: SimulatedClock;
}

async function withNode(
  manners: Partial<Manners>,
  work: (told: Told) => Promise<void>,
  open: typeof http2Channel = http2Channel,
): Promise<void> {
  const questions: Question[] = [];
  const instead: Manners['instead'] = (question) => {
    questions.push(question);
    return manners.instead?.(question);
  };
  const node = await reflectingNode({ ...GOOD, files, fileOf, ...manners, instead });
  const channel = open({ upstream: `127.0.0.1:${node.port}` });
  const clock = new SimulatedClock();
  const types = typeSource({ base: known, channel, clock });
  const findWriter = (form: 'cosmos' | 'proto3') =>
    createJsonWriters({ registry: types.registry, form }).findWriter(known.getMessage('top.Top')!);
  const writers = { cosmos: findWriter('cosmos'), proto3: findWriter('proto3') };
  try {
    await work({
      questions,
      types,
      clock,
      json: async (bytes, form = 'proto3', deadlineMs = 600_000) => {
        const { value, isFinal } = await types.make((unknown) => writers[form](bytes, { unknown }), { deadlineMs });
        return { ...(JSON.parse(value.toString()) as { any: object[] }), isFinal };
      },
    });
  } finally {
    node.stop();
    await channel.close();
  }
}

const B = write().tag(1, 2).string('t').finish();
const A = write().tag(1, 2).bytes(B).finish();

for (const open of [http2Channel, grpcChannel])
  for (const versions of [['v1'], ['v1alpha']] as const)
    test(`a type of the node is learned with what it imports, once, by ${versions} over ${open.name}`, () =>
      withNode(
        { versions },
        async ({ json, questions }) => {
          const whole = { '@type': '/a.A', b: { bText: 't' } };
          assert.equal(await json(top(any('/a.A', A))), { any: [whole], text: 'end', isFinal: true });
          const asked = questions.length;
          assert.equal(questions.map(({ value }) => value).sort(), ['a.A', 'b.proto']);
          assert.equal((await json(top(any('x.example/a.A', A)), 'cosmos')).any, [
            { '@type': 'x.example/a.A', b: { b_text: 't' }, any: null },
          ]);
          assert.equal((await json(top(any('/a.Other'), any('/b.B', B)))).any, [
            { '@type': '/a.Other' },
            { '@type': '/b.B', bText: 't' },
          ]);
          assert.is(questions.length, asked);
        },
        open,
      ));

test('Any in Any in Any, and types inside messages, are all learned for the same reply', () =>
  withNode({}, async ({ json }) => {
    const inner = any('/a.A', write().tag(2, 2).bytes(any('/d.D.Deep', B)).finish());
    const outer = any('/a.A', write().tag(2, 2).bytes(inner).finish());
    assert.equal((await json(top(any('/google.protobuf.Any', outer), any('/d.D')))).any, [
      {
        '@type': '/google.protobuf.Any',
        value: { '@type': '/a.A', any: { '@type': '/a.A', any: { '@type': '/d.D.Deep', y: 't' } } },
      },
      { '@type': '/d.D' },
    ]);
  }));

test('a type that the node does not have is asked for once in a while, and told by its bytes', () =>
  withNode({}, async ({ json, questions, clock }) => {
    for (let times = 0; times < 5; times++)
      assert.equal(await json(top(any('/x.Nobody', B), any('/a.A'))), {
        any: [{ '@type': '/x.Nobody', value: 'CgF0' }, { '@type': '/a.A' }],
        text: 'end',
        isFinal: true,
      });
    assert.is(questions.filter(({ value }) => value === 'x.Nobody').length, 1);
    await clock.advance(GATEWAY_LIMITS.typesUnknownMs + 1);
    await json(top(any('/x.Nobody', B)));
    assert.is(questions.filter(({ value }) => value === 'x.Nobody').length, 2);
  }));

test('all who meet a type at the same time ask once', () =>
  withNode({}, async ({ json, questions }) => {
    const replies = await Promise.all(Array.from({ length: 50 }, () => json(top(any('/a.A', A), any('/x.Nobody')))));
    for (const { any: found } of replies) assert.equal(found[0], { '@type': '/a.A', b: { bText: 't' } });
    assert.is(questions.filter(({ value }) => value === 'a.A').length, 1);
    assert.is(questions.filter(({ value }) => value === 'x.Nobody').length, 1);
  }));

test('a reply with thousands of unknown types asks for a few, and a flood of such replies for no more than a bound', () =>
  withNode({}, async ({ json, questions, types, clock }) => {
    let next = 0;
    const flood = () => top(...Array.from({ length: 3_000 }, () => any(`/x.N${next++}`, B)));
    assert.is((await json(flood())).any.length, 3_000);
    assert.is(questions.length, GATEWAY_LIMITS.typesPerReply);
    for (let times = 0; times < 30; times++) assert.is((await json(flood())).isFinal, false);
    assert.is(questions.length, GATEWAY_LIMITS.typesPerMinute);
    assert.ok(types.stats().unknown <= GATEWAY_LIMITS.typesUnknown);
    assert.equal((await json(top(any('/a.A')))).any, [{ '@type': '/a.A', value: '' }]);
    await clock.advance(60_000);
    assert.equal((await json(top(any('/a.A')))).any, [{ '@type': '/a.A' }]);
  }));

test('types that are known to be nowhere do not keep others from being learned', () =>
  withNode({}, async ({ json }) => {
    const nowhere = Array.from({ length: 40 }, (_, at) => any(`/x.N${at}`));
    let last: object | undefined;
    for (let times = 0; times < 4; times++) last = (await json(top(...nowhere, any('/a.A', A)))).any.at(-1);
    assert.equal(last, { '@type': '/a.A', b: { bText: 't' } });
  }));

test('names that cannot be those of types are told and never asked for', () =>
  withNode({}, async ({ json, questions }) => {
    const urls = [
      `/${'x'.repeat(1_000_000)}`,
      `/x.${'y'.repeat(300)}`,
      '/',
      '/1a',
      '/a b',
      '/a..b',
      '/a.',
      '/\u0000',
      '/ä',
    ];
    const { any: found, isFinal } = await json(top(...urls.map((url) => any(url, B))));
    assert.equal([found, isFinal], [urls.map((url) => ({ '@type': url, value: 'CgF0' })), true]);
    assert.equal(questions, []);
  }));

test('a node that hangs is waited for no longer than the request may take, and then left alone for a while', () =>
  withNode({ instead: () => 'silence' }, async ({ json, questions }) => {
    const { any: found, isFinal } = await json(top(any('/a.A', B)), 'proto3', 300);
    assert.equal([found, isFinal], [[{ '@type': '/a.A', value: 'CgF0' }], false]);
    await json(top(any('/a.A', B)));
    const asked = questions.length;
    assert.is((await json(top(any('/a.A', B)))).isFinal, false);
    assert.is(questions.length, asked);
  }));

const BAD: readonly (readonly [string, Partial<Manners>])[] = [
  ['offers no reflection', { versions: [] }],
  ['sends broken bytes', { instead: () => [Buffer.from([0x22, 0xff])] }],
  ['sends another file', { fileOf: () => 'd.proto' }],
  ['sends a file without what it imports', { files: new Map([...files].filter(([name]) => name !== 'b.proto')) }],
  ['sends nothing', { instead: () => [] }],
];

for (const [what, manners] of BAD)
  test(`a node that ${what}: the type is told by its bytes, and the rest of the reply is there`, () =>
    withNode(manners, async ({ json }) => {
      const { any: found } = await json(top(any('/a.A', B), any('/google.protobuf.Duration')));
      assert.equal(found, [
        { '@type': '/a.A', value: 'CgF0' },
        { '@type': '/google.protobuf.Duration', value: '0s' },
      ]);
    }));

test('a file of a known name that declares more than what is known of it is learned', () => {
  const older = compileProtos({ 'd.proto': 'syntax = "proto3"; package d; message Old { string x = 1; }' });
  const { registry } = readDescriptorSet(older);
  return reflectingNode({ ...GOOD, files, fileOf }).then(async (node) => {
    const channel = http2Channel({ upstream: `127.0.0.1:${node.port}` });
    const types = typeSource({ base: registry, channel });
    await types.make((unknown) => types.registry.getMessage('d.D') ?? unknown.add('d.D'), { deadlineMs: 600_000 });
    assert.is(types.registry.getMessage('d.D.Deep')?.typeName, 'd.D.Deep');
    assert.is(types.registry.getMessage('d.Old')?.typeName, 'd.Old');
    node.stop();
    await channel.close();
  });
});

test('without a node nobody is asked, and what was made is final', async () => {
  const types = typeSource({ base: known, channel: undefined });
  let calls = 0;
  const made = await types.make(
    (unknown) => {
      unknown.add('a.A');
      return ++calls;
    },
    { deadlineMs: 100 },
  );
  assert.equal(made, { value: 1, isFinal: true });
});

test.run();

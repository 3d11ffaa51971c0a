// The descriptors of a node by server reflection: whole, as they were sent, within bounds; over both kinds of channel.

import { createFileRegistry, fromBinary } from '@bufbuild/protobuf';
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import { Server } from '@grpc/grpc-js';
import { ReflectionService } from '@grpc/reflection';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { grpcChannel } from '../../lib/gateway/channel/grpc-channel.ts';
import { http2Channel } from '../../lib/gateway/channel/http2-channel.ts';
import { type ReflectionOptions, reflect } from '../../lib/gateway/descriptors/reflection.ts';
import { bound } from '../contract/grpc-node.ts';
import { FILES, filesReply, GOOD, HTTP_OPTION, HTTP_RULE, type Manners, reflectingNode } from './reflection-node.ts';
import { refusalOf } from './refusal.ts';

const test = suite('reflection');
const OPENERS = [http2Channel, grpcChannel];

async function reflected(manners: Partial<Manners>, options?: ReflectionOptions, open = http2Channel) {
  const node = await reflectingNode({ ...GOOD, ...manners });
  const channel = open({ upstream: `127.0.0.1:${node.port}` });
  try {
    return await reflect(channel, options);
  } finally {
    node.stop();
    await channel.close();
  }
}

const refusal = (manners: Partial<Manners>, options?: ReflectionOptions) => refusalOf(reflected(manners, options));

const namesOf = (descriptors: Uint8Array) =>
  fromBinary(FileDescriptorSetSchema, descriptors).file.map(({ name }) => name);

test('it gives the files of all services and of what they import, in an order that can be read', async () => {
  for (const open of OPENERS) {
    const { descriptors, services, missing } = await reflected({}, {}, open);
    assert.equal([services, missing], [['shop.Shop'], []]);
    assert.equal(namesOf(descriptors), ['unit.proto', 'item.proto', 'shop.proto']);
    const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, descriptors));
    assert.is(registry.getService('shop.Shop')?.methods[0]?.output.typeName, 'item.Item');
  }
});

test('the bytes of a file come through as they are, with options that nobody here knows', async () => {
  const { descriptors } = await reflected({});
  for (const file of FILES.values()) assert.ok(Buffer.from(descriptors).includes(Buffer.from(file)));
  const options = fromBinary(FileDescriptorSetSchema, descriptors).file[2]!.service[0]!.method[0]!.options!;
  const unknown = options.$unknown?.find(({ no }) => no === HTTP_OPTION);
  assert.ok(Buffer.from(unknown!.data).includes(Buffer.from(HTTP_RULE)));
});

test('it speaks v1, and v1alpha to a node that knows no other', async () => {
  for (const versions of [['v1'], ['v1alpha']] as const)
    assert.equal((await reflected({ versions })).services, ['shop.Shop']);
  const none = await refusal({ versions: [] });
  assert.equal([none.code, /does not offer reflection/.test(none.message)], ['ERR_SERVICE', true]);
});

test('it reads the service of reflection that grpc-js brings', async () => {
  const server = new Server();
  const definition = { shop: { fileDescriptorProtos: [...FILES.values()].map((file) => Buffer.from(file)) } };
  new ReflectionService(definition as never).addToServer(server);
  const channel = http2Channel({ upstream: `127.0.0.1:${await bound(server)}` });
  const { descriptors, services } = await reflect(channel);
  assert.equal([services, namesOf(descriptors)], [['shop.Shop'], ['unit.proto', 'item.proto', 'shop.proto']]);
  await channel.close();
  server.forceShutdown();
});

test('a node that sends everything at once, or a file many times, is the same to it', async () => {
  const everything = [...FILES.values(), ...FILES.values()];
  const { descriptors } = await reflected({
    instead: ({ field }) => (field === 4 ? [filesReply(everything)] : undefined),
  });
  assert.equal(namesOf(descriptors), ['unit.proto', 'item.proto', 'shop.proto']);
});

test('a file that others import and the node does not have is told, the rest is read', async () => {
  const files = new Map([...FILES].filter(([name]) => name !== 'unit.proto'));
  const { descriptors, missing } = await reflected({ files });
  assert.equal([missing, namesOf(descriptors)], [['unit.proto'], ['item.proto', 'shop.proto']]);
});

test('a service that the node names and does not describe is told, and the others are read', async () => {
  const { descriptors, left } = await reflected({ services: ['shop.Gone', 'shop.Shop', 'shop.Lost'] });
  assert.equal(namesOf(descriptors), ['unit.proto', 'item.proto', 'shop.proto']);
  assert.equal(
    left.map(({ field, error }) => [field, error]),
    [
      ['shop.Gone', 'code 5, no'],
      ['shop.Lost', 'code 5, no'],
    ],
  );
});

test('imports in a circle end', async () => {
  const item = new Uint8Array([...FILES.get('unit.proto')!, 0x1a, 10, ...Buffer.from('shop.proto')]);
  const { descriptors } = await reflected({ files: new Map([...FILES, ['unit.proto', item]]) });
  assert.is(namesOf(descriptors).length, 3);
});

test('a service without a file, broken bytes, a reply of the wrong kind are refused with the name of the node', async () => {
  const wrong: Partial<Manners>[] = [
    { services: ['shop.Gone'] },
    { instead: ({ field }) => (field === 4 ? [filesReply([Buffer.from([10, 200, 1])])] : undefined) },
    { instead: ({ field }) => (field === 4 ? [filesReply([new Uint8Array()])] : undefined) },
    { instead: ({ field }) => (field === 4 ? [Buffer.from([0x22, 0xff])] : undefined) },
    { instead: () => [new Uint8Array()] },
    { instead: ({ field }) => (field === 7 ? [filesReply([])] : undefined) },
    { instead: ({ field }) => (field === 4 ? [] : undefined) },
  ];
  for (const manners of wrong) {
    const error = await refusal(manners);
    assert.is(error.code, 'ERR_SERVICE', error.message);
    assert.match(error.message, /127\.0\.0\.1:\d+/);
    assert.match(error.message, /descriptor file/);
  }
});

test('more files or bytes than its bounds are refused, however they come', async () => {
  assert.is((await refusal({}, { maxFiles: 2 })).code, 'ERR_INPUT');
  assert.is((await refusal({}, { maxBytes: 100 })).code, 'ERR_INPUT');
  const imports = Array.from({ length: 500 }, (_, at) => [0x1a, 4, ...Buffer.from(`f${100 + at}`)]).flat();
  const greedy = new Map([...FILES, ['shop.proto', new Uint8Array([...FILES.get('shop.proto')!, ...imports])]]);
  assert.is((await refusal({ files: greedy }, { maxFiles: 100 })).code, 'ERR_INPUT');
});

test('a node that never answers, or never stops, costs no more than the deadline', async () => {
  const silent = await refusal({ instead: () => 'silence' }, { deadlineMs: 100 });
  assert.match(silent.message, /code 4/);
  const endless = Array.from({ length: 50 }, () => filesReply([FILES.get('unit.proto')!]));
  const { missing } = await reflected({ instead: ({ field }) => (field === 3 ? endless : undefined) });
  assert.equal(missing, ['item.proto']);
});

test('an abort ends it', async () => {
  const error = await refusal({ instead: () => 'silence' }, { signal: AbortSignal.timeout(50) });
  assert.match(error.message, /code 1 /);
});

test.run();

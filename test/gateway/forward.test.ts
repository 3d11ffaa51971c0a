// Headers of HTTP as metadata and back: only what is named goes either way.

import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Metadata } from '../../lib/gateway/channel.ts';
import { headersOf, metadataOf } from '../../lib/gateway/forward.ts';
import { metadataTrouble } from '../../lib/gateway/metadata.ts';

const test = suite('forwarded headers');

test('the height goes to the node under its name or with the prefix of grpc-gateway, which wins', () => {
  const height = (headers: Record<string, string>) => metadataOf(headers);
  const is = (value: string) => ({ kind: 'metadata', metadata: [['x-cosmos-block-height', value]] });
  assert.equal(height({ 'x-cosmos-block-height': '5' }), is('5'));
  assert.equal(height({ 'grpc-metadata-x-cosmos-block-height': '6' }), is('6'));
  assert.equal(height({ 'x-cosmos-block-height': '5', 'grpc-metadata-x-cosmos-block-height': '6' }), is('6'));
});

test('headers that nobody named never reach the node, whatever they are called', () => {
  const names = fc.oneof(
    fc.constantFrom('authorization', 'cookie', 'host', 'grpc-status', 'grpc-timeout', 'te', 'x-a', 'grpc-metadata-x-b'),
    fc.string({ unit: fc.constantFrom(...'abxgrpc-'), minLength: 1, maxLength: 20 }),
  );
  void fc.assert(
    fc.property(fc.dictionary(names, fc.string()), (headers) => {
      assert.equal(metadataOf(headers, ['x-named']), { kind: 'metadata', metadata: [] });
    }),
    { numRuns: 50 },
  );
});

test('bytes are decoded, each of several; what is not base64 is refused without its value', () => {
  const result = metadataOf({ 'grpc-metadata-x-a-bin': 'AP8=, AQ' }, ['x-a-bin']);
  assert.equal(result.kind === 'metadata' && result.metadata.map(([, value]) => [...(value as Buffer)]), [
    [0, 255],
    [1],
  ]);
  const broken = metadataOf({ 'x-a-bin': 'sec ret!' }, ['x-a-bin']);
  assert.is(broken.kind, 'refused');
  assert.not.match(JSON.stringify(broken), /sec/);
});

test('whatever the headers are, what goes to the node may be sent, or is refused', () => {
  const forward = ['x-a', 'x-b-bin', 'grpc-timeout', 'host', ':path'];
  const header = fc.constantFrom(...forward, 'x-cosmos-block-height');
  void fc.assert(
    fc.property(fc.dictionary(header, fc.string({ unit: 'binary', maxLength: 40 })), (headers) => {
      const result = metadataOf(headers, forward);
      if (result.kind === 'metadata') assert.is(metadataTrouble(result.metadata), undefined);
    }),
    { numRuns: 50 },
  );
});

test('the height and what is named come back, nothing else', () => {
  const metadata: Metadata = [
    ['x-cosmos-block-height', '7'],
    ['x-a', 'one'],
    ['x-a', 'two'],
    ['x-b-bin', Buffer.from([0, 255])],
    ['set-cookie', 'evil=1'],
    ['server', 'node 1.2'],
  ];
  assert.equal(headersOf(metadata, ['x-a', 'x-b-bin']), {
    'grpc-metadata-x-cosmos-block-height': '7',
    'x-cosmos-block-height': '7',
    'grpc-metadata-x-a': 'one, two',
    'grpc-metadata-x-b-bin': 'AP8=',
  });
});

test.run();

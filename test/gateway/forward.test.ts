// Headers of HTTP as metadata and back: only what is named goes either way.

import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  earlyTrailers,
  findMetadataProblem,
  type Metadata,
  toHeaders,
  toMetadata,
  toTrailers,
} from '../../lib/gateway/channel/metadata.ts';
import { withoutAddresses } from '../../lib/gateway/status.ts';

const test = suite('forwarded headers');

test('the height goes to the node under its name or with the prefix of grpc-gateway, which wins', () => {
  const height = (headers: Record<string, string>) => toMetadata(headers);
  const is = (value: string) => ({ kind: 'metadata', metadata: [['x-cosmos-block-height', value]] });
  assert.equal(height({ 'x-cosmos-block-height': '5' }), is('5'));
  assert.equal(height({ 'grpc-metadata-x-cosmos-block-height': '6' }), is('6'));
  assert.equal(height({ 'x-cosmos-block-height': '5', 'grpc-metadata-x-cosmos-block-height': '6' }), is('6'));
});

test('headers that nobody named or marked never reach the node, nor marked ones of the connection or of who asks', () => {
  const own = ['authorization', 'x-forwarded-for', 'host', 'grpc-status', 'grpc-timeout', 'te', 'content-type'];
  const names = fc.oneof(
    fc.constantFrom(...own, 'cookie', 'x-a', ...own.map((name) => `grpc-metadata-${name}`), 'grpc-metadata-'),
    fc.string({ unit: fc.constantFrom(...'abxgrpc-'), minLength: 1, maxLength: 20 }),
  );
  void fc.assert(
    fc.property(fc.dictionary(names, fc.string()), (headers) => {
      assert.equal(toMetadata(headers, ['x-named']), { kind: 'metadata', metadata: [] });
    }),
    { numRuns: 50 },
  );
});

test('whatever the headers are, what goes to the node may be sent, or is refused', () => {
  const forward = ['x-a', 'x-b-bin', 'grpc-timeout', 'host', ':path'];
  const header = fc.constantFrom(...forward, 'x-cosmos-block-height');
  void fc.assert(
    fc.property(fc.dictionary(header, fc.string({ unit: 'binary', maxLength: 40 })), (headers) => {
      const result = toMetadata(headers, forward);
      if (result.kind === 'metadata') assert.is(findMetadataProblem(result.metadata), undefined);
    }),
    { numRuns: 50 },
  );
});

const back = { named: ['x-a', 'x-b-bin'], clean: (text: string) => withoutAddresses(text, []) };

test('all metadata come back marked, the height under its own name too; addresses only in what is named', () => {
  const metadata: Metadata = [
    ['x-cosmos-block-height', '7'],
    ['x-a', 'one 10.0.0.1'],
    ['x-a', 'two'],
    ['x-b-bin', Buffer.from([0, 255])],
    ['set-cookie', 'evil=1'],
    ['server', 'node at 10.0.0.1'],
  ];
  assert.equal(toHeaders(metadata, back), {
    'grpc-metadata-x-cosmos-block-height': '7',
    'x-cosmos-block-height': '7',
    'grpc-metadata-x-a': 'one 10.0.0.1, two',
    'grpc-metadata-x-b-bin': 'AP8=',
    'grpc-metadata-set-cookie': 'evil=1',
    'grpc-metadata-server': 'node at address',
  });
  assert.equal(toTrailers([['x-b', '1']], back), { 'grpc-trailer-x-b': '1' });
  assert.equal(
    earlyTrailers(
      [
        ['x-a', '1'],
        ['x-b', '2'],
      ],
      back,
    ),
    [['x-a', '1']],
  );
});

test('what a header cannot hold does not come back, nor details, nor more than a bound', () => {
  const odd: Metadata = [
    ['x-a', 'a\u0001b'],
    ['x-c', 'ü'],
    ['grpc-status-details-bin', Buffer.from('x')],
    ['x-d', 'fine'],
  ];
  assert.equal(toHeaders(odd, back), { 'grpc-metadata-x-d': 'fine' });
  const many: Metadata = Array.from({ length: 100 }, (_, at) => [`x-${at}`, 'v'.repeat(1_000)]);
  assert.ok(JSON.stringify(toHeaders(many, back)).length < 20_000);
});

test('marked headers are metadata under the rest of their name; bytes are base64; too many or too large are refused', () => {
  const sent = toMetadata({ 'grpc-metadata-x-b': 'v', 'grpc-metadata-x-c-bin': 'AP8,AQ==', 'x-d': 'no' });
  assert.equal(sent, {
    kind: 'metadata',
    metadata: [
      ['x-b', 'v'],
      ['x-c-bin', Buffer.from([0, 255])],
      ['x-c-bin', Buffer.from([1])],
    ],
  });
  const refused: readonly (readonly [Record<string, string>, RegExp])[] = [
    [{ 'grpc-metadata-x-c-bin': 'A' }, /x-c-bin is not base64/],
    [{ 'grpc-metadata-x-c-bin': 'sec ret!' }, /^(?!.*sec).*x-c-bin is not base64/],
    [{ 'grpc-metadata-x-c-bin': 'AP8=AP8=' }, /x-c-bin is not base64/],
    [{ 'grpc-metadata-x-b': 'ü' }, /x-b is not printable ASCII/],
    [{ 'grpc-metadata-x-b': 'v'.repeat(20_000) }, /exceeds/],
    [{ 'grpc-metadata-a!b': 'v' }, /malformed/],
    [Object.fromEntries(Array.from({ length: 65 }, (_, at) => [`grpc-metadata-x-${at}`, 'v'])), /more than 64/],
  ];
  for (const [headers, why] of refused) {
    const result = toMetadata(headers);
    assert.match(result.kind === 'refused' ? result.message : '', why);
  }
});

test.run();

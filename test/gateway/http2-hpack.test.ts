// Headers of HTTP/2 are read and written as RFC 7541 says: its own examples, every byte, and node:http2 at the other end.

import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http2';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { http2Channel } from '../../lib/gateway/channel/http2-channel.ts';
import type { Metadata } from '../../lib/gateway/channel/metadata.ts';
import { BlockWriter, decodeFields, decodeHuffman } from '../../lib/gateway/http2/hpack.ts';
import { GATEWAY_LIMITS } from '../../lib/gateway/limits.ts';

const test = suite('http2 headers');
const hex = (text: string) => Buffer.from(text.replace(/\s/g, ''), 'hex');

/** Section of RFC 7541, appendix C → block in hex, and the fields in it. Of coded requests and plain answers there is node:http2. */
const EXAMPLES: { readonly [section: string]: readonly [block: string, fields: readonly string[]] } = {
  'C.2.1 literal with indexing': [
    '400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572',
    ['custom-key', 'custom-header'],
  ],
  'C.2.2 literal without indexing': ['040c 2f73 616d 706c 652f 7061 7468', [':path', '/sample/path']],
  'C.2.3 literal never indexed': ['1008 7061 7373 776f 7264 0673 6563 7265 74', ['password', 'secret']],
  'C.6.1 response, coded': [
    `4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b ff6e 919d 29ad 1718
     63c7 8f0b 97c8 e9ae 82ae 43d3`,
    [
      ...[':status', '302', 'cache-control', 'private', 'date', 'Mon, 21 Oct 2013 20:13:21 GMT'],
      ...['location', 'https://www.example.com'],
    ],
  ],
};

for (const [section, [block, fields]] of Object.entries(EXAMPLES))
  test(`${section} is read`, () => assert.equal(decodeFields(hex(block)), fields));

/** What must not be read → block in hex. */
const MALFORMED: { readonly [what: string]: string } = {
  'C.3.2 a field of the table that grows': '8286 84be 5808 6e6f 2d63 6163 6865',
  'a name of that table': '7e01 61',
  'index 0': '80',
  'a table of 1337 bytes (C.1.2)': '3f9a 0a',
  'a third change of the table': '2020 2082',
  'a change of the table after a field': '8220',
  'a number without an end': '0fff ffff ff',
  'a number longer than any length': '0fff ffff ffff 0f',
  'a number of zeros without an end': '0f80 8080 8080 00',
  'a name without a value': '0001 61',
  'a value that ends too early': '0001 6102 62',
  'a length that ends too early': '0001 617f',
  'the first byte of a field alone': '00',
  'padding of more than seven bits': '0001 6182 1fff',
  'padding of a whole byte': '0001 6181 ff',
  'padding that is not all ones': '0001 6181 18',
  'the code of the end of a text (30 bits)': '0001 6184 ffff ffff',
};

for (const [what, block] of Object.entries(MALFORMED))
  test(`${what} is malformed`, () => assert.is(decodeFields(hex(block)), 'malformed'));

test('a table of no bytes may be announced twice', () =>
  assert.equal(decodeFields(hex('2020 82')), [':method', 'GET']));

test('a list larger than the limit is refused, one of that size is read', () => {
  const listOf = (bytes: number) => {
    const writer = new BlockWriter(Buffer.alloc(bytes + 20));
    writer.field('a', 'x'.repeat(bytes - 33));
    return decodeFields(writer.bytes.subarray(0, writer.at));
  };
  assert.is((listOf(GATEWAY_LIMITS.grpcMetadataBytes) as string[])[1]!.length, GATEWAY_LIMITS.grpcMetadataBytes - 33);
  assert.is(listOf(GATEWAY_LIMITS.grpcMetadataBytes + 1), 'too large');
});

test('a block that stands for far more than it is long is refused when the limit is reached', () =>
  assert.is(decodeFields(Buffer.alloc(GATEWAY_LIMITS.grpcMetadataBytes, 0x82)), 'too large'));

// Byte → its code as in RFC 7541, appendix B, for those that cannot stand in a header, and some at the edges.
const CODES: { readonly [byte: number]: readonly [code: number, bits: number] } = {
  ...{ 0: [0x1ff8, 13], 1: [0x7fffd8, 23], 2: [0xfffffe2, 28], 8: [0xfffffe8, 28], 9: [0xffffea, 24] },
  ...{ 10: [0x3ffffffc, 30], 11: [0xfffffe9, 28], 13: [0x3ffffffd, 30], 22: [0x3ffffffe, 30], 23: [0xffffff3, 28] },
  ...{ 31: [0xffffffb, 28], 32: [0x14, 6], 48: [0x0, 5], 97: [0x3, 5], 127: [0xffffffc, 28], 128: [0xfffe6, 20] },
  ...{ 220: [0xffffffd, 28], 249: [0xffffffe, 28], 254: [0x7fffff0, 27], 255: [0x3ffffee, 26] },
};

test('bytes have the codes of the RFC, each with any padding that it may need', () => {
  for (const [byte, [code, bits]] of Object.entries(CODES)) {
    const padding = (8 - (bits % 8)) % 8;
    const padded = BigInt(code) * 2n ** BigInt(padding) + 2n ** BigInt(padding) - 1n;
    const coded = Buffer.from(padded.toString(16).padStart((bits + padding) / 4, '0'), 'hex');
    assert.is(decodeHuffman(coded), String.fromCharCode(Number(byte)), byte);
  }
});

const text = fc.string({ unit: fc.constantFrom(...'az09-_./ ~!"%:;=@'), maxLength: 300 });

test('what is written is read again', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(text, text), { maxLength: 20 }), (entries) => {
      const writer = new BlockWriter(Buffer.alloc(20_000));
      for (const [at, [name, value]] of entries.entries())
        if (at % 2) writer.field(name, value);
        else writer.secret(name, value);
      assert.equal(decodeFields(writer.bytes.subarray(0, writer.at)), entries.flat());
    }),
  );
});

test('node:http2 reads what is sent, and is read, with every byte that a header can hold', async () => {
  const seen: IncomingHttpHeaders[] = [];
  const server = createServer();
  server.on('stream', (stream, headers) => {
    seen.push(headers);
    const text = String(headers['x-all'] ?? '');
    stream.on('error', () => {});
    stream.respond({
      ':status': 200,
      'content-type': 'application/grpc',
      'grpc-status': '0',
      'x-back': text,
      'x-latin': LATIN,
    });
    stream.end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const channel = http2Channel({ upstream: `127.0.0.1:${(server.address() as AddressInfo).port}` });
  const lengths = [0, 1, 120, 126, 127, 128, 254, 255, 256, 4_000, 15_000];
  for (const length of lengths) {
    const value = PRINTABLE.repeat(Math.ceil(length / PRINTABLE.length))
      .slice(0, length)
      .trim();
    const metadata: Metadata = [
      ['x-all', value],
      ['x-bytes-bin', Buffer.from([0, 255, length % 256])],
    ];
    const answer = await channel.unary({ path: '/t/T', request: Buffer.alloc(0), metadata });
    const headers = seen.pop()!;
    assert.is(headers['x-all'], value, `${length}`);
    assert.is(headers['x-bytes-bin'], metadata[1]![1].toString('base64' as never).replace(/=+$/, ''));
    assert.equal(
      [headers[':method'], headers[':path'], headers[':scheme'], headers.te],
      ['POST', '/t/T', 'http', 'trailers'],
    );
    const found = new Map([...answer.headers, ...answer.trailers]);
    if (length < 15_000) assert.equal([found.get('x-back'), found.get('x-latin')], [value, LATIN], `${length}`);
  }
  await channel.close();
  server.close();
  await once(server, 'close');
});

const PRINTABLE = String.fromCharCode(...Array.from({ length: 95 }, (_, at) => at + 0x20)).trim();
const LATIN = String.fromCharCode(...Array.from({ length: 128 }, (_, at) => at + 0x80));

test.run();

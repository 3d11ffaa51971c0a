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
import cases from '../fixtures/gateway/hpack.json' with { type: 'json' };

const test = suite('http2 headers');
const hex = (text: string) => Buffer.from(text.replace(/\s/g, ''), 'hex');

// Examples of RFC 7541, appendix C, as blocks in hex. Of coded requests and plain answers there is node:http2.
for (const [section, [block, fields]] of Object.entries(
  cases.examples as unknown as { [name: string]: [string, string[]] },
))
  test(`${section} is read`, () => assert.equal(decodeFields(hex(block)), fields));

for (const [what, block] of Object.entries(cases.malformed))
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
test('bytes have the codes of the RFC, each with any padding that it may need', () => {
  // Those that cannot stand in a header, and some at the edges.
  for (const [byte, [code, bits]] of Object.entries(cases.codes as unknown as { [byte: string]: [number, number] })) {
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

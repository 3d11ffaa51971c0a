// Names that anybody may make us look up are asked of DNS, without a thread of the pool that files and stores need.

import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { dnsResolver, type Resolve } from '../../lib/http/hosts.ts';

const TYPE_A = 1;
const TYPE_AAAA = 28;
const ADDRESSES: { readonly [name: string]: { readonly [type: number]: readonly number[] } } = {
  'both.example': { [TYPE_A]: [93, 184, 215, 14], [TYPE_AAAA]: [0x26, 6, 0x47, 0, ...Array(10).fill(0), 0x11, 0x11] },
  'four.example': { [TYPE_A]: [93, 184, 215, 15] },
};

const test = suite('names in DNS');

// A name server (RFC 1035, 4.1) of ADDRESSES: nothing for another type, no such name for "gone.example", and no answer at all
// for any other name.
async function withNameServer(work: (resolve: Resolve) => Promise<void>): Promise<void> {
  const socket = createSocket('udp4');
  socket.on('message', (query, from) => {
    const { name, end } = readName(query);
    const type = query.readUInt16BE(end);
    if (ADDRESSES[name] === undefined && name !== 'gone.example') return;
    socket.send(writeAnswer(query.subarray(0, end + 4), ADDRESSES[name]?.[type], name), from.port, from.address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  try {
    await work(dnsResolver({ servers: [`127.0.0.1:${socket.address().port}`], tryMs: 200 }));
  } finally {
    socket.close();
  }
}

function readName(query: Buffer): { readonly name: string; readonly end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), end: at + 1 };
}

function writeAnswer(question: Buffer, address: readonly number[] | undefined, name: string): Buffer {
  const head = Buffer.from(question);
  head.writeUInt16BE(name === 'gone.example' ? 0x8183 : 0x8180, 2);
  head.writeUInt16BE(address ? 1 : 0, 6);
  head.writeUInt32BE(0, 8);
  if (!address) return head;
  const type = address.length === 4 ? TYPE_A : TYPE_AAAA;
  return Buffer.concat([head, Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 0, 0, address.length, ...address])]);
}

async function codeOfRefusal(looked: Promise<unknown>): Promise<string> {
  return looked.then(
    () => 'found',
    (error) => error.code,
  );
}

test('a name leads to its addresses of both kinds, or of the one that it has', async () => {
  await withNameServer(async (resolve) => {
    assert.equal(await resolve('both.example'), [
      { address: '93.184.215.14', family: 4 },
      { address: '2606:4700::1111', family: 6 },
    ]);
    assert.equal(await resolve('four.example'), [{ address: '93.184.215.15', family: 4 }]);
  });
});

test('a name that does not exist, and one that the hosts file alone knows, is refused with the code of DNS', async () => {
  await withNameServer(async (resolve) => {
    assert.is(await codeOfRefusal(resolve('gone.example')), 'ENOTFOUND');
    assert.is(await codeOfRefusal(resolve('localhost')), 'ETIMEOUT');
  });
});

test('names that no server answers hold no thread, and each is given up', async () => {
  await withNameServer(async (resolve) => {
    const looks = Array.from({ length: 64 }, (_, number) => codeOfRefusal(resolve(`silent-${number}.example`)));
    assert.not(process.getActiveResourcesInfo().includes('GetAddrInfoReqWrap'), 'no look-up of the system runs');
    assert.equal(new Set(await Promise.all(looks)), new Set(['ETIMEOUT']));
  });
});

test.run();

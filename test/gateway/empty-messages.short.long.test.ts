// A node that sends empty messages by the million, five bytes each, through the server to slow and to fast readers.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { FLAG, FRAME, SETTING } from '../../lib/gateway/http2/protocol.ts';
import { choosePairs, chooseSize, isShort } from '../support/size.ts';
import { until } from '../support/until.ts';
import { data, GREETING, head, messageOf, type Peer, rawFrame, rawNode } from './raw-node.ts';
import { SHAPES_SET } from './shapes.ts';
import { TURNS, type Watched, withWatched } from './watched.ts';

const test = suite('empty messages');

const EMPTIES = 3_000;
const MESSAGES = Buffer.concat(Array.from({ length: EMPTIES }, () => messageOf('')));
const LOOKS = chooseSize({ short: 20, day: 100, whole: 300 });

interface Pump {
  /** Messages that were sent. */
  sent: number;
  stop(): void;
}

/** Sends for as long as the windows of the connection and of the stream allow. */
function pump(peer: Peer, id: number): Pump {
  let window = 65_535;
  let streamWindow = firstWindow(peer);
  let seen = 0;
  const more = () => {
    for (; seen < peer.frames.length; seen++) {
      const { type, id: on, payload } = peer.frames[seen]!;
      if (type !== FRAME.window) continue;
      if (on === 0) window += payload.readUInt32BE();
      else if (on === id) streamWindow += payload.readUInt32BE();
    }
    for (let frames = 0; frames < 20 && Math.min(window, streamWindow) >= MESSAGES.length; frames++) {
      peer.send(data(id, MESSAGES));
      window -= MESSAGES.length;
      streamWindow -= MESSAGES.length;
      made.sent += EMPTIES;
    }
  };
  const timer = setInterval(more, 2);
  const made: Pump = { sent: 0, stop: () => clearInterval(timer) };
  return made;
}

/** The window of each stream as the client's settings say. */
function firstWindow({ frames }: Peer): number {
  const { payload } = frames.find(({ type, flags }) => type === FRAME.settings && flags === 0)!;
  for (let at = 0; at < payload.length; at += 6)
    if (payload.readUInt16BE(at) === SETTING.window) return payload.readUInt32BE(at + 2);
  return 65_535;
}

async function withFlood(channel: string, work: Reader): Promise<void> {
  let running: Pump | undefined;
  const node = await rawNode({
    // Node's own HTTP/2 holds to its settings only when the other side has said that it does.
    greet: (peer) => peer.send(GREETING, rawFrame(FRAME.settings, FLAG.ack, 0)),
    request: (peer, id) => {
      peer.send(head(id));
      running = pump(peer, id);
    },
  });
  const settings = { upstream: `127.0.0.1:${node.port}`, channel };
  try {
    await withWatched(settings, SHAPES_SET, (server) => work(server, () => running?.sent ?? 0));
  } finally {
    running?.stop();
    await node.stop();
  }
}

/** The server serves others for a while, and never stands still. */
async function isServing(server: Watched): Promise<void> {
  await server.look();
  for (let looks = 0; looks < LOOKS; looks++) assert.is((await server.ask('/livez')).status, 200);
  const { turns, rssMb } = await server.look();
  assert.ok(turns < TURNS, `the event loop stood still for ${turns} units`);
  assert.ok(rssMb < 600, `${rssMb} MB`);
}

type Reader = (server: Watched, sent: () => number) => Promise<void>;

/** What a reader does → what shows that nobody else suffers. */
const READERS: { readonly [what: string]: Reader } = {
  'who takes nothing stops the node': async (server, sent) => {
    const answer = await server.open('/shapes/x/follow');
    await isServing(server);
    let [before, same] = [0, 0];
    await until('the node sends no more', () => {
      same = sent() === before ? same + 1 : 0;
      before = sent();
      return before > 0 && same === 10;
    });
    assert.ok(before < 1_000_000, `${before} messages`);
    answer.destroy();
  },
  'who takes all leaves the server to others': async (server, sent) => {
    const answer = await server.open('/shapes/x/follow');
    let bytes = 0;
    answer.on('error', () => {}).on('data', (chunk: Buffer) => (bytes += chunk.length));
    await isServing(server);
    await until('a million bytes of messages', () => bytes > 1_000_000);
    assert.ok(sent() > 3 * EMPTIES);
    answer.destroy();
  },
};

const CHANNELS = ['http2', 'grpc-js'];
// In short size each on one of the channels, in turn.
const pairs = isShort
  ? choosePairs(Object.entries(READERS), CHANNELS)
  : CHANNELS.flatMap((channel) => Object.entries(READERS).map((one) => [one, channel] as const));
for (const [[what, read], channel] of pairs) test(`${channel}: a reader ${what}`, () => withFlood(channel, read));

test.run();

// The door of sockets, for packets at random: each is a frame of a WebSocket whose user is known, and of one who is not.

import { once } from 'node:events';
import { WebSocket } from 'ws';
import { ground, newSession } from '../agent/ground.ts';
import { newUser, openPlace, openTab, type Tab } from '../server/sockets/ground.ts';
import { until } from '../support/until.ts';
import type { Reader } from './packets.ts';

const PACKETS = [
  '42["ping"]',
  '421["ping"]',
  '42["subscribe",{"sessionId":"a"}]',
  '42["list-events",{"after":1}]',
  '427["tool_result",{"toolCallId":"a","output":{"b":[1,null]}}]',
  '42["action_call_result",{"toolCallId":"a","error":"x"}]',
  '451-["tool_result",{"_placeholder":true,"num":0}]',
  '431[1]',
  '40/x,{"a":1}',
  '41',
  '2probe',
  '3',
  '5',
];

export interface SocketReader {
  readonly reader: Reader;
  close(): Promise<void>;
}

/** A server with an agent behind its sockets; each packet goes to a connection of its own. */
export async function openSocketReader(): Promise<SocketReader> {
  const here = ground();
  const ann = newUser(here);
  const place = await openPlace({ here });
  const session = await newSession(place.agent, ann.did);
  let tab = await openNeighbour();
  const url = `${place.url.replace('http', 'ws')}/socket.io/?EIO=4&transport=websocket&sessionId=${session}`;

  /** The connection of another one, which no packet may disturb. */
  async function openNeighbour(): Promise<Tab> {
    const opened = openTab(place.url, { query: { sessionId: session }, auth: { invocation: await ann.invocation() } });
    await until('greeted', () => opened.heard.length > 0);
    return opened;
  }

  async function read(packet: Buffer): Promise<string> {
    // What ended it was a finding of an earlier packet, or a pause of the machine: it says nothing about this packet.
    if (!tab.socket.connected) tab = await openNeighbour();
    const invocation = await ann.invocation();
    const wire = new WebSocket(url);
    const heard: string[] = [];
    let isClosed = false;
    wire.on('message', (data) => heard.push(`${data}`)).on('error', () => {});
    wire.on('close', () => (isClosed = true));
    await once(wire, 'open');
    // Of a stranger, the first packet; of a user, one after the welcome.
    if (packet.length % 4) {
      wire.send(`40${JSON.stringify({ invocation })}`);
      await until('welcome', () => isClosed || heard.some((one) => one.startsWith('42')));
    }
    wire.send(packet.length % 3 ? packet.toString('utf8') : packet);
    wire.send('429["ping"]');
    wire.close();
    if (!isClosed) await once(wire, 'close');
    await pong(tab);
    if (place.problems.length) throw new Error(`logged: ${place.problems.splice(0).join()}`);
    if (heard.some((one) => one.includes(invocation))) throw new Error('a token is told');
    return heard.map((one) => one.slice(0, 2)).join();
  }

  return {
    reader: {
      seeds: PACKETS.map((one) => Buffer.from(one)),
      pieces: [
        '"__proto__":1',
        '{"_placeholder":true,"num":9}',
        '[',
        '{',
        '1e999',
        '-',
        '/a,',
        '4',
        '2',
        '\u001e',
        'null',
      ],
      cost: 60,
      mostMs: 2_000,
      waits: true,
      read,
    },
    async close() {
      tab.close();
      await place.close();
    },
  };
}

/** Resolves when the socket was answered; rejects when it was disconnected before that. */
async function pong({ socket }: Tab): Promise<void> {
  const ended = new AbortController();
  const gone = once(socket as never, 'disconnect', { signal: ended.signal }).then(([why]) => {
    throw new Error(`the neighbour was disconnected: ${why}`);
  });
  gone.catch(() => {});
  await Promise.race([socket.emitWithAck('ping'), gone]);
  ended.abort();
}

// Frames of a reply on their way to readers: CPU beside raw server-sent events.

import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { type Agent, openAgent } from '../../lib/agent/agent.ts';
import type { ResponderPart } from '../../lib/agent/responder.ts';
import { lmdbLogs } from '../../lib/store/lmdb/index.ts';
import { memoryChannel } from '../../lib/store/memory/index.ts';
import { sqliteDocuments } from '../../lib/store/sqlite/index.ts';
import { sseText } from '../../server/agent/message-routes.ts';
import { median, type Row, us } from './measure.ts';
import { cpuUs, start, stop, type Target } from './target.ts';

export interface Place {
  readonly folder: string;
  /** The user who asks. */
  readonly did: string;
  /** A token of that user. */
  readonly mint: () => Promise<string>;
  /** Starts a server that keeps its data in this folder of the folder. */
  readonly open: (data: string) => Promise<Target>;
}

const FLOOR = join(process.cwd(), 'test/bench/floor.mjs');
const FRAMES = 20_000;
const READERS = 8;
const WARM_UP = 2;
const ROUNDS = 5;

/** Another process on the same folder: it writes a reply that the server under test reads only. */
async function writer({ folder, did }: Place, data: string, parts: () => AsyncIterable<ResponderPart>) {
  const at = (name: string) => join(folder, data, name);
  const documents = sqliteDocuments({ path: at('twinline.db') });
  const logs = lmdbLogs({ path: at('runs') });
  const agent = await openAgent({
    ...{ documents, logs, channel: memoryChannel() },
    responder: { name: 'bench', isResumable: false, respond: parts },
    oracle: { name: 'bench', did, entityDid: did },
  });
  const { sessionId: session } = await agent.sessions.create(did);
  const sent = await agent.send({ owner: did, session, requestId: 'bench', request: { message: 'hi' } });
  if (sent.kind !== 'accepted') throw new Error(`the message was not accepted: ${sent.kind}`);
  const close = async () => {
    await agent.close();
    await Promise.all([documents.close(), logs.close()]);
  };
  return { agent, run: sent.run.runId, close };
}

export async function frameRows(place: Place): Promise<Row[]> {
  const target = await place.open('frames');
  // Reasoning is not gathered into larger frames, as text is.
  const { agent, run, close } = await writer(place, 'frames', async function* () {
    for (let at = 0; at < FRAMES; at++) yield { type: 'reasoning', text: ` and then number ${at}` };
  });
  await agent.idle();
  const frames = await framesOf(agent, { did: place.did, run });
  await close();
  const file = join(place.folder, 'frames.json');
  writeFileSync(file, JSON.stringify(frames));
  const floor = await start([FLOOR, 'sse', file]);
  const headers = await tokenOf(place);
  const samples: [number[], number[], number[], number[]] = [[], [], [], []];
  try {
    for (let round = 0; round < WARM_UP + ROUNDS; round++)
      for (const [at, { port, path, of }] of [
        { port: target.port, path: `/runs/${run}`, of: target },
        { port: floor.port, path: '/', of: floor },
      ].entries()) {
        const [cpu, from] = [cpuUs(of), performance.now()];
        const read = await Promise.all(
          Array.from({ length: READERS }, async () => drained(await opened({ port, path, headers }))),
        );
        if (read.some((count) => count !== frames.length)) throw new Error(`read ${read} of ${frames.length} frames`);
        if (round < WARM_UP) continue;
        samples[at]!.push((cpuUs(of) - cpu) / READERS / frames.length);
        samples[at + 2]!.push(frames.length / ((performance.now() - from) / 1_000));
      }
  } finally {
    await Promise.all([target, floor].map(stop));
  }
  const [own, raw, perSecond, rawPerSecond] = samples.map(median) as [number, number, number, number];
  const rate = (count: number) => `${Math.round(count / 1_000)}k/s`;
  return [
    {
      what: `frame of a reply, to each of ${READERS} readers at once, against node:http writing the same frames from memory`,
      measured: `${us(own)}, ${rate(perSecond)} · ${us(raw)}, ${rate(rawPerSecond)}`,
      ratio: own / raw,
      target: undefined,
    },
  ];
}

async function framesOf(agent: Agent, { did, run }: { did: string; run: string }): Promise<string[]> {
  const frames: string[] = [];
  for await (const some of (await agent.follow({ owner: did, runId: run }))!.frames) frames.push(...some.map(sseText));
  return frames;
}

async function tokenOf({ mint }: Place): Promise<{ readonly [name: string]: string }> {
  return { authorization: `Bearer ${await mint()}`, 'x-auth-type': 'ucan' };
}

interface Where {
  readonly port: number;
  readonly path: string;
  readonly headers: { readonly [name: string]: string };
}

async function opened({ port, path, headers }: Where): Promise<IncomingMessage> {
  const [answer] = (await once(get({ host: '127.0.0.1', port, path, headers, agent: false }), 'response')) as [
    IncomingMessage,
  ];
  if (answer.statusCode !== 200) throw new Error(`${path}: ${answer.statusCode}`);
  return answer;
}

/** Reads to the end, or to where it was cut; how many whole frames. */
async function drained(answer: IncomingMessage): Promise<number> {
  let [count, rest] = [0, ''];
  answer.setEncoding('latin1');
  try {
    for await (const chunk of answer) {
      const parts = (rest + chunk).split('\n\n');
      rest = parts.pop()!;
      for (const part of parts) if (part.startsWith('event: ') && !part.startsWith('event: shutdown')) count++;
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ECONNRESET') throw error;
  }
  return count;
}

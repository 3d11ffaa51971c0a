// What watching costs: a USSD turn with the hub asleep against none at all, and turns while ten viewers look on.

import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Inspector } from '../../lib/engine/conversation.ts';
import { createEngine } from '../../lib/engine/engine.ts';
import { compileFlow } from '../../lib/flow/run/compile.ts';
import { parseKeyring } from '../../lib/keyring.ts';
import { memorySnapshots } from '../../lib/store/memory/index.ts';
import { ussdService } from '../../lib/ussd/service.ts';
import { feed } from '../../server/web/inspector/feed.ts';
import { createHub } from '../../server/web/inspector/hub.ts';
import { menuFlow } from './flows.ts';
import { type Case, measure, median, type Row, us } from './measure.ts';

const KEYRING = parseKeyring(randomBytes(32).toString('hex'));
const SECRET = Buffer.alloc(32);
const VIEWERS = 10;
const WALK = ['', '1', '1*1', '1*1*1', '1*1*1*1', '1*1*1*1*1'];

export async function inspectorRows(): Promise<Row[]> {
  const asleep = createHub({ secret: SECRET });
  const cases = [turns('no hub', undefined), turns('a hub that nobody watches', asleep)];
  const [without, idle] = await measure(cases, { count: 6_000, rounds: 31 });
  const [alone, watched] = await latencies();
  return [
    {
      what: 'CPU of a USSD turn, memory store, with the hub asleep, against an engine without a hub',
      measured: `${us(idle!.cpuUs)} · ${us(without!.cpuUs)}`,
      ratio: idle!.cpuUs / without!.cpuUs,
      target: { atMost: 1.02 },
    },
    {
      what: `time of a USSD turn at the median, ${VIEWERS} viewers reading over HTTP, against nobody watching`,
      measured: `${us(watched!)} · ${us(alone!)}`,
      ratio: watched! / alone!,
      target: { atMost: 1.5 },
    },
  ];
}

const flow = compileFlow(menuFlow(100));

function phone(inspector: Inspector | undefined) {
  const engine = createEngine({ store: memorySnapshots(), conversations: [flow], keyring: KEYRING, inspector });
  const gateway = ussdService({ engine, flow: flow.id, keyring: KEYRING });
  return (at: number) => {
    const session = Math.floor(at / WALK.length);
    const text = WALK[at % WALK.length]!;
    const phoneNumber = `+2607${10_000_000 + session}`;
    const caller = { serviceCode: '*2233#', phoneNumber, mode: 'cumulative', event: 'turn' } as const;
    return gateway.turn({ sessionId: `s${session}`, text, ...caller }, 'africastalking');
  };
}

function turns(name: string, inspector: Inspector | undefined): Case {
  const turn = phone(inspector);
  let at = 0;
  return {
    name,
    run: async (count) => {
      for (const end = at + count; at < end; at++) await turn(at);
    },
  };
}

const ROUNDS = 9;
const TURNS = 1_000;
/** Between two turns, so that what is collected is also sent while they are taken: 1,000 turns a second. */
const PAUSE_MS = 1;

// Round by round, so that a busy machine slows both alike. Viewers are on sockets, as in service.
async function latencies(): Promise<number[]> {
  const hub = createHub({ secret: SECRET });
  const server = createServer(async (_req, res) => {
    const ended = new AbortController();
    res.once('close', () => ended.abort());
    const openSessions = async function* () {};
    const source = { hub, machines: { definition: () => '{}' }, openSessions, now: Date.now };
    res.writeHead(200);
    for await (const batch of feed(source, { signal: ended.signal })) res.write(batch.join('\n'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const ended = new AbortController();
  const read = async () => {
    const { body } = await fetch(`http://127.0.0.1:${port}`, { signal: ended.signal });
    for await (const _chunk of body!);
  };
  const samples: [number[], number[]] = [[], []];
  const turn = [phone(undefined), phone(hub)] as const;
  const reading = Array.from({ length: VIEWERS }, () => read().catch(() => {}));
  while (hub.viewers < VIEWERS) await new Promise((resolve) => setTimeout(resolve, 5));
  for (let round = 0; round < ROUNDS; round++)
    for (const which of [0, 1] as const) {
      const times: number[] = [];
      for (let at = 0; at < TURNS; at++) {
        const begun = performance.now();
        await turn[which](round * TURNS + at);
        times.push((performance.now() - begun) * 1_000);
        if (at % 10 === 0) await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      }
      samples[which].push(median(times));
    }
  ended.abort();
  await Promise.all(reading);
  hub.close();
  server.close();
  return samples.map(median);
}

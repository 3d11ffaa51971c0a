// `npm run bench -- peers`: a turn beside the same promise written by hand for one menu, and beside the floors of both, in one run.

import { quartiles, type Row, us } from '../measure.ts';
import { type Line, type LineCost, lineCosts } from './rounds.ts';
import { onSite } from './site.ts';

/** Two screens, to and fro: what the menu by hand has, too. */
const TEXTS = ['', '1', '1*0', '1*0*1', '1*0*1*0', '1*0*1*0*1', '1*0*1*0*1*0', '1*0*1*0*1*0*1'];

export function peerRows(): Promise<Row[]> {
  return onSite(async (site) => {
    const byHand = (kind: string) => site.peer('by-hand.mjs', kind, TEXTS);
    const floor = (kind: string) => site.peer('store-floor.mjs', kind, TEXTS);
    const lines = [
      await site.ours('lmdb', { texts: TEXTS }),
      await byHand('lmdb'),
      await floor('lmdb'),
      await site.redis('redis', { texts: TEXTS }),
      await byHand('redis'),
      await floor('redis-read'),
      await floor('redis'),
    ];
    for (const at of [1, 4]) await assertSameScreens(lines[at - 1]!, lines[at]!);
    const [lmdb, lmdbByHand, lmdbFloor, redis, redisByHand, redisReadFloor, redisFloor] = await lineCosts(lines);
    return [
      row('turn on LMDB, durable, against the same promise by hand', [lmdb!, lmdbByHand!], {
        target: { atMost: 1.05 },
        bar: 'Twinline, LMDB',
      }),
      row('by hand on LMDB (Koa, XState), against node:http with one durable put', [lmdbByHand!, lmdbFloor!], {
        bar: 'by hand, LMDB',
      }),
      row('turn on Redis, with the CPU of Redis, against the same promise by hand', [redis!, redisByHand!], {
        target: { atMost: 1.1 },
        bar: 'Twinline, Redis',
      }),
      row('by hand on Redis, against node:http with GET and EVALSHA', [redisByHand!, redisReadFloor!], {
        bar: 'by hand, Redis',
      }),
      row('node:http with GET and EVALSHA, against node:http with EVALSHA alone', [redisReadFloor!, redisFloor!], {
        bar: 'node:http, GET and EVALSHA',
      }),
    ];
  });
}

/** Fails when the two servers do not say the same, word for word. */
async function assertSameScreens(...lines: readonly [Line, Line]): Promise<void> {
  for (const text of TEXTS) {
    const [ours, theirs] = await Promise.all(lines.map(({ target }) => dial(target.port, text)));
    if (ours !== theirs) throw new Error(`After "${text}" one says ${ours}, the other ${theirs}`);
  }
}

async function dial(port: number, text: string): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}/api/ussd`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ sessionId: 'compared', serviceCode: '*2233#', phoneNumber: '+260971234567', text }),
  });
  return response.text();
}

interface RowOptions extends Pick<Partial<Row>, 'target'> {
  readonly bar: string;
}

function row(what: string, [own, other]: readonly [LineCost, LineCost], { target, bar: name }: RowOptions): Row {
  const ratios = own.rounds.map((cost, at) => (cost + own.alsoUs) / (other.rounds[at]! + other.alsoUs));
  const { low, middle, high } = quartiles(ratios);
  const cost = ({ rounds, alsoUs }: LineCost) => quartiles(rounds).middle + alsoUs;
  return {
    what,
    measured: `${us(cost(own))} · ${us(cost(other))}`,
    ratio: middle,
    spread: `${low.toFixed(2)}–${high.toFixed(2)}`,
    target,
    bar: { name, us: cost(own), ...(name.startsWith('Twinline') && { isOurs: true }) },
  };
}

// Whole USSD turns of the built server: against the floors, with other flows, with more callers, and with more stored sessions.

import { join } from 'node:path';
import { quartiles, type Row, us } from '../measure.ts';
import { type LineCost, lineCosts } from './rounds.ts';
import { FEW, onSite } from './site.ts';
import { storeSessions } from './stored.ts';

// Of a flow of 100 menus with a condition and a variable each; none of its texts ends the session.
const WALK = ['', '1', '1*2', '1*2*3', '1*2*3*4', '1*2*3*4*5', '1*2*3*4*5*1', '1*2*3*4*5*1*2'];
const MANY = 200_000;

/** `npm run bench -- ussd`: a turn against the floors. */
export function ussdRows(): Promise<Row[]> {
  return onSite(async (site) => {
    const [raw, koa, builder, lmdb, redis, walk, memory] = await lineCosts([
      await site.floor('raw'),
      await site.floor('koa'),
      await site.floor('ussd-menu-builder'),
      await site.ours('lmdb'),
      await site.redis('redis'),
      await site.ours('walk', { texts: WALK, env: site.flow() }),
      await site.ours('memory', { env: { DATA_DIR: ':memory:' } }),
    ]);
    const share = (what: string, own: LineCost, rest: Partial<Row> = {}) => row(what, [raw!, own], rest);
    const ours = (name: string, cost: LineCost) => ({ bar: { name, us: quartiles(cost.rounds).middle, isOurs: true } });
    const peer = (name: string, cost: LineCost) => ({ bar: { name, us: quartiles(cost.rounds).middle } });
    return [
      share('USSD turn, embedded store, durable, against raw node:http POST', lmdb!, {
        target: { atLeast: 0.25 },
        before: '0.16–0.18',
        ...ours('Twinline, LMDB', lmdb!),
      }),
      share(
        `USSD turn, Redis (append-only, every second), against raw node:http POST; and ${us(redis!.alsoUs)} in Redis`,
        redis!,
        { target: { atLeast: 0.25 }, before: '0.19', ...ours('Twinline, Redis', redis!) },
      ),
      share('the same on the embedded store with a flow of 100 menus, with conditions and variables', walk!),
      share('USSD turn, memory store, against raw node:http POST', memory!, ours('Twinline, memory', memory!)),
      share(
        'peer: ussd-menu-builder on node:http, nothing stored, against raw node:http POST',
        builder!,
        peer('ussd-menu-builder', builder!),
      ),
      share(
        'peer: Koa + router + body parser, nothing stored, against raw node:http POST',
        koa!,
        peer('Koa, nothing stored', koa!),
      ),
      row(
        'USSD turn, embedded store, durable, against Koa + router + body parser',
        [koa!, lmdb!],
        peer('node:http', raw!),
      ),
    ];
  });
}

const CALLERS = `turn with ${MANY.toLocaleString('en')} callers who take turns at random against ${FEW.toLocaleString('en')}`;

/** `npm run bench -- callers`: the same turns with more callers. */
export function callersRows(): Promise<Row[]> {
  return onSite(async (site) => {
    const [few, many, fewShared, manyShared] = await lineCosts([
      await site.ours('few'),
      await site.ours('many', { callers: MANY }),
      await site.redis('few-redis'),
      await site.redis('many-redis', { callers: MANY }),
    ]);
    return [
      row(`${CALLERS}, LMDB`, [many!, few!], { target: { atMost: 1.25 }, before: '2.17' }),
      row(`${CALLERS}, Redis`, [manyShared!, fewShared!], { target: { atMost: 1.25 }, before: '2.53' }),
    ];
  });
}

const STORED = 1_000_000;
const ACTIVE = 50_000;

/** `npm run bench -- stored`: the same turns with more sessions in the store. */
export function storedRows(): Promise<Row[]> {
  return onSite(async (site) => {
    await storeSessions(join(site.folder, 'million'), STORED);
    const [few, million] = await lineCosts([await site.ours('few'), await site.ours('million', { callers: ACTIVE })]);
    const what = `turn (LMDB, durable) of ${ACTIVE.toLocaleString('en')} callers with ${STORED.toLocaleString('en')} stored sessions`;
    return [
      row(`${what} against ${FEW.toLocaleString('en')} callers and no more sessions than theirs`, [million!, few!], {
        target: { atMost: 1.3 },
        before: 'not measured',
      }),
    ];
  });
}

/** The ratio of the first to the second, round by round. */
function row(what: string, [first, second]: readonly [LineCost, LineCost], rest: Partial<Row> = {}): Row {
  const { low, middle, high } = quartiles(first.rounds.map((cost, at) => cost / second.rounds[at]!));
  // Where the floor comes first, the ratio is a share of it; the table always shows ours first.
  const [own, floor] = rest.target && 'atMost' in rest.target ? [first, second] : [second, first];
  return {
    what,
    measured: `${us(quartiles(own.rounds).middle)} · ${us(quartiles(floor.rounds).middle)}`,
    ratio: middle,
    spread: `${low.toFixed(2)}–${high.toFixed(2)}`,
    target: undefined,
    ...rest,
  };
}

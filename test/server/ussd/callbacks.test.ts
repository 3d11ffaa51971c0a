// Calls that wait for a callback: one POST answers the call, and whatever else is posted has a status of its own and changes nothing.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SimulatedClock } from '../../../lib/clock.ts';
import type { ServiceCall, Services } from '../../../lib/engine/service.ts';
import { TwinlineError } from '../../../lib/errors.ts';
import { USSD_LIMITS } from '../../../lib/ussd/limits.ts';
import { until } from '../../support/until.ts';
import { type AskOptions, DIAL, json, type Served, withServer } from '../support/serve.ts';

const test = suite('callbacks');

const SHOP = {
  flow: 'shop',
  version: 1,
  start: 'amount',
  keys: { exit: '*' },
  vars: { amount: { type: 'string', max: 8 }, paid: { type: 'object' } },
  screens: {
    amount: { type: 'input', text: 'Amount?', save: 'amount', to: 'pay' },
    pay: {
      type: 'call',
      service: 'pay.push',
      answer: 'callback',
      timeout: '2m',
      with: { amount: '=amount', told: 'at {callbackUrl}', tell: '=callbackUrl' },
      save: 'paid',
      done: [{ when: 'paid.receipt != null', to: 'thanks' }, { to: 'unpaid' }],
      fail: [{ when: "error.code == 'ERR_TIMEOUT'", to: 'late' }, { to: 'unpaid' }],
    },
    thanks: {
      type: 'end',
      text: 'Paid: {{paid.receipt}}',
      after: [{ service: 'note', with: { paid: '=paid.receipt' } }],
    },
    unpaid: { type: 'end', text: 'Not paid.' },
    late: { type: 'end', text: 'Nobody has confirmed.' },
  },
};
const PUBLIC_URL = 'https://ussd.example.com';

interface Shop {
  readonly server: Served;
  readonly clock: SimulatedClock;
  readonly calls: { readonly input: unknown; readonly url: string }[];
  readonly notes: unknown[];
  /** Dials and asks to pay; the path that answers the call. */
  order(sessionId: string): Promise<string>;
  look(sessionId: string): Promise<string>;
}

async function withShop(work: (shop: Shop) => Promise<void>, refuse = false): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'twinline-callbacks-'));
  writeFileSync(join(folder, 'shop.flow.json'), JSON.stringify(SHOP));
  const clock = new SimulatedClock();
  const calls: Shop['calls'] = [];
  const notes: unknown[] = [];
  const services: Services = {
    'pay.push': async (input, { callbackUrl }: ServiceCall) => {
      calls.push({ input, url: callbackUrl! });
      if (refuse) throw new TwinlineError('ERR_SERVICE', `Refused: ${callbackUrl}`);
      return null;
    },
    note: async (input) => void notes.push(input) as never,
  };
  const env = { MENUS_DIR: folder, USSD_FLOW: 'shop', PUBLIC_URL, LOG_LEVEL: 'trace' };
  try {
    await withServer({ env, clock, parts: { services } }, async (server) => {
      const order: Shop['order'] = async (sessionId) => {
        assert.is(await server.ussd({ ...DIAL, sessionId }), 'CON Amount?');
        assert.match(await server.ussd({ ...DIAL, sessionId, text: '50' }), /^CON Please wait/);
        return calls.at(-1)!.url.slice(PUBLIC_URL.length);
      };
      let turns = 0;
      const look: Shop['look'] = (sessionId) => server.ussd({ ...DIAL, sessionId, text: `50${'*1'.repeat(++turns)}` });
      await work({ server, clock, calls, notes, order, look });
      const said = JSON.stringify(server.logged) + (await server.ask('/metrics')).text;
      for (const { url } of calls) assert.not.match(said, url.split('/').at(-1)!);
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const form = (body: string, type = 'application/x-www-form-urlencoded'): AskOptions => ({
  method: 'POST',
  headers: { 'content-type': type },
  body,
});

test('a POST answers its call once; a second one is told so, and what follows the call is done', () =>
  withShop(async ({ server, calls, notes, order, look }) => {
    const path = await order('s1');
    assert.match(path, /^\/api\/callbacks\/[\w-]+$/);
    const { input, url } = calls[0]!;
    assert.equal(input, { amount: '50', told: 'at {callbackUrl}', tell: url });
    assert.match(await look('s1'), /^CON Please wait/);
    const first = await server.ask(path, json({ receipt: 'R1' }));
    assert.equal([first.status, first.json()], [200, { status: 'completed' }]);
    assert.is((await server.ask(path, json({ receipt: 'R2' }))).status, 409);
    assert.is(await look('s1'), 'END Paid: R1');
    await until('the note is made', () => notes.length > 0);
    assert.equal(notes, [{ paid: 'R1' }]);
    assert.is((await server.ask(path, json({ receipt: 'R3' }))).status, 409);
    assert.is(calls.length, 1);
  }));

test('of many at once exactly one wins, and a form is an answer, too', () =>
  withShop(async ({ server, order, look }) => {
    const path = await order('s1');
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, n) => server.ask(path, form(`receipt=F${n}&x=1`))),
    );
    const won = answers.flatMap(({ status }, n) => (status === 200 ? [n] : []));
    assert.is(won.length, 1);
    assert.equal(new Set(answers.map(({ status }) => status)), new Set([200, 409]));
    assert.is(await look('s1'), `END Paid: F${won[0]}`);
  }));

test('what is forged, malformed, too large or of another type is refused by status, and the call goes on waiting', () =>
  withShop(async ({ server, order, look }) => {
    const path = await order('s1');
    const token = path.split('/').at(-1)!;
    const forged = `${token.slice(0, -6)}${token.slice(-6) === 'AAAAAA' ? 'BBBBBB' : 'AAAAAA'}`;
    const big = JSON.stringify({ receipt: 'x'.repeat(USSD_LIMITS.callbackBodyBytes) });
    const refused: readonly [status: number, path: string, options: AskOptions][] = [
      [404, `/api/callbacks/${forged}`, json({ receipt: 'R' })],
      [404, '/api/callbacks/x', json({ receipt: 'R' })],
      [404, `/api/callbacks/${Buffer.from('v1$a$b').toString('base64url')}`, json({ receipt: 'R' })],
      [400, path, form('{"receipt":', 'application/json')],
      [400, path, form('', 'application/json')],
      [400, path, form('{"a":1,"a":2}', 'application/json')],
      [400, path, form('receipt=1&receipt=2')],
      [400, path, form('__proto__=1')],
      [413, path, form(big, 'application/json')],
      [415, path, form('R', 'text/plain')],
    ];
    for (const [status, where, options] of refused) {
      const answer = await server.ask(where, options);
      assert.is(answer.status, status, `${options.method} ${String(options.body).slice(0, 40)}: ${answer.text}`);
      assert.not.match(answer.text, token);
    }
    assert.is((await server.ask(path)).status, 405);
    assert.match(await look('s1'), /^CON Please wait/);
    assert.is(
      (await server.ask(path, form('{"receipt":"R9"}', 'application/vnd.shop+json; charset=utf-8'))).status,
      200,
    );
    assert.is(await look('s1'), 'END Paid: R9');
  }));

test('an answer that comes late finds nobody, and the caller reads what the flow says', () =>
  withShop(async ({ server, clock, order, look }) => {
    const path = await order('s1');
    await clock.advance(119_000);
    assert.match(await look('s1'), /^CON Please wait/);
    await clock.advance(2_000);
    assert.is((await server.ask(path, json({ receipt: 'R' }))).status, 410);
    assert.is(await look('s1'), 'END Nobody has confirmed.');
  }));

test('a caller who leaves takes the call along; a service that fails at once ends it, and no word of it quotes the address', async () => {
  await withShop(async ({ server, order }) => {
    const path = await order('s1');
    assert.match(await server.ussd({ ...DIAL, sessionId: 's1', text: '50**' }), /^END/);
    assert.is((await server.ask(path, json({ receipt: 'R' }))).status, 410);
  });
  await withShop(async ({ server, calls }) => {
    await server.ussd({ ...DIAL, sessionId: 's1' });
    assert.is(await server.ussd({ ...DIAL, sessionId: 's1', text: '50' }), 'END Not paid.');
    const path = calls[0]!.url.slice(PUBLIC_URL.length);
    assert.is((await server.ask(path, json({ receipt: 'R' }))).status, 410);
  }, true);
});

test.run();

// Links to previews: who has one dials the draft as it was, and nothing else; nothing real is called, and the token is in no log.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Clock, systemClock } from '../../../lib/clock.ts';
import { memoryDocuments } from '../../../lib/store/memory/index.ts';
import { AUDIT_KIND, type AuditBody } from '../../../server/audit/audit.ts';
import { PAGE_LIMITS } from '../../../server/web/limits.ts';
import { PRODUCTION, TOKEN } from '../support/production.ts';
import { json, type Served, withServer } from '../support/serve.ts';

const test = suite('previews');
const seed = Number(process.env.TEST_SEED ?? 1);

const folder = mkdtempSync(join(tmpdir(), 'twinline-preview-'));
test.after(() => rmSync(folder, { recursive: true }));
const calls = join(folder, 'calls');
const SERVICES = join(folder, 'pay.mjs');
writeFileSync(calls, '');
writeFileSync(
  SERVICES,
  `import { appendFileSync } from 'node:fs';
const paid = async () => { appendFileSync(${JSON.stringify(calls)}, 'paid '); return { amount: 9 }; };
export default { 'pay.out': paid, 'pay.back': paid, 'pay.none': paid };`,
);

const pay = (service: string, done: string, save?: string) => ({
  type: 'call',
  service,
  done,
  fail: 'failed',
  ...(save && { save }),
});
const FLOW = JSON.stringify({
  ...{ flow: 'main', version: 1, start: 'pin' },
  vars: {
    pin: { type: 'string', secret: true, max: 6 },
    out: { type: 'object' },
    back: { type: 'object', sample: { amount: 7 } },
    much: { type: 'string', max: 10 },
  },
  screens: {
    pin: { type: 'input', text: 'PIN?', save: 'pin', accept: { digits: { min: 4, max: 6 } }, to: 'much' },
    much: { type: 'input', text: 'How much?', save: 'much', accept: { length: { min: 1, max: 10 } }, to: 'out' },
    out: pay('pay.out', 'back', 'out'),
    back: pay('pay.back', 'shown', 'back'),
    shown: {
      type: 'menu',
      text: 'Sent {{out.amount}}, back {{back.amount}} of {{much}}',
      options: [{ id: 'on', text: 'On', to: 'none' }],
    },
    none: pay('pay.none', 'bye'),
    failed: { type: 'end', text: 'Failed.' },
    bye: { type: 'end', text: 'Bye.' },
  },
});
// The first answer is a failure, and the one for another input comes before the one for any.
const TESTS = JSON.stringify({
  flow: 'main',
  tests: [
    { name: 'away', services: { 'pay.out': [{ fail: 'ERR_TIMEOUT' }] }, steps: [{ in: '' }] },
    {
      name: 'paid',
      services: { 'pay.out': [{ when: { to: 'x' }, return: { amount: 1 } }, { return: { amount: 5 } }] },
      steps: [{ in: '' }],
    },
  ],
});

const OPERATED = { ...PRODUCTION, OPERATOR_TOKEN: TOKEN, STUDIO: 'true', SERVICES };
const documents = memoryDocuments();
/** Time stands still until it is set; what is waited for goes on. */
const standing = () => {
  let at = 1_800_000_000_000;
  const jump = (ms: number) => {
    at += ms;
  };
  return { ...systemClock, now: () => at, monotonic: () => 0, jump };
};
const shared = (clock: Clock) => ({
  clock,
  env: OPERATED,
  stores: (own: object) => ({ ...own, documents }) as never,
});

const post = async ({ ask }: Served, path: string, body: object, headers: Record<string, string> = {}) => {
  const { status, text } = await ask(path, json(body, { origin: PRODUCTION.PUBLIC_URL, ...headers }));
  return { status, body: JSON.parse(text) as Record<string, unknown> };
};
const makeLink = async (server: Served, hours = 2) => {
  const draft = { flow: 'main', text: FLOW, tests: TESTS, hours };
  const { status, body } = await post(server, '/studio/preview', draft, { authorization: `Bearer ${TOKEN}` });
  assert.is(status, 200, JSON.stringify(body));
  return String(body.link);
};
const tokenOf = (link: string) => new URL(link).hash.slice(1);
const dial = async (server: Served, token: string, inputs: readonly string[], session = 'one') =>
  post(server, '/preview/dial', { token, session, inputs });

const DIALOGUE = ['', '4829', '12*5', '1'];
const SHOWS = ['PIN?', 'How much?', 'Sent 5, back 7 of 12*5', 'Failed.'];

test('a link dials the draft on every instance, with samples, and opens nothing else; it ends when it says', async () => {
  const clock = standing();
  await withServer(shared(clock), (one) =>
    withServer(shared(clock), async (other) => {
      const link = await makeLink(one);
      const token = tokenOf(link);
      assert.ok(link.startsWith(`${PRODUCTION.PUBLIC_URL}/preview#`), 'browsers send nothing behind #');
      assert.is((await one.ask('/studio')).status, 401);
      assert.match((await one.ask('/preview')).text, /no real line, no money/);
      const opened = await post(other, '/preview/open', { token });
      assert.equal(opened.body, {
        flow: 'main',
        at: new Date(clock.now()).toISOString(),
        until: new Date(clock.now() + 7_200_000).toISOString(),
      });
      // Instances by turns: what another one knows is played again.
      for (const [at, shows] of SHOWS.entries()) {
        const { status, body } = await dial(at % 2 ? one : other, token, DIALOGUE.slice(0, at + 1));
        assert.is(status, 200, JSON.stringify(body));
        assert.match(String(body.text), shows);
        assert.is((body.state as { secret: boolean } | null)?.secret, [true, false, false, undefined][at]);
      }
      assert.is(readFileSync(calls, 'utf8'), '', 'no service was called');
      // Another page may not use it, and a wrong one says nothing.
      assert.is(
        (
          await one.ask(
            '/preview/dial',
            json({ token, session: 'one', inputs: [''] }, { origin: 'https://elsewhere.test' }),
          )
        ).status,
        400,
      );
      const letters = 'ABab01-_.';
      await fc.assert(
        fc.asyncProperty(fc.nat(token.length - 1), fc.constantFrom(...letters), async (at, letter) => {
          const wrong = token.slice(0, at) + letter + token.slice(at + 1);
          // The last letter has two bits that mean nothing: compared as text, they still count.
          assert.is((await dial(one, wrong, [''])).status, wrong === token ? 200 : 404, wrong);
        }),
        { seed, numRuns: 60 },
      );
      clock.jump(7_199_000);
      assert.is((await dial(one, token, [''])).status, 200);
      clock.jump(1_000);
      for (const server of [one, other]) {
        const { status, body } = await dial(server, token, ['']);
        assert.equal([status, String(body.error).includes('has ended')], [404, true]);
      }
      const next = await makeLink(other);
      assert.is(
        await documents.count({ name: 'studio-preview', indexes: { until: { fields: ['until'] } } }),
        1,
        'the old one is forgotten',
      );
      const { items } = await documents.find<AuditBody>(AUDIT_KIND, { limit: 100 });
      assert.equal(
        items.map(({ body: { action, by, details } }) => [
          action,
          by.startsWith('token '),
          details.flow,
          typeof details.until,
        ]),
        [1, 2].map(() => ['menus.previewed', true, 'main', 'string']),
      );
      const told = JSON.stringify([one.logged, other.logged, items]);
      for (const secret of [token, tokenOf(next)])
        for (const part of secret.split('.').filter((piece) => piece.length > 20)) assert.not.match(told, part);
    }),
  );
});

test('a link is limited by itself: whoever floods it does not reach the thread', async () => {
  const clock = standing();
  await withServer({ ...shared(clock), env: { ...OPERATED, RATE_LIMIT_MAX: '100000' } }, async (server) => {
    const [token, other] = [tokenOf(await makeLink(server)), tokenOf(await makeLink(server))];
    const statuses: number[] = [];
    for (let turn = 0; turn < PAGE_LIMITS.previewTurns + 5; turn++)
      statuses.push((await dial(server, token, [''])).status);
    assert.equal(statuses, [...Array(PAGE_LIMITS.previewTurns).fill(200), ...Array(5).fill(429)]);
    assert.is((await dial(server, other, [''])).status, 200, 'another link is counted by itself');
  });
});

test('a draft with errors has no link, nor has a server without a studio', async () => {
  const headers = { authorization: `Bearer ${TOKEN}` };
  await withServer({ env: OPERATED }, async (server) => {
    const draft = { flow: 'main', text: FLOW.replace('"bye"', '"gone"'), tests: '', hours: 1 };
    assert.is((await post(server, '/studio/preview', draft, headers)).status, 400);
    assert.is((await post(server, '/studio/preview', { ...draft, hours: 169 }, headers)).status, 400);
    assert.is((await post(server, '/studio/preview', draft)).status, 401);
  });
  await withServer({ env: { ...OPERATED, STUDIO: 'false' } }, async (server) => {
    assert.is((await server.ask('/preview')).status, 404);
  });
});

test.run();

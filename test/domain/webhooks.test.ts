// Deliveries on a simulated clock: order, retries, what is put aside, slow receivers, several instances, crashes.

import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SimulatedClock } from '../../lib/clock.ts';
import type { Caller } from '../../lib/domain/caller.ts';
import { Deliveries } from '../../lib/domain/feed/delivery.ts';
import { feed } from '../../lib/domain/feed/feed.ts';
import {
  deadLetterId,
  openSecret,
  pauseAfter,
  type StoredProgress,
  sealSecret,
} from '../../lib/domain/feed/webhook.ts';
import { Webhooks } from '../../lib/domain/feed/webhooks.ts';
import { DELIVERY, DOMAIN, DOMAIN_KINDS, WEBHOOK } from '../../lib/domain/kinds.ts';
import { DOMAIN_LIMITS } from '../../lib/domain/limits.ts';
import { TwinlineError } from '../../lib/errors.ts';
import type { Post, Receipt } from '../../lib/http/client.ts';
import { parseKeyring } from '../../lib/keyring.ts';
import { memoryDocuments } from '../../lib/store/memory/index.ts';
import type { DocumentStore } from '../../lib/store/store.ts';

const test = suite('webhooks');

const ALICE: Caller = { principal: 'did:x:alice', roles: new Set(['controller']), tenant: 't' };
const HEX = '00112233445566778899aabbccddeeff0123456789abcdef0123456789abcdef';
const keyring = parseKeyring(`k1:${HEX}`);

interface Sent {
  readonly url: string;
  readonly n: number;
  readonly seq: number;
  readonly id: string;
  readonly by: number;
}

/** A tenant's events, receivers that answer as they are told, and any number of instances. */
async function bench() {
  const clock = new SimulatedClock();
  const documents = memoryDocuments({ clock });
  await documents.declare(DOMAIN_KINDS);
  const sent: Sent[] = [];
  const answers = new Map<string, (n: number) => Promise<number> | number | Receipt>();
  const open: { feed: ReturnType<typeof feed>; deliveries: Deliveries }[] = [];
  const hooks = new Map<number, Webhooks>();
  const tries: string[] = [];

  function instance(store = documents) {
    const by = open.length;
    const post: Post = async ({ url, headers, body }) => {
      const event = JSON.parse(body) as { seq: number; data: { n: number } };
      sent.push({ url, n: event.data.n, seq: event.seq, id: headers['webhook-id']!, by });
      const answer = await (answers.get(url) ?? (() => 200))(event.data.n);
      return typeof answer === 'number' ? { status: answer } : answer;
    };
    const events = feed({ documents: store, clock, pollMs: Number.MAX_SAFE_INTEGER });
    const ground = { documents: store, clock, keyring, feed: events, post, onProblem: () => {} };
    const sending = new Deliveries({ ...ground, onTry: (result) => tries.push(result) });
    open.push({ feed: events, deliveries: sending });
    hooks.set(by, new Webhooks({ ...ground, deliveries: sending, resolve: async () => [] }));
    return sending;
  }

  async function turn(): Promise<void> {
    for (const { feed: events } of open) events.nudge();
    await clock.advance(2);
    // An instance that fails does not cut short what the others do.
    const swept = await Promise.allSettled(open.map(({ deliveries: one }) => one.sweep(100)));
    for (const one of swept) if (one.status === 'rejected') throw one.reason;
  }

  let made = 0;
  return {
    open,
    clock,
    documents,
    sent,
    tries,
    answers,
    instance,
    service: (by = 0) => hooks.get(by)!,
    hook: async (url: string, events: string[] = []) => (await hooks.get(0)!.create(ALICE, { url, events })).webhook.id,
    async event(tenant = 't', type = 'domain.updated') {
      const n = made++;
      const journal = { at: clock.now(), by: 'x', action: 'create', events: [{ type, data: { n } }] };
      await documents.insert(DOMAIN, `d${n}`, { tenant, journal } as never);
      return n;
    },
    turn,
    /** Lets all instances do what is due, until nothing moves any more. */
    async settle() {
      let failed: { readonly error: unknown } | undefined;
      for (let round = 0; round < 6; round++) {
        await turn().catch((error: unknown) => {
          failed ??= { error };
        });
        for (const { deliveries: one } of open) await one.idle();
      }
      if (failed) throw failed.error;
    },
    async end() {
      for (const { feed: events } of open) events.close();
      const closing = open.map(({ deliveries: one }) => one.close());
      await clock.advance(1_000);
      await Promise.all(closing);
    },
    progress: async (id: string) => (await documents.get<StoredProgress>(DELIVERY, id))!.body,
  };
}

const withBench = async (work: (b: Awaited<ReturnType<typeof bench>>) => Promise<void>) => {
  const b = await bench();
  try {
    await work(b);
  } finally {
    await b.end();
  }
};

const A = 'https://a.example/hook';
const B = 'https://b.example/hook';

test('each webhook gets what it wants of its tenant, in order, from its making on', () =>
  withBench(async (b) => {
    b.instance();
    await b.event();
    await b.hook(A);
    await b.hook(B, ['proposal.*']);
    for (let n = 0; n < 5; n++) await b.event(n === 2 ? 'other' : 't', n % 2 ? 'proposal.opened' : 'domain.updated');
    await b.settle();
    const of = (url: string) => b.sent.filter((one) => one.url === url).map(({ n }) => n);
    assert.equal(
      [of(A), of(B)],
      [
        [1, 2, 4, 5],
        [2, 4],
      ],
    );
    assert.ok(b.sent.every(({ id, seq }) => id === `evt_${seq}`));
  }));

test('an event that fails is tried again after growing pauses, holds back what comes after it, and is then put aside', () =>
  withBench(async (b) => {
    const sending = b.instance();
    const id = await b.hook(A);
    b.answers.set(A, (n) => (n === 0 ? 500 : 204));
    await b.event();
    await b.event();
    await b.settle();
    const pauses: number[] = [];
    for (let tries = 1; tries < DOMAIN_LIMITS.webhookTries; tries++) {
      assert.equal([b.sent.length, (await b.progress(id)).attempts], [tries, tries]);
      const due = (await b.progress(id)).dueAt!;
      pauses.push(due - b.clock.now());
      await b.clock.advance(due - b.clock.now() - 50);
      await b.settle();
      assert.is(b.sent.length, tries, 'not before its time');
      await b.clock.advance(51);
      await b.settle();
    }
    assert.equal(
      b.sent.map(({ n }) => n),
      [...Array(DOMAIN_LIMITS.webhookTries).fill(0), 1],
    );
    for (const [at, ms] of pauses.entries()) {
      const whole = Math.min(DOMAIN_LIMITS.webhookBackoffMaxMs, DOMAIN_LIMITS.webhookBackoffMs * 2 ** at);
      assert.ok(ms <= whole && ms > whole / 2 - 100, `pause ${at}: ${ms}`);
    }
    const { cursor, dead, delivered, attempts, failure } = await b.progress(id);
    assert.equal([dead, delivered, attempts, failure?.status], [1, 1, 0, 500]);
    assert.equal(b.tries, [...Array(DOMAIN_LIMITS.webhookTries - 1).fill('failed'), 'dead', 'delivered']);
    assert.is(cursor, b.sent.at(-1)!.seq);
    const { items } = await b.service().letters(ALICE, { id, limit: 10 });
    assert.equal(
      items.map(({ body }) => [body.status, body.seq, body.attempts]),
      [['dead', b.sent[0]!.seq, DOMAIN_LIMITS.webhookTries]],
    );
    b.answers.delete(A);
    const retried = await b.service().retry(ALICE, { id, seq: String(items[0]!.body.seq) });
    assert.is(retried.body.status, 'delivered');
    assert.is(b.sent.at(-1)!.id, b.sent[0]!.id, 'the same message as before');
    const seq = String((await b.service().letters(ALICE, { id, limit: 10 })).items[0]!.body.seq);
    b.clock.jump(DOMAIN_LIMITS.webhookLetterMs + 1);
    assert.is(await sending.sweep(100), 0, 'a clock that is ahead removes none');
    b.clock.jump(-DOMAIN_LIMITS.webhookLetterMs - 1);
    await b.clock.advance(DOMAIN_LIMITS.webhookLetterMs + 1);
    assert.equal((await b.service().letters(ALICE, { id, limit: 10 })).items, [], 'gone before it is swept');
    await b
      .service()
      .retry(ALICE, { id, seq })
      .then(
        () => assert.unreachable(),
        (error) => assert.is(error.reason, 'not-found'),
      );
    assert.is(await sending.sweep(100), 1);
    assert.equal((await b.service().letters(ALICE, { id, limit: 10 })).items, []);
  }));

test('410 pauses the webhook, and nothing is put aside; active again, it gets the same event', () =>
  withBench(async (b) => {
    b.instance();
    const id = await b.hook(A);
    b.answers.set(A, () => 410);
    await b.event();
    await b.event();
    await b.settle();
    await b.clock.advance(DOMAIN_LIMITS.webhookBackoffMaxMs);
    await b.settle();
    const { webhook, progress } = await b.service().get(ALICE, id);
    assert.equal([b.sent.length, webhook.body.status, webhook.revision], [1, 'paused', 2]);
    assert.equal(
      [progress?.body.dead, progress?.body.failure?.error],
      [0, 'the receiver answered 410, so the webhook is paused'],
    );
    b.answers.delete(A);
    await b.service().change(ALICE, id, { body: { status: 'active' } });
    await b.settle();
    assert.equal(
      b.sent.map(({ n }) => n),
      [0, 0, 1],
    );
  }));

test('410 of an address that was changed meanwhile pauses nothing', () =>
  withBench(async (b) => {
    b.instance();
    const id = await b.hook(A);
    b.answers.set(A, async () => {
      await b.service().change(ALICE, id, { body: { url: B } });
      return 410;
    });
    await b.event();
    await b.settle();
    await b.clock.advance(DOMAIN_LIMITS.webhookBackoffMaxMs);
    await b.settle();
    assert.equal(
      b.sent.map(({ url }) => url),
      [A, B],
    );
  }));

const DAY = 86_400_000;
/** Retry-After, and how long is waited at least and at most. */
const WAITS: readonly (readonly [(now: number) => string, least: number, most: number])[] = [
  [() => '900', 900_000, 900_000],
  [(now) => new Date(now + 900_000).toUTCString(), 899_000, 900_000],
  [() => '0', 1, DOMAIN_LIMITS.webhookBackoffMs],
  [() => 'soon', 1, DOMAIN_LIMITS.webhookBackoffMs],
  [(now) => new Date(now - DAY).toUTCString(), 1, DOMAIN_LIMITS.webhookBackoffMs],
  [() => '99999999', DOMAIN_LIMITS.webhookBackoffMaxMs, DOMAIN_LIMITS.webhookBackoffMaxMs],
];

test('a receiver is not asked before the time that it names by Retry-After, within a bound', () =>
  withBench(async (b) => {
    b.instance();
    for (const [at, [write, least, most]] of WAITS.entries()) {
      const url = `https://r${at}.example/`;
      const id = await b.hook(url);
      b.answers.set(url, () => ({ status: 429, retryAfter: write(b.clock.now()) }));
      await b.event();
      for (let turns = 0; turns < 9 && !(await b.progress(id)).failure; turns++) await b.turn();
      const { failure, dueAt } = await b.progress(id);
      const waits = dueAt! - failure!.at;
      assert.ok(waits >= least && waits <= most + 2, `${at}: ${waits}`);
    }
  }));

test('an event is tried for a day at least and two at most', () => {
  let [least, most] = [0, 0];
  for (let tries = 1; tries < DOMAIN_LIMITS.webhookTries; tries++) {
    const whole = Math.min(DOMAIN_LIMITS.webhookBackoffMs * 2 ** (tries - 1), DOMAIN_LIMITS.webhookBackoffMaxMs);
    const pause = pauseAfter(tries);
    assert.ok(pause >= whole / 2 && pause <= whole);
    [least, most] = [least + whole / 2, most + whole];
  }
  assert.ok(least >= DAY * 0.95 && most <= 2 * DAY, `${least / DAY} to ${most / DAY} days`);
});

test('a page of large dead letters ends before its limit, and the next one goes on; a damaged cursor is refused as one', () =>
  withBench(async (b) => {
    b.instance();
    const id = await b.hook(A);
    const seqs = Array.from({ length: 14 }, (_, at) => at + 1);
    for (const seq of seqs) {
      const event = { seq, data: { text: 'x'.repeat(DOMAIN_LIMITS.pageBytes / 6) } };
      const letter = { webhook: id, status: 'dead', seq, event, attempts: 1, failure: null };
      const body = { ...letter, created: seq, dueAt: b.clock.now() + 1_000 };
      await b.documents.insert(DELIVERY, deadLetterId(id, seq), body);
    }
    const found: number[] = [];
    for (let cursor: string | undefined, more = true; more; more = cursor !== undefined) {
      const page = await b.service().letters(ALICE, { id, limit: 200, cursor });
      assert.ok(page.items.length < seqs.length);
      found.push(...page.items.map(({ body }) => body.seq));
      cursor = page.next;
    }
    assert.equal(found, seqs.toReversed());
    const damaged = [
      b.service().letters(ALICE, { id, limit: 1, cursor: '?' }),
      b.service().list(ALICE, { limit: 1, cursor: '?' }),
    ];
    for (const one of await Promise.allSettled(damaged))
      assert.is(one.status === 'rejected' && one.reason.reason, 'bad-cursor');
  }));

test('a receiver that never answers delays nobody else', () =>
  withBench(async (b) => {
    b.instance();
    let answer = (_: number) => {};
    b.answers.set(A, () => new Promise((resolve) => (answer = resolve)));
    await b.hook(A);
    await b.hook(B);
    for (let n = 0; n < 3; n++) await b.event();
    for (let tries = 0; tries < 20 && b.sent.length < 4; tries++) await b.turn();
    assert.equal(b.sent.map(({ url, n }) => [url, n]).sort(), [
      [A, 0],
      [B, 0],
      [B, 1],
      [B, 2],
    ]);
    b.answers.delete(A);
    answer(200);
    await b.settle();
    assert.is(b.sent.length, 6);
  }));

test('an instance that dies while it delivers is followed by another, which begins with what was not noted', () =>
  withBench(async (b) => {
    let dead = false;
    const gone = <T extends unknown[], R>(call: (...args: T) => Promise<R>) => {
      return (...args: T): Promise<R> =>
        dead ? Promise.reject(new TwinlineError('ERR_STORE', 'gone')) : call(...args);
    };
    const { insert, replace, get, find, changes, lastChange } = b.documents;
    const dying = { insert, replace, get, find, changes, lastChange };
    const broken = Object.fromEntries(Object.entries(dying).map(([name, call]) => [name, gone(call as never)]));
    b.instance({ ...b.documents, ...broken } as never);
    const id = await b.hook(A);
    b.answers.set(A, (n) => {
      dead ||= n === 2;
      return 200;
    });
    for (let n = 0; n < 5; n++) await b.event();
    await b.settle().catch(() => {});
    assert.equal(
      b.sent.map(({ n }) => n),
      [0, 1, 2],
    );
    b.instance();
    const all = () => b.sent.map(({ n, by }) => `${n} by ${by}`);
    const sweep = () => b.settle().catch(() => {});
    await sweep();
    assert.is(b.sent.length, 3, 'the dead one still has its time');
    await b.clock.advance(DOMAIN_LIMITS.webhookLeaseMs);
    await sweep();
    assert.equal(all(), ['0 by 0', '1 by 0', '2 by 0', '2 by 1', '3 by 1', '4 by 1']);
    assert.is((await b.progress(id)).holder, null);
  }));

test('an event that comes while another instance is about to let go is not forgotten', () =>
  withBench(async (b) => {
    let once = true;
    const { replace } = b.documents;
    const lettingGo: DocumentStore['replace'] = async (kind, id, expected, body) => {
      if (once && kind === DELIVERY && body.holder === null && body.delivered === 1) {
        once = false;
        // The first instance has seen that there is nothing more, and hears of nothing from here on.
        await b.event();
        b.open[0]!.feed.close();
        b.open[1]!.feed.nudge();
        for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
      }
      return replace(kind, id, expected, body);
    };
    b.instance({ ...b.documents, replace: lettingGo });
    await b.hook(A);
    b.instance();
    await b.open[1]!.deliveries.sweep(100);
    await b.event();
    b.open[0]!.feed.nudge();
    for (let turn = 0; turn < 100 && (once || b.sent.length < 1); turn++) await new Promise(setImmediate);
    assert.not.ok(once);
    await b.settle();
    assert.equal(
      b.sent.map(({ n, by }) => [n, by]),
      [
        [0, 0],
        [1, 1],
      ],
    );
  }));

test('through any failures, by one instance or three, every event arrives once or is put aside, first arrivals in order', () =>
  fc.assert(
    fc.asyncProperty(
      fc.array(fc.boolean(), { minLength: 5, maxLength: 40 }),
      fc.integer({ min: 1, max: 3 }),
      (fails, width) =>
        withBench(async (b) => {
          for (let one = 0; one < width; one++) b.instance();
          const id = await b.hook(A);
          const answers = [...fails];
          b.answers.set(A, () => (answers.shift() ? 503 : 200));
          for (let n = 0; n < 5; n++) await b.event();
          for (let round = 0; round < 45; round++) {
            await b.settle();
            const { dueAt, delivered, dead } = await b.progress(id);
            if (delivered + dead === 5) break;
            await b.clock.advance(Math.max(1, (dueAt ?? 0) - b.clock.now()));
          }
          const { delivered, dead } = await b.progress(id);
          assert.is(delivered + dead, 5);
          const failed = fails.slice(0, b.sent.length).filter(Boolean).length;
          assert.is(b.sent.length, delivered + failed, 'nothing that arrived is sent again');
          const firsts = [...new Set(b.sent.map(({ n }) => n))];
          assert.equal(firsts, [0, 1, 2, 3, 4]);
          assert.is((await b.service().letters(ALICE, { id, limit: 10 })).items.length, dead);
        }),
    ),
    { numRuns: 25 },
  ));

test('a paused webhook gets nothing, and what it has missed once it goes on; a removed one leaves nothing behind', () =>
  withBench(async (b) => {
    b.instance();
    const id = await b.hook(A);
    await b.service().change(ALICE, id, { body: { status: 'paused' } });
    await b.event();
    await b.settle();
    assert.is(b.sent.length, 0);
    await b.service().change(ALICE, id, { body: { status: 'active' } });
    await b.settle();
    assert.is(b.sent.length, 1);
    b.answers.set(A, () => 500);
    await b.event();
    for (let tries = 0; tries < DOMAIN_LIMITS.webhookTries; tries++) {
      await b.settle();
      await b.clock.advance(DOMAIN_LIMITS.webhookBackoffMaxMs);
    }
    assert.is((await b.service().letters(ALICE, { id, limit: 10 })).items.length, 1);
    await b.service().remove(ALICE, id);
    assert.equal([await b.documents.count(WEBHOOK), await b.documents.count(DELIVERY)], [0, 0]);
    const sent = b.sent.length;
    await b.event();
    await b.settle();
    assert.is(b.sent.length, sent);
  }));

test('while nothing happens for a webhook nothing is written', () =>
  withBench(async (b) => {
    b.instance();
    b.instance();
    await b.hook(A, ['vote.cast']);
    await b.event();
    await b.settle();
    const { length } = await b.documents.changes(0, 1_000);
    for (let n = 0; n < 20; n++) {
      await b.clock.advance(10_000);
      await b.settle();
    }
    assert.is((await b.documents.changes(0, 1_000)).length, length);
  }));

test('a sealed secret opens for its own webhook and with its own key only, and goes on through a rotation', () => {
  const owner = { tenant: 't', id: 'wh_1' };
  const sealed = sealSecret(keyring, owner, 'whsec_c2VjcmV0');
  assert.not.match(sealed, /whsec|c2VjcmV0/);
  assert.is(openSecret(keyring, owner, sealed), 'whsec_c2VjcmV0');
  const rotated = parseKeyring(`k2:${HEX.split('').reverse().join('')},k1:${HEX}`);
  assert.is(openSecret(rotated, owner, sealed), 'whsec_c2VjcmV0');
  const strange = parseKeyring(`k1:${HEX.split('').reverse().join('')}`);
  for (const [ring, other, text] of [
    [keyring, { ...owner, id: 'wh_2' }, sealed],
    [keyring, { ...owner, tenant: 'u' }, sealed],
    [strange, owner, sealed],
    [keyring, owner, `${sealed.slice(0, -2)}AA`],
    [keyring, owner, sealed.replace('$k1$', '$k9$')],
    [keyring, owner, ''],
  ] as const)
    assert.throws(() => openSecret(ring, other, text), /secret of webhook wh_/);
});

test('receivers of one tenant that take their time leave places for those of others', () =>
  withBench(async (b) => {
    b.instance();
    const waiting: (() => void)[] = [];
    const slow = () => new Promise<number>((resolve) => waiting.push(() => resolve(200)));
    for (let n = 0; n < DOMAIN_LIMITS.webhooksPerTenant; n++) {
      const url = `https://slow-${n}.example/hook`;
      b.answers.set(url, slow);
      await b.hook(url);
    }
    const other: Caller = { ...ALICE, tenant: 'other' };
    await b.service().create(other, { url: B });
    await b.event();
    await b.event('other');
    await b.turn();
    await b.turn();
    assert.is(b.sent.filter(({ url }) => url === B).length, 1);
    assert.is(b.sent.length - 1, DOMAIN_LIMITS.webhooksAtOncePerTenant);
    b.answers.clear();
    for (const answer of waiting) answer();
  }));

test('one with many events gives its place to those that wait, after each event', () =>
  withBench(async (b) => {
    b.instance();
    const urls = Array.from(
      { length: DOMAIN_LIMITS.webhooksAtOncePerTenant + 1 },
      (_, n) => `https://h${n}.example/hook`,
    );
    for (const url of urls) await b.hook(url);
    for (let n = 0; n < 5; n++) await b.event();
    await b.settle();
    const last = urls.at(-1);
    assert.is(b.sent.filter(({ url }) => url === last).length, 5);
    assert.ok(
      b.sent.findIndex(({ url }) => url === last) < 2 * urls.length,
      'it did not wait for all events of the others',
    );
  }));

test('of many requests at once no more webhooks are made than a tenant may have, and as many', () =>
  withBench(async (b) => {
    b.instance();
    const asked = Array.from({ length: 150 }, (_, n) => b.hook(`https://h${n}.example/hook`));
    const made = (await Promise.allSettled(asked)).filter(({ status }) => status === 'fulfilled');
    assert.is(made.length, DOMAIN_LIMITS.webhooksPerTenant);
    assert.is(
      await b.documents.count(WEBHOOK, { index: 'created', where: { tenant: 't' } }),
      DOMAIN_LIMITS.webhooksPerTenant,
    );
  }));

test.run();

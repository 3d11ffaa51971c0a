// Accounts on every embedded store: one per phone, every try counted first, locks that last, nothing given away.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Accounts, type AccountsOptions, accounts } from '../../lib/account/account.ts';
import { ACCOUNT_LIMITS } from '../../lib/account/limits.ts';
import { pinVault } from '../../lib/account/pin.ts';
import { ACCOUNTS, findSlot, STRANGERS } from '../../lib/account/records.ts';
import { SimulatedClock } from '../../lib/clock.ts';
import { TwinlineError } from '../../lib/errors.ts';
import type { DocumentStore } from '../../lib/store/store.ts';
import { intercepted, places } from './places.ts';
import { KEYS, keyring, quickDigest, rejection } from './support.ts';

const PHONE = '+263771234567';
const STRANGER = '+263779999999';
const PIN = '804163';
const WRONG = '804164';
const MINUTE = 60_000;

for (const place of places()) {
  const test = suite(`account/account on ${place.name}`);

  let documents: DocumentStore;
  test.before.each(async () => {
    documents = await place.open();
    for (const kind of [ACCOUNTS, STRANGERS])
      for (const { id } of (await documents.find(kind)).items) await documents.remove(kind, id);
  });
  // Not there when the store did not open; a hook that throws would hide why.
  test.after.each(() => documents?.close());
  test.after(place.remove);

  /** Accounts over the open store, with a hash that takes no time but counts. */
  const open = (options: Partial<AccountsOptions> = {}) => {
    const clock = new SimulatedClock();
    const hash = quickDigest();
    const vault = pinVault({ keyring: keyring(KEYS.old), derive: hash.derive });
    return { clock, hash, vault, own: accounts({ documents, vault, clock, ...options }) };
  };
  const created = async (own: Accounts, phone = PHONE) => {
    const answer = await own.create({ phone, pin: PIN, name: 'Tariro', lang: 'sn' });
    assert.ok(answer.created);
    return answer.created ? answer.customerId : '';
  };

  test('an account is made once, and its PIN opens it', async () => {
    const { own, hash } = open();
    assert.not(await own.exists(PHONE));
    const customerId = await created(own);
    assert.match(customerId, /^C[0-9A-HJKMNP-TV-Z]{8}$/);
    assert.ok(await own.exists(PHONE));
    assert.equal(await own.verifyPin({ phone: PHONE, pin: PIN }), { ok: true, customerId, name: 'Tariro', lang: 'sn' });
    assert.equal(await own.create({ phone: PHONE, pin: PIN }), { created: false, reason: 'exists' });
    assert.is(hash.calls(), 2, 'a number that has an account is told so without hashing');
  });

  test('a malformed or weak PIN makes no account and costs no hash', async () => {
    const { own, hash } = open();
    assert.equal(await own.create({ phone: PHONE, pin: '123' }), { created: false, reason: 'bad-pin' });
    assert.equal(await own.create({ phone: PHONE, pin: '12345678' }), { created: false, reason: 'bad-pin' });
    assert.equal(await own.create({ phone: PHONE, pin: '4567' }), { created: false, reason: 'weak-pin' });
    assert.not(await own.exists(PHONE));
    assert.is(hash.calls(), 0);
  });

  test('of many creations at once for one phone exactly one makes the account', async () => {
    const { own } = open();
    const answers = await Promise.all(Array.from({ length: 8 }, () => own.create({ phone: PHONE, pin: PIN })));
    assert.is(answers.filter((answer) => answer.created).length, 1);
    assert.is(answers.filter((answer) => !answer.created && answer.reason === 'exists').length, 7);
    assert.is(await documents.count(ACCOUNTS), 1);
  });

  test('a creation that is made again answers what it answered first, also when both run at once', async () => {
    const { own } = open();
    const call = { phone: PHONE, pin: PIN, idempotencyKey: 'session 1, call 1' };
    const answers = [...(await Promise.all([own.create(call), own.create(call)])), await own.create(call)];
    assert.ok(answers[0]?.created);
    assert.equal(answers, [answers[0], answers[0], answers[0]]);
    assert.equal(await own.create({ ...call, idempotencyKey: 'another' }), { created: false, reason: 'exists' });
  });

  test('200 guesses at once cost three checks, also through two connections to the store', async () => {
    const { own, hash, vault, clock } = open();
    await created(own);
    const before = hash.calls();
    const elsewhere = place.lasting ? await place.open() : documents;
    const twin = accounts({ documents: elsewhere, vault, clock });
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, n) => (n % 2 ? own : twin).verifyPin({ phone: PHONE, pin: String(300_000 + n) })),
    );
    if (elsewhere !== documents) await elsewhere.close();
    assert.is(hash.calls() - before, ACCOUNT_LIMITS.pinFailuresToLock);
    assert.is(answers.filter((answer) => !answer.ok && answer.reason === 'wrong').length, 2);
    assert.is(answers.filter((answer) => !answer.ok && answer.reason === 'locked').length, 198);
  });

  test('three wrong PINs lock the right one out for 15 minutes, to the millisecond', async () => {
    const { own, clock } = open();
    await created(own);
    const lockedUntil = clock.now() + 15 * MINUTE;
    const locked = { ok: false, reason: 'locked', lockedUntil, minutes: 15 };
    assert.equal(await own.verifyPin({ phone: PHONE, pin: WRONG }), { ok: false, reason: 'wrong', remaining: 2 });
    assert.equal(await own.verifyPin({ phone: PHONE, pin: WRONG }), { ok: false, reason: 'wrong', remaining: 1 });
    assert.equal(await own.verifyPin({ phone: PHONE, pin: WRONG }), locked);
    assert.equal(await own.verifyPin({ phone: PHONE, pin: PIN }), locked);
    await clock.advance(15 * MINUTE - 1);
    assert.not((await own.verifyPin({ phone: PHONE, pin: PIN })).ok);
    await clock.advance(1);
    assert.ok((await own.verifyPin({ phone: PHONE, pin: PIN })).ok);
  });

  test('a right PIN ends the run of wrong ones', async () => {
    const { own } = open();
    await created(own);
    for (let round = 0; round < 3; round++) {
      await own.verifyPin({ phone: PHONE, pin: WRONG });
      await own.verifyPin({ phone: PHONE, pin: WRONG });
      assert.ok((await own.verifyPin({ phone: PHONE, pin: PIN })).ok, `round ${round}`);
    }
  });

  test('ten wrong PINs in a day lock until an operator unlocks, and nothing is wiped', async () => {
    const { own, clock } = open();
    const customerId = await created(own);
    for (const lock of [15, 30, 60, 0]) {
      for (let tries = 0; tries < 3; tries++) await own.verifyPin({ phone: PHONE, pin: WRONG });
      await clock.advance(lock * MINUTE);
    }
    await clock.advance(30 * ACCOUNT_LIMITS.pinWindowMs);
    assert.equal(await own.verifyPin({ phone: PHONE, pin: PIN }), { ok: false, reason: 'locked' });
    const { unlocked, before } = await own.unlock(PHONE, 'cli');
    assert.equal([unlocked, before.state, before.customerId, before.lastUnlock], [true, 'held', customerId, null]);
    const after = await own.standing(PHONE);
    assert.equal(after.lastUnlock, { by: 'cli', at: clock.now() });
    assert.equal([after.state, after.failuresInRow, after.failuresInWindow, after.locks], ['open', 0, 0, 0]);
    assert.equal(await own.verifyPin({ phone: PHONE, pin: PIN }), { ok: true, customerId, name: 'Tariro', lang: 'sn' });
    assert.not((await own.unlock(PHONE, 'cli')).unlocked, 'again: there is nothing to forget');
    const stranger = await own.unlock(STRANGER, 'cli');
    assert.equal([stranger.unlocked, stranger.before.customerId], [false, null]);
  });

  test('operators see how a number stands: in tries, locks and time, also one without an account', async () => {
    const { own, clock } = open();
    const customerId = await created(own);
    for (const [phone, id] of [
      [PHONE, customerId],
      [STRANGER, null],
    ] as const) {
      const look = async () => {
        const { customerId, state, lockedUntil, failuresInRow, failuresInWindow, locks } = await own.standing(phone);
        return [customerId, state, lockedUntil, failuresInRow, failuresInWindow, locks];
      };
      assert.equal(await look(), [id, 'open', null, 0, 0, 0]);
      await own.verifyPin({ phone, pin: WRONG });
      assert.equal(await look(), [id, 'open', null, 1, 1, 0]);
      for (let tries = 0; tries < 2; tries++) await own.verifyPin({ phone, pin: WRONG });
      assert.equal(await look(), [id, 'locked', clock.now() + 15 * MINUTE, 3, 3, 1]);
      await clock.advance(15 * MINUTE);
      assert.equal(await look(), [id, 'open', null, 0, 3, 1], 'a lock that has ended gives a fresh set of tries');
      const { unlocked, before } = await own.unlock(phone, 'cli');
      assert.equal([unlocked, before.locks], [true, 1]);
      assert.equal(await look(), [id, 'open', null, 0, 0, 0]);
    }
  });

  test('a number without an account answers, works and locks exactly like one with a wrong PIN', async () => {
    const { own, hash, clock } = open();
    await created(own);
    const course = async (phone: string) => {
      const answers: unknown[] = [];
      const before = hash.calls();
      for (let tries = 0; tries < 5; tries++) answers.push(await own.verifyPin({ phone, pin: WRONG }));
      const pin = { phone, pin: WRONG, newPin: '730528' };
      return { answers, changed: await own.changePin(pin), hashes: hash.calls() - before };
    };
    const known = await course(PHONE);
    assert.is(known.hashes, 3);
    assert.equal(await course(STRANGER), known);
    await clock.advance(15 * MINUTE);
    assert.equal(await course(STRANGER), await course(PHONE));
  });

  test('both kinds of number cost the store the same reads and writes', async () => {
    const { own: plain } = open();
    await created(plain);
    const trace: string[] = [];
    const traced = intercepted(documents, 'every', (act, name) => {
      trace.push(name === 'insert' ? 'replace' : name);
      return act();
    });
    const { own } = open({ documents: traced });
    const course = async (phone: string) => {
      trace.length = 0;
      for (let tries = 0; tries < 4; tries++)
        await own.verifyPin({ phone, pin: WRONG, idempotencyKey: `try ${tries}` });
      return trace.join(' ');
    };
    const known = await course(PHONE);
    assert.match(known, 'replace');
    assert.is(await course(STRANGER), known);
  });

  test('numbers without an account share a bounded table, and name no number in it', async () => {
    const { own, vault } = open();
    const slots = new Map<string, string>();
    let twins: [string, string] | undefined;
    for (let n = 0; !twins; n++) {
      const phone = `+26378${String(n).padStart(7, '0')}`;
      const slot = findSlot(vault.alias(phone));
      const other = slots.get(slot);
      if (other) twins = [other, phone];
      slots.set(slot, phone);
    }
    const [one, two] = twins;
    for (let tries = 0; tries < 3; tries++) await own.verifyPin({ phone: one, pin: WRONG });
    assert.equal(await own.verifyPin({ phone: two, pin: WRONG }), { ok: false, reason: 'wrong', remaining: 2 });
    assert.is(await documents.count(STRANGERS), 1);
    const stored = JSON.stringify(await documents.find(STRANGERS));
    for (const phone of twins) assert.not.match(stored, phone.slice(1));
  });

  test('no PIN stands anywhere in the store, and no phone number in an id', async () => {
    const { own, hash } = open();
    await created(own);
    await own.verifyPin({ phone: PHONE, pin: PIN, idempotencyKey: 'a key' });
    await own.verifyPin({ phone: PHONE, pin: '915027', idempotencyKey: 'another key' });
    await own.verifyPin({ phone: STRANGER, pin: '915027' });
    assert.equal(await own.changePin({ phone: PHONE, pin: PIN, newPin: '730528' }), { changed: true });
    assert.ok(hash.calls() >= 5);
    const stored = [...(await documents.find(ACCOUNTS)).items, ...(await documents.find(STRANGERS)).items];
    assert.is(stored.length, 2);
    const text = JSON.stringify(stored);
    for (const pin of [PIN, '915027', '730528'])
      for (const form of ['latin1', 'hex', 'base64url'] as const)
        assert.not.match(text, Buffer.from(pin).toString(form), form);
    for (const { id } of stored) assert.not.match(id, PHONE.slice(1));
  });

  test('a check that is made again is not counted again', async () => {
    const { own, hash } = open();
    await created(own);
    const call = { phone: PHONE, pin: WRONG, idempotencyKey: 'session 1, call 7' };
    const first = await own.verifyPin(call);
    const before = hash.calls();
    for (let repeats = 0; repeats < 20; repeats++) assert.equal(await own.verifyPin(call), first);
    assert.is(hash.calls(), before, 'the outcome is known, so nothing is hashed');
    assert.equal(await own.verifyPin({ ...call, idempotencyKey: 'call 8' }), {
      ok: false,
      reason: 'wrong',
      remaining: 1,
    });
    const right = { phone: PHONE, pin: PIN, idempotencyKey: 'call 9' };
    assert.ok((await own.verifyPin(right)).ok);
    assert.ok((await own.verifyPin(right)).ok);
    assert.not((await own.verifyPin({ ...right, pin: WRONG })).ok, 'a key of a success opens nothing for another PIN');
  });

  test('a check that died half-way, even the third, is finished under its key', async () => {
    const { own, clock, vault } = open();
    await created(own);
    await own.verifyPin({ phone: PHONE, pin: WRONG });
    await own.verifyPin({ phone: PHONE, pin: WRONG });
    let reached: (() => void) | undefined;
    const begun = new Promise<void>((resolve) => {
      reached = resolve;
    });
    const stuck = {
      ...vault,
      check: () => {
        reached?.();
        return new Promise<never>(() => {});
      },
    };
    const call = { phone: PHONE, pin: PIN, idempotencyKey: 'call 3' };
    void accounts({ documents, vault: stuck, clock }).verifyPin(call);
    await begun;
    const other = await own.verifyPin({ ...call, idempotencyKey: 'call 4' });
    assert.ok(!other.ok && other.reason === 'locked', 'a try that is not finished counts as a failure');
    assert.ok((await own.verifyPin(call)).ok);
  });

  test('overload is not a failure of the caller', async () => {
    const { own, clock } = open();
    await created(own);
    const derive = () => Promise.reject(new TwinlineError('ERR_BUSY', 'full'));
    const busy = accounts({ documents, clock, vault: pinVault({ keyring: keyring(KEYS.old), derive }) });
    for (let tries = 0; tries < 5; tries++)
      assert.is(
        (await rejection(busy.verifyPin({ phone: PHONE, pin: PIN, idempotencyKey: `${tries}` }))).code,
        'ERR_BUSY',
      );
    assert.equal(await own.verifyPin({ phone: PHONE, pin: WRONG }), { ok: false, reason: 'wrong', remaining: 2 });
  });

  test('a changed PIN replaces the old one, and the change made again answers the same', async () => {
    const { own } = open();
    await created(own);
    const call = { phone: PHONE, pin: PIN, newPin: '730528', idempotencyKey: 'change 1' };
    assert.equal(await Promise.all([own.changePin(call), own.changePin(call)]), [{ changed: true }, { changed: true }]);
    for (let repeats = 0; repeats < 5; repeats++) assert.equal(await own.changePin(call), { changed: true });
    assert.equal(await own.verifyPin({ phone: PHONE, pin: WRONG }), { ok: false, reason: 'wrong', remaining: 2 });
    assert.ok((await own.verifyPin({ phone: PHONE, pin: '730528' })).ok);
    assert.not((await own.verifyPin({ phone: PHONE, pin: PIN })).ok);
  });

  test('a change that its twin overtook answers as the twin did', async () => {
    const { own } = open();
    await created(own);
    const call = { phone: PHONE, pin: PIN, newPin: '730528', idempotencyKey: 'change 1' };
    let first = true;
    const overtaken = intercepted(documents, 'find', async (find) => {
      const before = await find();
      if (first) {
        first = false;
        assert.equal(await own.changePin(call), { changed: true });
      }
      return before;
    });
    assert.equal(await open({ documents: overtaken }).own.changePin(call), { changed: true });
  });

  test('a PIN is changed only to a good one, and only by who knows the old one', async () => {
    const { own, hash } = open();
    await created(own);
    const before = hash.calls();
    const change = (pin: string, newPin: string) => own.changePin({ phone: PHONE, pin, newPin });
    assert.equal(await change(PIN, '12'), { changed: false, reason: 'bad-pin' });
    assert.equal(await change(PIN, '4567'), { changed: false, reason: 'weak-pin' });
    assert.is(hash.calls(), before);
    assert.equal(await change(WRONG, '730528'), { changed: false, reason: 'wrong', remaining: 2 });
    assert.equal(await change(WRONG, '730528'), { changed: false, reason: 'wrong', remaining: 1 });
    const last = await change(WRONG, '730528');
    assert.ok(!last.changed && last.reason === 'locked');
    assert.not((await own.verifyPin({ phone: PHONE, pin: PIN })).ok, 'the lock is that of the account');
  });

  test('the first login after a rotation seals the PIN under the new key', async () => {
    const { own, hash, clock } = open();
    const customerId = await created(own);
    const kid = async () => String((await documents.get(ACCOUNTS, customerId))?.body.pin).split('$')[1];
    const rotated = pinVault({ keyring: keyring(KEYS.next, KEYS.old), derive: hash.derive });
    const after = accounts({ documents, clock, vault: rotated });
    await after.verifyPin({ phone: PHONE, pin: WRONG });
    assert.is(await kid(), 'old');
    assert.ok((await after.verifyPin({ phone: PHONE, pin: PIN })).ok);
    assert.is(await kid(), 'next');
    assert.ok((await after.verifyPin({ phone: PHONE, pin: PIN })).ok);
  });

  test('a store that fails answers no login, at whichever step it fails', async () => {
    const { own } = open();
    await created(own);
    const steps = { find: [1, 2], get: [1, 2], replace: [1, 2] } as const;
    for (const [name, times] of Object.entries(steps))
      for (const failing of times) {
        let count = 0;
        const away = intercepted(documents, name as keyof typeof steps, (act) =>
          ++count === failing ? Promise.reject(new TwinlineError('ERR_STORE', 'away')) : act(),
        );
        const error = await rejection(open({ documents: away }).own.verifyPin({ phone: PHONE, pin: PIN }));
        assert.is(error.code, 'ERR_STORE', `${name} ${failing}`);
        await own.unlock(PHONE, 'cli');
      }
  });

  test('guesses on many numbers are slowed: of one number one is checked, and none is told to be wrong', async () => {
    const { own, hash } = open();
    await created(own);
    await own.verifyPin({ phone: PHONE, pin: WRONG });
    const other = '+263771112222';
    await created(own, other);
    const guess = (n: number) => ({ phone: `+2637812345${n + 10}`, pin: WRONG });
    for (let n = 0; n < 50; n++) await own.verifyPin(guess(n));
    const before = hash.calls();
    for (const [call, checks] of [
      [{ phone: PHONE, pin: PIN }, 0],
      [{ phone: PHONE, pin: WRONG }, 0],
      [guess(0), 0],
      [guess(60), 1],
      [guess(60), 1],
    ] as const) {
      const error = await rejection(own.verifyPin(call));
      assert.equal([error.code, hash.calls() - before], ['ERR_BUSY', checks]);
      assert.match(error.message, 'Too many PIN checks are failing');
    }
    assert.is((await own.standing(PHONE)).failuresInRow, 1, 'what is not checked is not counted');
    for (let n = 0; n < 30; n++) assert.ok((await own.verifyPin({ phone: other, pin: PIN })).ok);
    for (let n = 61; n < 61 + ACCOUNT_LIMITS.slowedChecks; n++) await rejection(own.verifyPin(guess(n)));
    const spent = hash.calls();
    assert.is((await rejection(own.verifyPin({ phone: other, pin: PIN }))).code, 'ERR_BUSY');
    assert.is(hash.calls(), spent, 'a flood of guesses is not checked at all');
  });

  test.run();
}

// Who has to go, and when: tokens that expire or are revoked, sessions that are deleted.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SERVER_LIMITS } from '../../../server/config/limits.ts';
import { type Ground, ground } from '../../agent/ground.ts';
import { until } from '../../support/until.ts';
import { back, cut, newUser, openPlace, type Scene, type Tab, withScene } from './ground.ts';

const test = suite('sockets: leaving');

const scene = (play: (scene: Scene) => Promise<void>) => withScene({}, play);
const SENT_AWAY = ['connect', 'disconnect: io server disconnect'];
const EXPIRED = ['connect', 'disconnect: transport close'];
const isGone = (tab: Tab) => tab.states.length > 1;

test('a socket loses its connection when its token expires, not before, and the others stay', () =>
  scene(async ({ here, user, greeted }) => {
    const short = await greeted({ invocation: await user.invocation(90) });
    const long = await greeted({ ucanDelegation: await user.delegation(31_000_000) });
    await here.clock.advance(89_999);
    assert.is((await short.ask('ping')).sessionId !== undefined, true);
    await here.clock.advance(1);
    await until('gone', () => isGone(short));
    assert.equal(short.states, EXPIRED);
    await long.ask('ping');
    assert.equal(long.states, ['connect']);
  }));

test('a client that is asked for its token comes back by itself with a fresh one, and hears what it missed', () =>
  scene(async ({ here, user, open, tell }) => {
    let asked = 0;
    const auth = async (answer: (auth: object) => void) => {
      if (asked++ > 0) await tell(2);
      answer({ invocation: await user.invocation(60) });
    };
    const tab = open({ auth: (answer) => void auth(answer), reconnection: true, reconnectionDelay: 1 });
    await until('greeted', () => tab.heard.length > 0);
    await tell(1);
    await until('told', () => tab.said('reasoning').length === 1);
    await here.clock.advance(60_000);
    await until('back, and caught up', () => tab.said('reasoning').length === 3);
    assert.equal([asked, tab.socket.recovered, tab.states], [2, true, [...EXPIRED, 'connect']]);
  }));

test('with a delegation of the same user beside its invocation a socket stays, and comes back with both, as long as one counts', () =>
  scene(async ({ here, user, greeted }) => {
    const auth = { invocation: await user.invocation(60), ucanDelegation: await user.delegation(600) };
    const tab = await greeted(auth);
    await here.clock.advance(60_000);
    await tab.ask('ping');
    assert.equal(tab.states, ['connect']);
    await cut(tab);
    await back(tab);
    await tab.ask('ping');
    await here.clock.advance(540_000);
    await until('gone', () => tab.states.at(-1) === EXPIRED[1]);
    await back(tab);
    await until('refused', () => tab.states.at(-1) === SENT_AWAY[1]);
  }));

test('a delegation of somebody else, or one that is not enough by itself, lets no socket stay longer', () =>
  scene(async ({ here, user, greeted, open }) => {
    const strict = await openPlace({ here, delegationAuth: false });
    try {
      const invocation = await user.invocation(60);
      const tabs = [
        await greeted({ invocation, ucanDelegation: await newUser(here).delegation() }),
        await greeted({ invocation, ucanDelegation: await user.delegation() }, strict),
      ];
      await here.clock.advance(60_000);
      await until('gone', () => tabs.every(isGone));
      for (const tab of tabs) assert.equal(tab.states, EXPIRED);
      const late = open({ auth: { invocation, ucanDelegation: await user.delegation() } }, strict);
      await until('refused', () => isGone(late));
      assert.equal(late.states, SENT_AWAY);
    } finally {
      await strict.close();
    }
  }));

test('who has an expired invocation goes when the delegation beside it is revoked', () =>
  scene(async ({ here, place, user, greeted }) => {
    const raw = await user.delegation();
    const tab = await greeted({ invocation: await user.invocation(60), ucanDelegation: raw });
    await place.delegations.store(user.did, raw);
    await here.clock.advance(60_000);
    await tab.ask('ping');
    await place.delegations.revoke(user.did);
    await here.clock.advance(SERVER_LIMITS.socketCheckMs);
    await until('gone', () => isGone(tab));
  }));

test('who came in with a delegation goes when it is revoked, at once and on every instance; invocations stay', () =>
  scene(async ({ here, place, user, open, greeted }) => {
    const other = await openPlace({ here });
    try {
      const raw = await user.delegation();
      const tabs = [await greeted({ ucanDelegation: raw }), await greeted({ ucanDelegation: raw }, other)];
      const stays = await greeted({ invocation: await user.invocation(), ucanDelegation: raw }, other);
      await place.delegations.store(user.did, raw);
      assert.ok(await place.delegations.revoke(user.did));
      await until('gone', () => tabs.every(isGone));
      for (const tab of tabs) assert.equal(tab.states, SENT_AWAY);
      await stays.ask('ping');
      const late = open({ auth: { ucanDelegation: raw } }, other);
      await until('refused', () => isGone(late));
    } finally {
      await other.close();
    }
  }));

const LOOKS: { readonly [when: string]: (here: Ground, gaps: readonly (() => void)[]) => unknown } = {
  'at the next look': ({ clock }) => clock.advance(SERVER_LIMITS.socketCheckMs),
  'after a gap in what an instance is told': (_here, gaps) => {
    for (const gap of gaps) gap();
  },
};

for (const [when, look] of Object.entries(LOOKS))
  test(`a revocation that nobody was told of is found ${when}`, () =>
    scene(async ({ here, place, user, greeted }) => {
      const gaps: (() => void)[] = [];
      const own = ground().channel;
      const channel: Ground['channel'] = {
        ...own,
        subscribe: (topic, subscriber) => {
          if (subscriber.onGap) gaps.push(subscriber.onGap);
          return own.subscribe(topic, subscriber);
        },
      };
      const deaf = await openPlace({ here: { ...here, channel } });
      try {
        const raw = await user.delegation();
        const tab = await greeted({ ucanDelegation: raw }, deaf);
        await place.delegations.store(user.did, raw);
        await place.delegations.revoke(user.did);
        await tab.ask('ping');
        await look(here, gaps);
        await until('gone', () => isGone(tab));
        assert.equal(tab.states, SENT_AWAY);
      } finally {
        await deaf.close();
      }
    }));

test('a socket goes when its session is deleted', () =>
  scene(async ({ here, place, user, session, greeted }) => {
    const tab = await greeted();
    assert.ok(await place.agent.deleteSession(user.did, session));
    await here.clock.advance(SERVER_LIMITS.socketCheckMs);
    await until('gone', () => isGone(tab));
    assert.equal(tab.states, SENT_AWAY);
  }));

test('a store that is away lets nobody in and sends nobody away', () =>
  scene(async ({ here, user, open, greeted }) => {
    let away = false;
    const { get } = here.documents;
    const documents: Ground['documents'] = {
      ...here.documents,
      get: (kind, id) => (away ? Promise.reject(new Error('away')) : get(kind, id)),
    };
    const place = await openPlace({ here: { ...here, documents } });
    try {
      const auth = { invocation: await user.invocation() };
      const tab = await greeted(auth, place);
      away = true;
      await here.clock.advance(SERVER_LIMITS.socketCheckMs);
      const again = open({ auth, reconnection: true, reconnectionDelay: 50 }, place);
      await until('tried more than once', () => place.problems.length > 2);
      assert.equal([again.heard, tab.states], [[], ['connect']]);
      away = false;
      await until('let in when the store is back', () => again.heard.length > 0);
    } finally {
      await place.close();
    }
  }));

test.run();

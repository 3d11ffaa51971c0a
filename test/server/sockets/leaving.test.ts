// Who has to go, and when: tokens that expire or are revoked, sessions that are deleted, a server that stops.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { SimulatedClock } from '../../../lib/clock.ts';
import { SERVER_LIMITS } from '../../../server/config/limits.ts';
import { type Ground, ground, newSession } from '../../agent/ground.ts';
import { newUser, openPlace, openTab, type Place, type Tab, type TabOptions, type User, until } from './ground.ts';

const test = suite('sockets: leaving');

interface Scene {
  readonly here: Ground & { readonly clock: SimulatedClock };
  readonly place: Place;
  readonly user: User;
  readonly session: string;
  greeted(auth: TabOptions['auth'], at?: Place): Promise<Tab>;
}

async function scene(play: (scene: Scene) => Promise<void>): Promise<void> {
  const here = ground() as Scene['here'];
  const place = await openPlace({ here });
  const user = newUser(here);
  const session = await newSession(place.agent, user.did);
  const tabs: Tab[] = [];
  const greeted = async (auth: TabOptions['auth'], at = place) => {
    const tab = openTab(at.url, { query: { sessionId: session }, auth: auth! });
    tabs.push(tab);
    await until(() => tab.heard.length > 0, 'greeted');
    return tab;
  };
  try {
    await play({ here, place, user, session, greeted });
  } finally {
    for (const tab of tabs) tab.close();
    await place.close();
  }
}

const SENT_AWAY = ['connect', 'disconnect: io server disconnect'];
const isGone = (tab: Tab) => tab.states.length > 1;

test('a socket goes when its token expires, not before, and the others stay', () =>
  scene(async ({ here, user, greeted }) => {
    const short = await greeted({ invocation: await user.invocation(90) });
    const long = await greeted({ ucanDelegation: await user.delegation(31_000_000) });
    await here.clock.advance(89_999);
    assert.is((await short.socket.timeout(10_000).emitWithAck('ping')).sessionId !== undefined, true);
    await here.clock.advance(1);
    await until(() => isGone(short), 'gone');
    assert.equal(short.states, SENT_AWAY);
    await long.socket.timeout(10_000).emitWithAck('ping');
    assert.equal(long.states, ['connect']);
  }));

test('who came in with a delegation goes when it is revoked, at once and on every instance; invocations stay', () =>
  scene(async ({ here, place, user, greeted }) => {
    const other = await openPlace({ here });
    try {
      const raw = await user.delegation();
      const tabs = [await greeted({ ucanDelegation: raw }), await greeted({ ucanDelegation: raw }, other)];
      const stays = await greeted({ invocation: await user.invocation(), ucanDelegation: raw }, other);
      await place.delegations.store(user.did, raw);
      assert.ok(await place.delegations.revoke(user.did));
      await until(() => tabs.every(isGone), 'gone');
      for (const tab of tabs) assert.equal(tab.states, SENT_AWAY);
      await stays.socket.timeout(10_000).emitWithAck('ping');
      const late = openTab(other.url, { query: { sessionId: 'x' }, auth: { ucanDelegation: raw } });
      await until(() => isGone(late), 'refused');
    } finally {
      await other.close();
    }
  }));

test('a revocation that nobody was told of is found at the next look', () =>
  scene(async ({ here, place, user, greeted }) => {
    const deaf = await openPlace({ here: { ...here, channel: ground().channel } });
    try {
      const raw = await user.delegation();
      const tab = await greeted({ ucanDelegation: raw }, deaf);
      await place.delegations.store(user.did, raw);
      await place.delegations.revoke(user.did);
      await tab.socket.timeout(10_000).emitWithAck('ping');
      await here.clock.advance(SERVER_LIMITS.socketCheckMs);
      await until(() => isGone(tab), 'gone');
      assert.equal(tab.states, SENT_AWAY);
    } finally {
      await deaf.close();
    }
  }));

test('after a gap in what it is told, an instance looks for itself', () =>
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
      for (const gap of gaps) gap();
      await until(() => isGone(tab), 'gone');
    } finally {
      await deaf.close();
    }
  }));

test('a socket goes when its session is deleted', () =>
  scene(async ({ here, place, user, session, greeted }) => {
    const tab = await greeted({ invocation: await user.invocation() });
    assert.ok(await place.agent.deleteSession(user.did, session));
    await here.clock.advance(SERVER_LIMITS.socketCheckMs);
    await until(() => isGone(tab), 'gone');
    assert.equal(tab.states, SENT_AWAY);
  }));

test('a store that is away lets nobody in and sends nobody away', () =>
  scene(async ({ here, user, greeted, session }) => {
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
      const again = openTab(place.url, {
        query: { sessionId: session },
        auth,
        reconnection: true,
        reconnectionDelay: 50,
      });
      await until(() => place.problems.length > 2, 'tried more than once');
      assert.equal([again.heard, tab.states], [[], ['connect']]);
      away = false;
      await until(() => again.heard.length > 0, 'let in when the store is back');
      again.close();
    } finally {
      await place.close();
    }
  }));

test('a server that stops hangs up, so that clients look for another one, and leaves nothing open', () =>
  scene(async ({ user, greeted, place }) => {
    const auth = { invocation: await user.invocation() };
    const tabs = [await greeted(auth), await greeted(auth)];
    const begun = performance.now();
    await place.close();
    await until(() => tabs.every(isGone), 'gone');
    for (const tab of tabs) assert.equal(tab.states, ['connect', 'disconnect: transport close']);
    assert.ok(performance.now() - begun < 10_000);
    await place.close();
  }));

test.run();

// Coming back after a cut: what was missed is handed over once, in order, and only to who may still hear it.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { SimulatedClock } from '../../../lib/clock.ts';
import { SERVER_LIMITS } from '../../../server/config/limits.ts';
import { type Ground, ground, newSession } from '../../agent/ground.ts';
import { newUser, openPlace, openTab, type Place, type Tab, type User, until } from './ground.ts';

const test = suite('sockets: recovery');

interface Scene {
  readonly here: Ground & { readonly clock: SimulatedClock };
  readonly place: Place;
  readonly user: User;
  readonly session: string;
  /** Tells the session so many numbered events. */
  tell(count: number): Promise<void>;
  greeted(auth: object): Promise<Tab>;
}

async function scene(play: (scene: Scene) => Promise<void>): Promise<void> {
  const here = ground() as Scene['here'];
  const place = await openPlace({ here });
  const user = newUser(here);
  const session = await newSession(place.agent, user.did);
  const tabs: Tab[] = [];
  let told = 0;
  const tell = async (count: number) => {
    for (let at = 0; at < count; at++)
      await place.agent.room.tell(session, 'reasoning', { sessionId: session, at: told++ });
  };
  const greeted = async (auth: object) => {
    const tab = openTab(place.url, { query: { sessionId: session }, auth: { ...auth } });
    tabs.push(tab);
    await until(() => tab.heard.length > 0, 'greeted');
    return tab;
  };
  try {
    await play({ here, place, user, session, tell, greeted });
  } finally {
    for (const tab of tabs) tab.close();
    await place.close();
  }
}

const numbers = (tab: Tab) => tab.said('reasoning').map(({ at }) => at);
const counted = (count: number) => Array.from({ length: count }, (_, at) => at);

/** Cuts the line of a client without a goodbye. */
async function cut(tab: Tab): Promise<void> {
  const states = tab.states.length;
  tab.socket.io.engine.close();
  await until(() => tab.states.length > states, 'cut');
}

async function back(tab: Tab): Promise<void> {
  const states = tab.states.length;
  tab.socket.connect();
  await until(() => tab.states.length > states, 'back');
}

test('a client that was cut off hears what it missed, once and in order, also of further sessions', () =>
  scene(async ({ place, user, tell, greeted }) => {
    const tab = await greeted({ invocation: await user.invocation() });
    const second = await newSession(place.agent, user.did);
    await tab.socket.timeout(10_000).emitWithAck('subscribe', { sessionId: second });
    await tell(3);
    await until(() => numbers(tab).length === 3, 'told');
    const { id } = tab.socket;
    await cut(tab);
    // The server has to notice, too.
    const watching = await greeted({ invocation: await user.invocation() });
    for (let total = 2; total > 1; ) {
      const status = await watching.socket.timeout(10_000).emitWithAck('status');
      total = status.totalConnections as number;
    }
    await tell(20);
    await place.agent.room.tell(second, 'tool_call', { sessionId: second });
    await back(tab);
    await tell(3);
    await until(() => numbers(tab).length >= 26, 'caught up');
    assert.equal(numbers(tab), counted(26));
    assert.equal([tab.socket.recovered, tab.socket.id], [true, id]);
    assert.is(tab.said('tool_call').length, 1);
    await place.agent.room.tell(second, 'tool_call', { sessionId: second });
    await until(() => tab.said('tool_call').length === 2, 'still listens to both');
  }));

test('a client that comes back while events go on misses none and hears none twice', () =>
  scene(async ({ user, tell, greeted }) => {
    const tab = await greeted({ invocation: await user.invocation() });
    let telling = true;
    let told = 0;
    const events = (async () => {
      for (; telling; told += 5) {
        await tell(5);
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
    })();
    for (let times = 0; times < 5; times++) {
      await until(() => numbers(tab).length > times * 20, 'some came');
      await cut(tab);
      await new Promise((resolve) => setTimeout(resolve, 20));
      await back(tab);
    }
    telling = false;
    await events;
    await until(() => numbers(tab).length >= told, 'all came');
    assert.equal(
      numbers(tab).toSorted((a, b) => Number(a) - Number(b)),
      counted(told),
    );
  }));

/** What a client says that comes back by hand: its private id and its last number. */
function claimOf(tab: Tab): object {
  const { _pid: pid, _lastOffset: offset } = tab.socket as unknown as { _pid: string; _lastOffset: string };
  assert.ok(pid && offset);
  return { pid, offset };
}

test('a client whose token counts no more is handed nothing, and gets it when its token does', () =>
  scene(async ({ here, user, session, place, tell, greeted }) => {
    const tab = await greeted({ invocation: await user.invocation(60) });
    await tell(1);
    await until(() => numbers(tab).length === 1, 'told');
    const invocation = await user.invocation(300);
    await cut(tab);
    await tell(5);
    await here.clock.advance(60_000);
    await back(tab);
    await until(() => tab.states.length > 3, 'refused');
    assert.equal(tab.states.slice(2), ['connect', 'disconnect: io server disconnect']);
    assert.equal(numbers(tab), [0]);
    Object.assign(tab.socket.auth, { invocation });
    await back(tab);
    await until(() => numbers(tab).length > 1 || tab.said('connected').length > 1, 'greeted again');
    assert.equal(place.problems, []);
    assert.is(tab.said('connected').at(-1)!.sessionId, session);
  }));

test('who was revoked while away is handed nothing', () =>
  scene(async ({ user, place, tell, greeted }) => {
    const raw = await user.delegation();
    const tab = await greeted({ ucanDelegation: raw });
    await tell(1);
    await until(() => numbers(tab).length === 1, 'told');
    await place.delegations.store(user.did, raw);
    await cut(tab);
    await tell(5);
    await place.delegations.revoke(user.did);
    await back(tab);
    await until(() => tab.states.length > 3, 'refused');
    assert.equal(numbers(tab), [0]);
  }));

test("whoever shows somebody else's claim to what was missed is sent away with nothing", () =>
  scene(async ({ here, user, place, tell, greeted }) => {
    const tab = await greeted({ invocation: await user.invocation() });
    await tell(1);
    await until(() => numbers(tab).length === 1, 'told');
    const claim = claimOf(tab);
    await cut(tab);
    await tell(5);
    const thief = newUser(here);
    const own = await newSession(place.agent, thief.did);
    const tries = openTab(place.url, {
      query: { sessionId: own },
      auth: { ...claim, invocation: await thief.invocation() },
    });
    await until(() => tries.states.length > 1, 'sent away');
    assert.equal([tries.heard, tries.states], [[], ['connect', 'disconnect: io server disconnect']]);
  }));

test('of two that claim the same connection the later one is served', () =>
  scene(async ({ user, session, place, tell, greeted }) => {
    const auth = { invocation: await user.invocation() };
    const tab = await greeted(auth);
    await tell(1);
    await until(() => numbers(tab).length === 1, 'told');
    const claim = claimOf(tab);
    await cut(tab);
    await tell(1);
    await back(tab);
    await until(() => numbers(tab).length === 2, 'caught up');
    const twin = openTab(place.url, { query: { sessionId: session }, auth: { ...auth, ...claim } });
    await until(() => tab.states.at(-1)!.startsWith('disconnect'), 'the older one goes');
    await until(() => numbers(twin).length === 1, 'the later one caught up');
    await tell(1);
    await until(() => numbers(twin).length === 2, 'and listens');
    assert.equal(
      [numbers(twin), numbers(tab)],
      [
        [1, 2],
        [0, 1],
      ],
    );
    twin.close();
  }));

test('only so many events are kept: who missed more begins anew', () =>
  scene(async ({ user, tell, greeted }) => {
    const tab = await greeted({ invocation: await user.invocation() });
    const { id } = tab.socket;
    await cut(tab);
    await tell(SERVER_LIMITS.socketEventsKept * 2);
    await back(tab);
    await until(() => tab.said('connected').length > 1, 'greeted');
    assert.equal([tab.socket.recovered, numbers(tab)], [false, []]);
    assert.is.not(tab.socket.id, id);
  }));

test('only so many bytes are kept: few large events that were missed are too many', () =>
  scene(async ({ user, place, session, greeted }) => {
    const tab = await greeted({ invocation: await user.invocation() });
    await cut(tab);
    const payload = { sessionId: session, text: 'x'.repeat(60_000) };
    const events = Math.ceil((SERVER_LIMITS.socketEventBytesKept * 1.2) / 60_000);
    assert.ok(events < SERVER_LIMITS.socketEventsKept);
    for (let at = 0; at < events; at++) await place.agent.room.tell(session, 'tool_call', payload);
    await back(tab);
    await until(() => tab.said('connected').length > 1, 'greeted');
    assert.is(tab.socket.recovered, false);
  }));

test('a session that was deleted meanwhile is not listened to any more', () =>
  scene(async ({ user, place, session, greeted }) => {
    const tab = await greeted({ invocation: await user.invocation() });
    const second = await newSession(place.agent, user.did);
    await tab.socket.timeout(10_000).emitWithAck('subscribe', { sessionId: second });
    await cut(tab);
    await place.agent.deleteSession(user.did, second);
    await back(tab);
    await until(() => tab.said('connected').length > 1, 'greeted');
    await place.agent.room.tell(second, 'tool_call', { sessionId: second });
    await place.agent.room.tell(session, 'tool_call', { sessionId: session });
    await until(() => tab.said('tool_call').length > 0, 'told');
    assert.equal(
      tab.said('tool_call').map(({ sessionId }) => sessionId),
      [session],
    );
  }));

test.run();

// Coming back after a cut: what was missed is handed over once, in order, and only to who may still hear it.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SERVER_LIMITS } from '../../../server/config/limits.ts';
import { newSession } from '../../agent/ground.ts';
import { until } from '../../support/until.ts';
import { back, cut, newUser, type Scene, type Tab, withScene } from './ground.ts';

const test = suite('sockets: recovery');

const scene = (play: (scene: Scene) => Promise<void>) => withScene({}, play);
const numbers = (tab: Tab) => tab.said('reasoning').map(({ at }) => at);
const counted = (count: number) => Array.from({ length: count }, (_, at) => at);

test('a client that was cut off hears what it missed, once and in order, also of further sessions', () =>
  scene(async ({ place, user, tell, greeted }) => {
    const tab = await greeted();
    const second = await newSession(place.agent, user.did);
    await tab.ask('subscribe', { sessionId: second });
    await tell(3);
    await until('told', () => numbers(tab).length === 3);
    const { id } = tab.socket;
    await cut(tab);
    // The server has to notice, too.
    const watching = await greeted();
    for (let total = 2; total > 1; ) {
      const status = await watching.ask('status');
      total = status.totalConnections as number;
    }
    await tell(20);
    await place.agent.room.tell(second, 'tool_call', { sessionId: second });
    await back(tab);
    await tell(3);
    await until('caught up', () => numbers(tab).length >= 26);
    assert.equal(numbers(tab), counted(26));
    assert.equal([tab.socket.recovered, tab.socket.id], [true, id]);
    assert.is(tab.said('tool_call').length, 1);
    await place.agent.room.tell(second, 'tool_call', { sessionId: second });
    await until('still listens to both', () => tab.said('tool_call').length === 2);
  }));

test('a client that comes back while events go on misses none and hears none twice', () =>
  scene(async ({ tell, greeted }) => {
    const tab = await greeted();
    let telling = true;
    let told = 0;
    const events = (async () => {
      for (; telling; told += 5) {
        await tell(5);
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
    })();
    for (let times = 0; times < 5; times++) {
      await until('some came', () => numbers(tab).length > times * 20);
      await cut(tab);
      const before = told;
      await until('more is told meanwhile', () => told > before);
      await back(tab);
    }
    telling = false;
    await events;
    await until('all came', () => numbers(tab).length >= told);
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
    await until('told', () => numbers(tab).length === 1);
    const invocation = await user.invocation(300);
    await cut(tab);
    await tell(5);
    await here.clock.advance(60_000);
    await back(tab);
    await until('refused', () => tab.states.length > 3);
    assert.equal(tab.states.slice(2), ['connect', 'disconnect: io server disconnect']);
    assert.equal(numbers(tab), [0]);
    Object.assign(tab.socket.auth, { invocation });
    await back(tab);
    await until('greeted again', () => numbers(tab).length > 1 || tab.said('connected').length > 1);
    assert.equal(place.problems, []);
    assert.is(tab.said('connected').at(-1)!.sessionId, session);
  }));

test('who was revoked while away is handed nothing', () =>
  scene(async ({ user, place, tell, greeted }) => {
    const raw = await user.delegation();
    const tab = await greeted({ ucanDelegation: raw });
    await tell(1);
    await until('told', () => numbers(tab).length === 1);
    await place.delegations.store(user.did, raw);
    await cut(tab);
    await tell(5);
    await place.delegations.revoke(user.did);
    await back(tab);
    await until('refused', () => tab.states.length > 3);
    assert.equal(numbers(tab), [0]);
  }));

test("whoever shows somebody else's claim to what was missed is sent away with nothing", () =>
  scene(async ({ here, place, tell, open, greeted }) => {
    const tab = await greeted();
    await tell(1);
    await until('told', () => numbers(tab).length === 1);
    const claim = claimOf(tab);
    await cut(tab);
    await tell(5);
    const thief = newUser(here);
    const own = await newSession(place.agent, thief.did);
    const tries = open({ query: { sessionId: own }, auth: { ...claim, invocation: await thief.invocation() } });
    await until('sent away', () => tries.states.length > 1);
    assert.equal([tries.heard, tries.states], [[], ['connect', 'disconnect: io server disconnect']]);
  }));

test('of two that claim the same connection the later one is served', () =>
  scene(async ({ user, tell, open, greeted }) => {
    const auth = { invocation: await user.invocation() };
    const tab = await greeted(auth);
    await tell(1);
    await until('told', () => numbers(tab).length === 1);
    const claim = claimOf(tab);
    await cut(tab);
    await tell(1);
    await back(tab);
    await until('caught up', () => numbers(tab).length === 2);
    const twin = open({ auth: { ...auth, ...claim } });
    await until('the older one goes', () => tab.states.at(-1)!.startsWith('disconnect'));
    await until('the later one caught up', () => numbers(twin).length === 1);
    await tell(1);
    await until('and listens', () => numbers(twin).length === 2);
    assert.equal(
      [numbers(twin), numbers(tab)],
      [
        [1, 2],
        [0, 1],
      ],
    );
  }));

const TOO_MUCH: { readonly [what: string]: readonly [events: number, chars: number] } = {
  events: [SERVER_LIMITS.socketEventsKept * 2, 0],
  bytes: [Math.ceil((SERVER_LIMITS.socketEventBytesKept * 1.2) / 60_000), 60_000],
};

for (const [what, [events, chars]] of Object.entries(TOO_MUCH))
  test(`only so many ${what} are kept: who missed more begins anew`, () =>
    scene(async ({ place, session, greeted }) => {
      const tab = await greeted();
      const { id } = tab.socket;
      await cut(tab);
      const payload = { sessionId: session, text: 'x'.repeat(chars) };
      for (let at = 0; at < events; at++) await place.agent.room.tell(session, 'tool_call', payload);
      await back(tab);
      await until('greeted', () => tab.said('connected').length > 1);
      assert.equal([tab.socket.recovered, tab.said('tool_call')], [false, []]);
      assert.is.not(tab.socket.id, id);
    }));

test('a session that was deleted meanwhile is not listened to any more', () =>
  scene(async ({ user, place, session, greeted }) => {
    const tab = await greeted();
    const second = await newSession(place.agent, user.did);
    await tab.ask('subscribe', { sessionId: second });
    await cut(tab);
    await place.agent.deleteSession(user.did, second);
    await back(tab);
    await until('greeted', () => tab.said('connected').length > 1);
    await place.agent.room.tell(second, 'tool_call', { sessionId: second });
    await place.agent.room.tell(session, 'tool_call', { sessionId: session });
    await until('told', () => tab.said('tool_call').length > 0);
    assert.equal(
      tab.said('tool_call').map(({ sessionId }) => sessionId),
      [session],
    );
  }));

test.run();

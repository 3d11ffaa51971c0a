// The hub: asleep while nobody watches, the last 500 while somebody does, and slow viewers that delay nobody.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { InspectionEvent } from '../../lib/engine/conversation.ts';
import { feed } from '../../lib/inspection/feed.ts';
import { createHub, type Hub, type HubOptions } from '../../lib/inspection/hub.ts';
import { INSPECTION_LIMITS } from '../../lib/inspection/limits.ts';
import type { TraceEvent } from '../../lib/inspection/trace.ts';
import { until } from '../support/until.ts';

const test = suite('inspector hub');

const hubs: Hub[] = [];
test.after.each(() => {
  for (const hub of hubs.splice(0)) hub.close();
});

function newHub(options: Partial<HubOptions> = {}): Hub {
  const hub = createHub({ secret: Buffer.alloc(32), ...options });
  hubs.push(hub);
  return hub;
}

const sighting = (at: number): InspectionEvent => ({
  kind: 'step',
  machine: 'delegation',
  version: 1,
  key: `delegation/${at % 7}`,
  revision: 1,
  at,
  rest: { state: 'authorized', context: { expiresAt: at } },
  ended: false,
  transitions: [{ event: 'STORE', from: 'authorized', to: 'authorized' }],
});

/** A viewer that keeps what it is shown, and waits for so many moments. */
function viewer(hub: Hub) {
  const seen: TraceEvent[] = [];
  hub.attach((moments) => void seen.push(...moments));
  return { seen, count: (wanted: number) => until(`${wanted} moments`, () => seen.length >= wanted) };
}

const sourceOf = (hub: Hub) => ({
  ...{ hub, definition: () => '{"id":"x"}', now: () => 0 },
  openSessions: async function* () {},
});

test('a hub is watched from the first viewer on, and tells of it once', () => {
  const told: boolean[] = [];
  const hub = newHub({ onPresence: (isWatched) => told.push(isWatched) });
  assert.is(hub.isWatched(), false);
  const [one, two] = [hub.attach(() => {}), hub.attach(() => {})];
  assert.is(hub.isWatched(), true);
  one();
  one();
  assert.equal(told, [true]);
  two();
  assert.equal(told, [true, false]);
  assert.is(hub.isWatched(), true, 'a page that is read anew finds what it saw');
});

test('viewers see moments in order, and one that comes later finds the last 500', async () => {
  const hub = newHub();
  const { seen, count } = viewer(hub);
  for (let at = 1; at <= INSPECTION_LIMITS.inspectorMoments + 50; at++) hub.emit(sighting(at));
  await count(INSPECTION_LIMITS.inspectorMoments + 50);
  assert.equal(
    seen.map(({ at }) => at),
    seen.map((_one, at) => at + 1),
  );
  assert.is(hub.events().length, INSPECTION_LIMITS.inspectorMoments);
  assert.is(hub.events()[0]!.at, 51);
  assert.is(new Set(seen.map(({ id }) => id)).size, seen.length);
});

test('who watches elsewhere is told, and silence ends that', async () => {
  const told: TraceEvent[] = [];
  const hub = newHub({ onForOthers: (moments) => void told.push(...moments) });
  hub.receive([{ id: 'x' } as TraceEvent]);
  assert.equal(hub.events(), [], 'nobody watches, and nothing is kept of what others tell');
  hub.noteWatchedElsewhere(3_600_000);
  assert.is(hub.isWatched(), true);
  hub.emit(sighting(1));
  assert.is((await until('a moment', () => told[0])).at, 1);
  assert.equal(hub.events(), [], 'nobody looks here');
  const other = newHub();
  other.noteWatchedElsewhere(1);
  await until('the hub to forget who watched', () => !other.isWatched());
});

test('a viewer that takes nothing is given up, and others go on', async () => {
  const hub = newHub();
  const slow = feed(sourceOf(hub), { signal: new AbortController().signal });
  const { count } = viewer(hub);
  hub.emit(sighting(1));
  const { value } = await slow.next();
  assert.is(value!.length, 3, 'an actor, its event, its snapshot');
  const most = INSPECTION_LIMITS.inspectorQueue;
  for (let sent = 1; sent <= most + 100; ) {
    for (let burst = 0; burst < 200; burst++) hub.emit(sighting(++sent));
    await count(sent);
  }
  assert.is((await slow.next()).done, true);
  assert.is(hub.viewers, 1);
});

test('the definition of a machine comes once, or with every actor where that is asked for', async () => {
  for (const [definitions, expected] of [
    ['once', 1],
    ['always', 3],
  ] as const) {
    const hub = newHub();
    const ended = new AbortController();
    const stream = feed(sourceOf(hub), { signal: ended.signal, definitions });
    const first = stream.next();
    for (const at of [1, 2, 3]) hub.emit(sighting(at));
    const { value } = (await first) as { value: readonly string[] };
    const messages = value.map((text) => JSON.parse(text) as { type: string; definition?: string });
    assert.is(messages.filter(({ definition }) => definition !== undefined).length, expected, definitions);
    ended.abort();
    await stream.next();
    assert.is(hub.viewers, 0);
  }
});

test.run();

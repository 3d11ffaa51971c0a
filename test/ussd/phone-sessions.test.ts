// A phone has at most three sessions: a flood of session ids from one number keeps no more than that.

import { setImmediate as nextTurn } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { systemClock } from '../../lib/clock.ts';
import { createEngine } from '../../lib/engine/engine.ts';
import { sessionKeys } from '../../lib/engine/sessions.ts';
import { TwinlineError } from '../../lib/errors.ts';
import { parseKeyring } from '../../lib/keyring.ts';
import { memorySnapshots } from '../../lib/store/memory/index.ts';
import { type SharedNotes, sharedNotes } from '../../lib/store/shared-note.ts';
import type { SnapshotStore } from '../../lib/store/store.ts';
import { DIAL_AGAIN } from '../../lib/ussd/reply.ts';
import { ussdService } from '../../lib/ussd/service.ts';
import { conversation } from '../simulation/machine.ts';

const test = suite('sessions of a phone');

const keyring = parseKeyring('00112233445566778899aabbccddeeff0123456789abcdeffedcba9876543210');

interface DoorParts {
  readonly store?: SnapshotStore;
  readonly notes?: Pick<SharedNotes, 'change'>;
  readonly onTurn?: () => void;
}

function door({ store = memorySnapshots(), ...more }: DoorParts = {}) {
  let crowded = 0;
  const problems: unknown[] = [];
  const engine = createEngine({ store, conversations: [conversation], keyring });
  const onProblem = (error: unknown) => void problems.push(error);
  const onCrowded = () => crowded++;
  const gateway = ussdService({ engine, flow: conversation.id, keyring, onCrowded, onProblem, ...more });
  const send = async (sessionId: string, text = '', phoneNumber = '+260971234567') => {
    const request = { sessionId, serviceCode: '*123#', phoneNumber, text, event: 'turn', mode: 'cumulative' } as const;
    const { kind, text: shown } = await gateway.turn(request, 'test');
    return `${kind} ${shown}`;
  };
  const live = async () => (await sessionKeys(engine, { prefix: 'ussd:', limit: 1_000 })).length;
  return { send, live, crowded: () => crowded, problems };
}

/** Instances on one store, how often they noted something there, and when nothing of that is under way. */
function instances() {
  const store = memorySnapshots();
  let writes = 0;
  let busy = 0;
  const commit: SnapshotStore['commit'] = async (...given) => {
    writes++;
    return store.commit(...given);
  };
  const shared = sharedNotes({ store: { load: store.load, commit }, clock: systemClock, keepMs: 60_000 });
  const notes: Pick<SharedNotes, 'change'> = {
    change: async (...given) => {
      busy++;
      return shared.change(...given).finally(() => busy--);
    },
  };
  const quiet = async () => {
    for (let calm = 0; calm < 20; calm = busy ? 0 : calm + 1) await nextTurn();
  };
  return { store, notes, writes: () => writes, quiet };
}

test('the fourth session of a phone ends its oldest one, and no other', async () => {
  const { send, crowded } = door();
  await send('other', '', '+260977777777');
  for (const id of ['one', 'two', 'three']) await send(id);
  assert.is(await send('one', 'a1'), 'continue one:a1');
  assert.is(crowded(), 0);
  await send('four');
  assert.is(crowded(), 1);
  assert.is(await send('one', 'a1*a2'), `end ${DIAL_AGAIN.text}`);
  for (const id of ['two', 'three', 'four']) assert.is(await send(id, 'a1'), `continue ${id}:a1`);
  assert.is(await send('other', 'a1', '+260977777777'), 'continue other:a1');
});

test('a watcher of turns that throws is a problem, and neither an answer nor the count of sessions changes', async () => {
  const lost = new Error('the disk is full');
  const onTurn = () => {
    throw lost;
  };
  const { send, crowded, problems } = door({ onTurn });
  for (const id of ['one', 'two', 'three', 'four']) assert.is(await send(id), `continue ${id}:`);
  assert.equal([crowded(), problems], [1, [lost, lost, lost, lost]]);
});

test('sessions that are over do not count', async () => {
  const { send, crowded } = door();
  await send('one');
  for (let at = 0; at < 10; at++) {
    await send(`short${at}`);
    assert.is(await send(`short${at}`, 'q'), `end short${at}:q`);
  }
  assert.is(await send('one', 'a1'), 'continue one:a1');
  assert.is(await send('short9', 'q'), 'end short9:q', 'the end is told again');
  assert.is(crowded(), 0);
});

test('a retry of a dial, and a dial under the same id, are no further session', async () => {
  const { send, crowded } = door();
  for (const id of ['one', 'two', 'three', 'three', 'two', 'three']) await send(id);
  assert.is(crowded(), 0);
  assert.is(await send('one', 'a1'), 'continue one:a1');
});

test('a flood of sessions of one phone keeps three of them', async () => {
  const { send, live, crowded } = door();
  await Promise.all(Array.from({ length: 200 }, (_, at) => send(`flood${at}`)));
  assert.equal([await live(), crowded()], [3, 197]);
});

test('instances count the sessions of a phone together, with one write for each dial', async () => {
  const { store, notes, writes, quiet } = instances();
  const [one, two] = [door({ store, notes }), door({ store, notes })];
  await one.send('one');
  await quiet();
  assert.is(writes(), 1);
  await two.send('two');
  await two.send('three');
  await one.send('one', 'a1');
  await quiet();
  assert.equal([await one.live(), one.crowded() + two.crowded()], [3, 0]);
  await two.send('four');
  await quiet();
  assert.equal([await one.live(), two.crowded()], [3, 1]);
  assert.is(await one.send('one', 'a1*a2'), `end ${DIAL_AGAIN.text}`);
  for (const id of ['two', 'three', 'four']) assert.is(await one.send(id, 'a1'), `continue ${id}:a1`);
  // Sessions that are over, wherever they ended, make room.
  await one.send('three', 'a1*q');
  await one.send('five');
  await quiet();
  assert.equal([await one.live(), one.crowded() + two.crowded()], [3, 1]);
});

test('a flood through many instances keeps three sessions of a phone, and all of other phones', async () => {
  const { store, notes, quiet } = instances();
  const doors = Array.from({ length: 4 }, () => door({ store, notes }));
  await doors[0]!.send('other', '', '+260977777777');
  for (let at = 0; at < 40; at++) await doors[at % 4]!.send(`flood${at}`);
  await quiet();
  assert.is(await doors[0]!.live(), 4);
  assert.is(await doors[1]!.send('other', 'a1', '+260977777777'), 'continue other:a1');
});

test('a store that does not count costs no answer; each instance counts for itself', async () => {
  const { store, quiet } = instances();
  const change = () => Promise.reject(new TwinlineError('ERR_STORE', 'away'));
  const { send, live, problems } = door({ store, notes: { change } });
  for (const id of ['one', 'two', 'three', 'four']) assert.is(await send(id), `continue ${id}:`);
  await quiet();
  assert.equal([await live(), problems.length], [3, 4]);
});

test.run();

// Dialogues that are cut go on at the next dial: exactly as without the cut, once, and never past a secret or on another SIM card.

import { readdirSync, readFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createEngine } from '../../lib/engine/engine.ts';
import { type CallerMemory, memoryOfProcess } from '../../lib/engine/memory/memory.ts';
import type { Services } from '../../lib/engine/service.ts';
import { type TurnResult, takeTurn } from '../../lib/engine/session/turn.ts';
import { TwinlineError } from '../../lib/errors.ts';
import type { Flow } from '../../lib/flow/format/flow.ts';
import { parseFlow } from '../../lib/flow/format/parse.ts';
import { compileFlow } from '../../lib/flow/run/compile.ts';
import { type DrivenClock, drivenClock } from '../../lib/flow/testing/session.ts';
import type { JsonObject } from '../../lib/json/json.ts';
import { parseKeyring } from '../../lib/keyring.ts';
import { memorySnapshots } from '../../lib/store/memory/index.ts';
import type { SnapshotStore } from '../../lib/store/store.ts';
import { closeSession } from '../../lib/ussd/hang-up.ts';
import { numbersFrom } from '../support/random.ts';
import { compareCuts, type ResumeGround } from './resume-model.ts';

const test = suite('resumed dialogues');
const KEYRING = parseKeyring('8f1de1e2c1a53b2d7f6a90e4b35c7d2818aa4cfe0b61d9f3e27c5b8490ad6f13');
const seed = Number(process.env.TEST_SEED ?? 1);

const read = (folder: string): Flow[] => {
  const url = new URL(`../../${folder}/`, import.meta.url);
  const names = readdirSync(url).filter((name) => name.endsWith('.flow.json'));
  return names.flatMap((name) => parseFlow(readFileSync(new URL(name, url), 'utf8'), name).flow ?? []);
};
const all = [...read('menus'), ...read('test/fixtures/flows')];
const flows = new Map(all.map((flow) => [flow.flow, flow]));
// Their language is that of the question.
const resumable = all.map((flow) => ({ ...flow, langs: ['en'], limits: { ...flow.limits, resume: '60m' } }));

const ground = (at: number): ResumeGround => {
  const clock = drivenClock();
  const open = () => ({ store: memorySnapshots({ clock }), memory: memoryOfProcess(clock) });
  return { clock, keyring: KEYRING, open, random: numbersFrom(at) };
};

const INPUTS = ['1', '1', '1', '2', '2', '3', '4', '0', '98', '5', '48291', '4829', 'Tariro Moyo', '20', 'x'];

test('a dialogue that is cut at any turn goes on as the one that is not, with the same calls, in every flow of the repository', async () => {
  let [resumed, waiting] = [0, 0];
  for (const [number, flow] of resumable.entries())
    for (let round = 0; round < 6; round++) {
      const at = 1_000 * seed + 20 * number + round;
      const chances = numbersFrom(at + 500);
      const fates = Array.from({ length: 100 }, chances);
      const answer = (_: string, count: number) => {
        const fate = fates[count % 100]!;
        if (fate < 0.1) return 'fails' as const;
        const output = {
          ok: fate < 0.7,
          exists: fate < 0.6,
          created: true,
          name: 'Ann',
          status: 200,
          body: { items: [{ label: 'a', amount: 1 }] },
        };
        return { output, ms: fate > 0.85 ? 20_000 : 0 };
      };
      const cuts = await compareCuts(compileFlow(flow, { flows }), ground(at), { turns: 25, answer, inputs: INPUTS });
      resumed += cuts.resumed;
      waiting += cuts.waiting;
    }
  assert.ok(resumed > 150 && waiting > 2, `${resumed} dialogues went on, ${waiting} while a call did`);
});

const ORDER: Flow = {
  flow: 'order',
  version: 1,
  start: 'home',
  limits: { resume: '10m' },
  vars: {
    bags: { type: 'number', default: 0, keep: '30d' },
    pin: { type: 'string', secret: true },
    paid: { type: 'object' },
  },
  screens: {
    home: {
      type: 'menu',
      text: 'Home {{bags}}',
      back: false,
      options: [
        { id: 'more', text: 'More', set: { bags: '=bags + 1' }, to: 'home' },
        { id: 'pay', text: 'Pay', to: 'pay' },
        { id: 'pin', text: 'PIN', to: 'pin' },
        { id: 'leave', text: 'Leave', to: 'bye' },
      ],
    },
    pay: { type: 'call', service: 'pay', with: { bags: '=bags' }, save: 'paid', done: 'receipt', fail: 'bye' },
    receipt: { type: 'menu', text: 'Paid {{bags}}', options: [{ id: 'on', text: 'On', to: 'home' }] },
    pin: { type: 'input', text: 'PIN?', save: 'pin', accept: { digits: 4 }, to: 'home' },
    bye: { type: 'end', text: 'Bye' },
  },
};
const ASKED = 'Continue where you stopped?\n1. Continue\n2. Start again';
const HOME = (bags: number) => `Home ${bags}\n1. More\n2. Pay\n3. PIN\n4. Leave`;

/** A caller of the flow above, whose engine is replaced for each turn. */
function openCaller({ store, memory, clock }: { store: SnapshotStore; memory: CallerMemory; clock: DrivenClock }) {
  const paid: string[] = [];
  const services: Services = {
    pay: async (input, { idempotencyKey }) => {
      if (!paid.includes(idempotencyKey)) paid.push(idempotencyKey);
      return input;
    },
  };
  const conversations = [compileFlow(ORDER)];
  const open = () => createEngine({ store, memory, clock, services, keyring: KEYRING, conversations });
  const dial = (key: string, more: JsonObject = {}, inputs: readonly string[] = []) => {
    const door = { phoneNumber: '+260971234567', ...more };
    return clock.drive(
      takeTurn(open(), {
        key,
        turnKey: `${key} dial`,
        decide: () => ({ kind: 'begin', conversation: 'order', door, inputs }),
      }),
    );
  };
  const type = (key: string, input: string, turnKey = `${key} ${input} ${clock.now()}`) =>
    clock.drive(takeTurn(open(), { key, turnKey, decide: () => ({ kind: 'input', input }) }));
  const say = async (key: string, ...inputs: string[]): Promise<string | undefined> => {
    let text: string | undefined;
    for (const [at, input] of inputs.entries())
      text = (await type(key, input, `${key} ${input} ${at} ${clock.now()}`)).reply?.text;
    return text;
  };
  return { open, dial, type, say, paid };
}

function openPlace() {
  const clock = drivenClock();
  const [store, memory] = [memorySnapshots({ clock }), memoryOfProcess(clock)];
  return { clock, store, memory, ...openCaller({ clock, store, memory }) };
}

const textOf = async (turn: Promise<TurnResult>) => (await turn).reply?.text;

test('of two sessions that go on with the same one at once, one does, and the other begins anew; the one that was cut takes nothing any more', async () => {
  const { dial, say, type, clock } = openPlace();
  await dial('a');
  assert.is(await say('a', '1', '1'), HOME(2));
  assert.is(await textOf(dial('b')), ASKED);
  assert.is(await textOf(dial('c')), ASKED);
  const both = await Promise.all([type('b', '1'), type('c', '1')]);
  assert.equal(both.map(({ reply }) => reply?.text).sort(), [HOME(2), HOME(2)].sort(), 'the memory has the bags');
  const one = await say('b', '1');
  const other = await say('c', '2');
  assert.equal([one, other], [HOME(3), 'Paid 2\n1. On\n0. Back']);
  assert.is((await type('a', '1')).kind, 'refused');
  // Both lead on from what they are: the last session that began or went on is the one that can be continued.
  clock.setTime(clock.now() + 60_000);
  assert.is(await textOf(dial('d')), ASKED);
});

test('it begins anew past a secret, after the time, on another SIM card or number, with answers behind the code, and before the first answer', async () => {
  const anew = async (
    before: (place: ReturnType<typeof openPlace>) => Promise<unknown>,
    more: JsonObject = {},
    inputs: string[] = [],
  ) => {
    const place = openPlace();
    await place.dial('a', { sim: 'k:1' });
    await before(place);
    return textOf(place.dial('b', { sim: 'k:1', ...more }, inputs));
  };
  assert.is(await anew(({ say }) => say('a', '1')), ASKED);
  assert.is(await anew(({ say }) => say('a', '3')), ASKED);
  assert.is(await anew(({ say }) => say('a', '3', '12')), ASKED, 'a refused PIN was none');
  assert.is(await anew(({ say }) => say('a', '3', '1234')), HOME(0));
  assert.is(await anew(({ say }) => say('a', '3', '1234', '1')), HOME(1), 'for good, with its memory');
  assert.is(await anew(async ({ say, clock }) => [await say('a', '1'), clock.setTime(clock.now() + 600_001)]), HOME(1));
  assert.is(await anew(async ({ say, clock }) => [await say('a', '1'), clock.setTime(clock.now() + 590_000)]), ASKED);
  assert.is(await anew(({ say }) => say('a', '1'), { sim: 'k:2' }), HOME(1));
  assert.is(await anew(({ say }) => say('a', '1'), { sim: 'j:9 k:1' }), ASKED, 'the same SIM card under a new key');
  assert.is(await anew(({ say }) => say('a', '1'), { phoneNumber: '+260970000000' }), HOME(0));
  assert.is(await anew(({ say }) => say('a', '1'), { simulated: true }), HOME(0));
  assert.is(await anew(({ say }) => say('a', '1'), {}, ['1']), HOME(2));
  assert.is(await anew(async () => {}), HOME(0));
  assert.is(await anew(({ say }) => say('a', '4')), HOME(0), 'one that has ended');
  assert.is(await anew(({ say, open }) => say('a', '1').then(() => closeSession(open(), 'a'))), HOME(1));
});

test('"Start again" is as a dial without the question, and the session that was cut is never asked for again', async () => {
  const { dial, say, clock } = openPlace();
  await dial('a');
  await say('a', '2');
  assert.is(await textOf(dial('b')), ASKED);
  assert.is(await say('b', '9'), `Invalid choice.\n${ASKED}`);
  assert.is(await say('b', '2'), HOME(0));
  clock.setTime(clock.now() + 1_000);
  assert.is(await textOf(dial('c')), ASKED);
  assert.is(await say('c', '1'), HOME(0), 'the second session, not the first');
});

test('killed before or after any write, a repeated request goes on: nothing is paid twice, and memory and screens are as without it', async () => {
  const script: readonly (readonly [key: string, input: string | undefined])[] = [
    ['a', undefined],
    ['a', '1'],
    ['a', '2'],
    ['b', undefined],
    ['b', '1'],
    ['b', '1'],
    ['b', '1'],
    ['c', undefined],
    ['c', '2'],
    ['c', '2'],
  ];
  const play = async (fatal: number, isAfter: boolean) => {
    const clock = drivenClock();
    const [snapshots, inner] = [memorySnapshots({ clock }), memoryOfProcess(clock)];
    let writes = 0;
    const write = async <T>(work: () => Promise<T>): Promise<T> => {
      const isFatal = ++writes === fatal;
      if (isFatal && !isAfter) throw new TwinlineError('ERR_STORE', 'killed');
      const result = await work();
      if (isFatal) throw new TwinlineError('ERR_STORE', 'killed');
      return result;
    };
    const store = {
      ...snapshots,
      commit: (...args: Parameters<SnapshotStore['commit']>) => write(async () => snapshots.commit(...args)),
    };
    const memory = {
      ...inner,
      remember: (...args: Parameters<CallerMemory['remember']>) => write(() => inner.remember(...args)),
    };
    const { dial, type, paid } = openCaller({ clock, store, memory });
    const shown: (string | undefined)[] = [];
    for (const [at, [key, input]] of script.entries()) {
      const turn = () => (input === undefined ? dial(key) : type(key, input, `${key} ${at}`));
      shown.push(await textOf(turn().catch(turn)));
    }
    const owner = { phoneNumber: '+260971234567', conversation: 'order' };
    return { shown, paid: paid.length, memory: await inner.recall(owner), writes };
  };
  const { writes, ...whole } = await play(0, false);
  assert.equal(whole.shown.slice(2), [
    'Paid 1\n1. On\n0. Back',
    ASKED,
    whole.shown[2],
    HOME(1),
    HOME(2),
    ASKED,
    HOME(2),
    whole.shown[2]!.replace('1', '2'),
  ]);
  assert.is(whole.paid, 2);
  for (let fatal = 1; fatal <= writes; fatal++)
    for (const isAfter of [false, true]) {
      const { writes: _, ...killed } = await play(fatal, isAfter);
      assert.equal(killed, whole, `write ${fatal}, killed ${isAfter ? 'after' : 'before'} it`);
    }
});

test.run();

// The memory of callers against a plain model of it: a Map for each caller and flow, and a clock. Callers dial two flows, press keys, hang up,
// hold two sessions at once and forget themselves, while days pass and engines are replaced; each screen and all that is kept is compared.

import * as assert from 'uvu/assert';
import { systemClock } from '../../lib/clock.ts';
import { createEngine, type Engine } from '../../lib/engine/engine.ts';
import { MEMORIES, type StoredMemories, storedMemories } from '../../lib/engine/memory/documents.ts';
import { memoryServices } from '../../lib/engine/memory/memory.ts';
import { takeTurn } from '../../lib/engine/session/turn.ts';
import type { Flow } from '../../lib/flow/format/flow.ts';
import { compileFlow } from '../../lib/flow/run/compile.ts';
import type { Json, JsonObject } from '../../lib/json/json.ts';
import type { Keyring } from '../../lib/keyring.ts';
import type { DocumentStore, SnapshotStore } from '../../lib/store/store.ts';
import { numbersFrom } from '../support/random.ts';

const DAY = 86_400_000;
const LIFETIMES: { readonly [name: string]: number } = { lang: 30 * DAY, count: 10 * DAY, note: 1 * DAY };
const START: JsonObject = { lang: 'en', count: 0, note: null, plain: 0 };

/** What a key of the menu changes in the variables of a session. */
const KEYS: { readonly [key: string]: (values: JsonObject) => JsonObject } = {
  '1': ({ lang }) => ({ lang: lang === 'en' ? 'sw' : 'en' }),
  '2': ({ count, plain }) => ({ count: (count as number) + 1, plain: (plain as number) + 1 }),
  '3': () => ({ count: 0, note: null }),
  '4': ({ count }) => ({ note: `n${count}` }),
  // A called flow with variables of the same names gives a language back.
  '6': () => ({ lang: 'sw' }),
};
const FORGET = '5';
const LEAVE = '7';

const app = (flow: string): Flow => ({
  flow,
  version: 1,
  start: 'home',
  vars: {
    lang: { type: 'string', max: 2, default: 'en', keep: '30d' },
    count: { type: 'number', default: 0, keep: '10d' },
    note: { type: 'string', max: 10, keep: '24h', private: true },
    plain: { type: 'number', default: 0 },
    got: { type: 'object' },
  },
  screens: {
    home: {
      type: 'menu',
      text: '{{lang}} {{count}} {{note|default:-}} {{plain}}',
      back: false,
      options: [
        { id: 'sw', key: '1', text: 'L', when: "lang == 'en'", set: { lang: 'sw' }, to: 'home' },
        { id: 'en', key: '1', text: 'L', when: "lang == 'sw'", set: { lang: 'en' }, to: 'home' },
        { id: 'more', key: '2', text: 'M', set: { count: '=count + 1', plain: '=plain + 1' }, to: 'home' },
        { id: 'none', key: '3', text: 'N', set: { count: 0, note: null }, to: 'home' },
        { id: 'note', key: '4', text: 'T', set: { note: "='n' + str(count)" }, to: 'home' },
        { id: 'forget', key: FORGET, text: 'F', to: 'forget' },
        { id: 'call', key: '6', text: 'C', to: 'called' },
        { id: 'leave', key: LEAVE, text: 'Z', to: 'bye' },
      ],
    },
    forget: { type: 'call', service: 'caller.forget', done: 'home', fail: 'bye' },
    called: { type: 'flow', flow: 'called', save: 'got', done: [{ set: { lang: '=got.lang' }, to: 'home' }] },
    bye: { type: 'end', text: 'Bye' },
  },
});

const called: Flow = {
  flow: 'called',
  version: 1,
  start: 'count',
  vars: { count: { type: 'number', default: 7, keep: '10d' } },
  screens: {
    count: { type: 'branch', branch: [{ set: { count: '=count + 1' }, to: 'give' }] },
    give: { type: 'end', text: 'Given', output: { lang: 'sw' } },
  },
};

const flows = new Map([['called', called]]);
const APPS = ['shop', 'bank'] as const;
const conversations = APPS.map((name) => compileFlow(app(name), { flows }));

/** Stores on which engines are opened and replaced. */
export interface MemoryGround {
  readonly snapshots: SnapshotStore;
  readonly documents: DocumentStore;
  readonly keyring: Keyring;
}

interface Session {
  readonly key: string;
  readonly flow: string;
  readonly phone: string;
  values: JsonObject;
}

type Kept = Map<string, Map<string, readonly [value: Json, until: number]>>;

/** Throws where the memory and the model differ. Gives how many values a dial began with that were kept, and how many had had their time. */
export async function compareWithModel(
  { snapshots, documents, keyring }: MemoryGround,
  { seed, steps }: { readonly seed: number; readonly steps: number },
): Promise<{ readonly recalled: number; readonly lapsed: number }> {
  await documents.declare([MEMORIES]);
  const next = numbersFrom(seed);
  const choose = <T>(items: readonly T[]): T => items[Math.floor(next() * items.length)]!;
  const phones = [0, 1, 2].map((at) => `+2609712${seed % 1_000}${at}00`);
  let passed = 0;
  const clock = { now: () => systemClock.now() + passed };
  const open = (): { engine: Engine; memory: StoredMemories } => {
    const memory = storedMemories({ documents, keyring, clock });
    const services = memoryServices(memory);
    return { memory, engine: createEngine({ store: snapshots, conversations, keyring, memory, services }) };
  };
  let { engine, memory } = open();
  const kept: Kept = new Map();
  const readKept = (of: string) => kept.get(of) ?? new Map<string, readonly [Json, number]>();
  const living = (of: string) => [...readKept(of)].filter(([, [, until]]) => until > clock.now());
  const sessions: Session[] = [];
  let [dials, recalled, lapsed] = [0, 0, 0];

  const show = ({ lang, count, note, plain }: JsonObject) => `${lang} ${count} ${note ?? '-'} ${plain}`;
  const remember = ({ phone, flow, values }: Session, changes: JsonObject) => {
    const entries = readKept(`${phone} ${flow}`);
    for (const [name, value] of Object.entries(changes)) {
      if (LIFETIMES[name] === undefined || values[name] === value) continue;
      if (value === null) entries.delete(name);
      else entries.set(name, [value!, clock.now() + LIFETIMES[name]!]);
    }
    kept.set(`${phone} ${flow}`, entries);
  };

  const dial = async () => {
    const [phone, flow] = [choose(phones), choose(APPS)];
    const key = `memory-${seed}-${dials++}`;
    const known = living(`${phone} ${flow}`);
    recalled += known.length;
    lapsed += readKept(`${phone} ${flow}`).size - known.length;
    const session = { key, flow, phone, values: { ...START, ...Object.fromEntries(known.map(([n, [v]]) => [n, v])) } };
    const door = { phoneNumber: phone };
    const decide = () => ({ kind: 'begin', conversation: flow, door }) as const;
    const { reply } = await takeTurn(engine, { key, decide });
    assert.is(reply?.text.split('\n')[0], show(session.values), `${seed}: dial ${dials}`);
    sessions.push(session);
  };

  const press = async (session: Session, input: string) => {
    const turnKey = `${session.key} ${steps} ${next()}`;
    const turn = () => takeTurn(engine, { key: session.key, turnKey, decide: () => ({ kind: 'input', input }) });
    const { reply } = await turn();
    const changes = KEYS[input]?.(session.values) ?? {};
    remember(session, changes);
    session.values = { ...session.values, ...changes };
    if (input === FORGET) kept.delete(`${session.phone} ${session.flow}`);
    if (input === LEAVE) sessions.splice(sessions.indexOf(session), 1);
    const expected = input === LEAVE ? 'Bye' : show(session.values);
    assert.is(reply?.text.split('\n')[0], expected, `${seed}: ${session.key} ${input}`);
    // The same request again changes nothing.
    if (next() < 0.1) assert.is((await turn()).reply?.text, reply?.text);
  };

  for (let step = 0; step < steps; step++) {
    const chance = next();
    if (chance < 0.15) await dial();
    else if (chance < 0.22) passed += choose([0.37, 2.9, 11.3]) * DAY;
    else if (chance < 0.27) ({ engine, memory } = open());
    else if (chance < 0.32) sessions.splice(Math.floor(next() * sessions.length), 1);
    else if (sessions.length)
      await press(choose(sessions), choose([...Object.keys(KEYS), ...Object.keys(KEYS), FORGET, LEAVE]));
    const phone = choose(phones);
    const all = (await memory.export(phone)).map(({ flow, values }) => [flow, values] as const);
    for (const flow of APPS) {
      const expected = Object.fromEntries(living(`${phone} ${flow}`).map(([name, [value]]) => [name, value]));
      const found = Object.fromEntries(all)[flow] ?? {};
      assert.equal(sorted(found), sorted(expected), `${seed}: step ${step}, ${flow}`);
    }
  }
  return { recalled, lapsed };
}

const sorted = (values: JsonObject) => Object.entries(values).sort(([a], [b]) => (a < b ? -1 : 1));

// What flows keep of callers: against a model, sealed, bounded, for one flow and one caller alone.

import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SimulatedClock, systemClock } from '../../lib/clock.ts';
import { createEngine } from '../../lib/engine/engine.ts';
import { ENGINE_LIMITS } from '../../lib/engine/limits.ts';
import { MEMORIES, type StoredMemory, storedMemories } from '../../lib/engine/memory/documents.ts';
import { type CallerMemory, memoryOfProcess } from '../../lib/engine/memory/memory.ts';
import { takeTurn } from '../../lib/engine/session/turn.ts';
import type { Flow } from '../../lib/flow/format/flow.ts';
import { compileFlow } from '../../lib/flow/run/compile.ts';
import type { Json } from '../../lib/json/json.ts';
import { parseKeyring } from '../../lib/keyring.ts';
import { lmdbSnapshots } from '../../lib/store/lmdb/index.ts';
import { memoryDocuments, memorySnapshots } from '../../lib/store/memory/index.ts';
import { sqliteDocuments } from '../../lib/store/sqlite/index.ts';
import { countSealed, resealAll } from '../../server/stores/sealed.ts';
import { withFolder } from '../support/process.ts';
import { compareWithModel } from './memory-model.ts';

const test = suite('memory of callers');
const KEY = '8f1de1e2c1a53b2d7f6a90e4b35c7d2818aa4cfe0b61d9f3e27c5b8490ad6f13';
const seed = Number(process.env.TEST_SEED ?? 1);

test('every screen and all that is kept is as in a model, whatever callers press, days that pass and engines that are replaced', async () => {
  for (let at = 0; at < 4; at++) {
    const ground = { snapshots: memorySnapshots(), documents: memoryDocuments(), keyring: parseKeyring(KEY) };
    const { recalled, lapsed } = await compareWithModel(ground, { seed: 100 * seed + at, steps: 250 });
    assert.ok(recalled > 5 && lapsed > 0, `seed ${at}: ${recalled} values were recalled, ${lapsed} had had their time`);
  }
});

test('the same on disk', () =>
  withFolder(async (folder) => {
    const snapshots = lmdbSnapshots({ path: join(folder, 'sessions') });
    const documents = sqliteDocuments({ path: join(folder, 'twinline.db') });
    await compareWithModel({ snapshots, documents, keyring: parseKeyring(KEY) }, { seed, steps: 60 });
    await Promise.all([snapshots.close(), documents.close()]);
  }));

const PHONE = '+260971234567';
const OWNER = { phoneNumber: PHONE, conversation: 'shop' };
const OTHER_KEY = 'b:0b61d9f3e27c5b8490ad6f138f1de1e2c1a53b2d7f6a90e4b35c7d2818aa4cfe';
const keep = (name: string, value: Json, ms = 60_000) => ({ values: { [name]: { value, ms } } });

async function openMemory() {
  const clock = new SimulatedClock();
  const documents = memoryDocuments({ clock });
  await documents.declare([MEMORIES]);
  const unopened: string[] = [];
  const open = (keys = `a:${KEY}`) =>
    storedMemories({
      ...{ documents, clock },
      keyring: parseKeyring(keys),
      onUnopened: ({ message }) => void unopened.push(message),
    });
  return { clock, documents, open, unopened };
}

test('neither the number nor a value is in a document; another caller, flow or simulated phone reads nothing; erasing takes all of one number', async () => {
  const { documents, open } = await openMemory();
  const memory = open();
  await memory.remember(OWNER, keep('lang', 'Kiswahili'));
  await memory.remember({ ...OWNER, simulated: true }, keep('lang', 'simulated'));
  await memory.remember({ ...OWNER, conversation: 'bank' }, keep('lang', 'bank'));
  await memory.remember({ ...OWNER, phoneNumber: '+260970000000' }, keep('lang', 'other'));
  const stored = JSON.stringify((await documents.find(MEMORIES)).items);
  for (const secret of [PHONE.slice(1), 'Kiswahili', 'lang']) assert.not.ok(stored.includes(secret), secret);
  assert.equal(await memory.recall(OWNER), { values: { lang: 'Kiswahili' } });
  assert.equal(await memory.recall({ ...OWNER, conversation: 'taxi' }), { values: {} });
  assert.is((await memory.export(PHONE)).length, 3);
  assert.equal([await memory.forget(OWNER), await memory.forget(OWNER)], [true, false]);
  assert.equal([await memory.erase(PHONE), await memory.erase(PHONE)], [2, 0]);
  assert.is(await documents.count(MEMORIES), 1);
});

test('what an older key has sealed is read, erased and resealed under the active one; what no key opens is told, and is as nothing', async () => {
  const { documents, open, unopened } = await openMemory();
  await open().remember(OWNER, keep('lang', 'sw'));
  const both = `${OTHER_KEY},a:${KEY}`;
  assert.equal(await open(both).recall(OWNER), { values: { lang: 'sw' } });
  assert.equal(await open(OTHER_KEY).recall(OWNER), { values: {} });
  const report = await resealAll({ documents, keyring: parseKeyring(both), dryRun: false }, () => {});
  assert.equal(report, { moved: 1, current: 0, unopened: {} });
  assert.equal(await countSealed(documents), { 'memories of callers': { b: 1 } });
  assert.equal(await open(OTHER_KEY).recall(OWNER), { values: { lang: 'sw' } });
  const { id, revision, body } = (await documents.find<StoredMemory>(MEMORIES)).items[0]!;
  await documents.replace(MEMORIES, id, revision, { ...body, sealed: `${body.sealed.slice(0, -4)}AAAA` });
  assert.equal(await open(OTHER_KEY).recall(OWNER), { values: {} });
  assert.match(unopened.join(), /cannot be opened/);
  await open(OTHER_KEY).remember(OWNER, keep('lang', 'en'));
  assert.equal(await open(OTHER_KEY).recall(OWNER), { values: { lang: 'en' } });
});

test('writers at once keep each their own variable; a caller has a bound; what has had its time is swept', async () => {
  const { clock, documents, open } = await openMemory();
  const memories = [open(), open()] as const;
  const names = Array.from({ length: 12 }, (_, at) => `v${at}`);
  await Promise.all(names.map((name, at) => memories[at % 2]!.remember(OWNER, keep(name, at))));
  assert.equal(Object.keys((await open().recall(OWNER)).values).sort(), [...names].sort());
  const error = await open()
    .remember(OWNER, keep('long', 'x'.repeat(ENGINE_LIMITS.memoryChars)))
    .catch((caught) => caught);
  assert.is(error.code, 'ERR_TURN_LIMIT');
  assert.match(error.message, /long of a caller of "shop".*limit is 8192/);
  assert.not.match(error.message, /xxx/);
  await clock.advance(60_001);
  assert.equal(await open().recall(OWNER), { values: {} });
  assert.equal([await open().sweep(clock.now(), 10), await documents.count(MEMORIES)], [1, 0]);
});

test('a value that does not fit the edited flow is left out and told by name; a flow without keep or resume asks no memory', async () => {
  const flow: Flow = {
    flow: 'shop',
    version: 1,
    start: 'home',
    vars: {
      age: { type: 'number', default: 1, keep: '30d' },
      lang: { type: 'string', max: 3, default: 'en', keep: '30d' },
    },
    screens: { home: { type: 'menu', text: '{{age}} {{lang}}', options: [{ id: 'a', text: 'A', to: 'home' }] } },
  };
  const { vars: _, ...forgetful } = flow;
  const plain = { ...forgetful, flow: 'plain', screens: { home: { ...flow.screens.home!, text: 'Plain' } } } as Flow;
  const memory = memoryOfProcess(systemClock);
  await memory.remember(OWNER, { values: { age: { value: 'old', ms: 60_000 }, lang: { value: 'sw', ms: 60_000 } } });
  let asked = 0;
  const recall: CallerMemory['recall'] = (owner) => {
    asked++;
    return memory.recall(owner);
  };
  const counted: CallerMemory = { ...memory, recall };
  const problems: (readonly string[] | undefined)[] = [];
  const engine = createEngine({
    ...{ store: memorySnapshots(), memory: counted, conversations: [compileFlow(flow), compileFlow(plain)] },
    onProblem: ({ variables }) => void problems.push(variables),
  });
  const dial = async (conversation: string) => {
    const decide = () => ({ kind: 'begin', conversation, door: { phoneNumber: PHONE } }) as const;
    return (await takeTurn(engine, { key: conversation, decide })).reply?.text.split('\n')[0];
  };
  assert.equal([await dial('shop'), asked, problems], ['1 sw', 1, [['age']]]);
  assert.equal([await dial('plain'), asked], ['Plain', 1]);
});

test.run();

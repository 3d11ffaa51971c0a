// A process that damages copies of a store, opens each and uses it, for damage.short.kills: one line for each, with what came of it.
// `process.argv` says which store, where, with which seed, and how many.

import {
  copyFileSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import type { TwinlineError } from '../../lib/errors.ts';
import { lmdbSnapshots } from '../../lib/store/lmdb/index.ts';
import { sqliteDocuments } from '../../lib/store/sqlite/index.ts';
import { numbersFrom } from '../support/random.ts';

const [which = '', folder = '', seed = '1', cases = '1'] = process.argv.slice(2);
const random = numbersFrom(Number(seed));
const below = (end: number) => Math.floor(random() * end);
const PAGE = 4_096;
const COUNT = 300;

/** A text that only its number decides; of up to a page, for what lies in further pages of a value bears no mark. */
const textOf = (n: number) => `${n} `.repeat(((n * 7_919) % 700) + 1).slice(0, 3_500);

/** A store that holds `textOf(n)` under each n below COUNT, and forgot others. */
interface Ground {
  readonly file: string;
  /** Opens the store whose file is in this folder. */
  open(folder: string): Promise<Used>;
}

interface Used {
  get(n: number): Promise<string | undefined>;
  put(n: number): Promise<unknown>;
  drop(n: number): Promise<unknown>;
  ping(): Promise<void>;
  close(): Promise<void>;
}

const KIND = { name: 'paper', indexes: { byNumber: { fields: ['number'] } } };

const GROUNDS: Readonly<Record<string, Ground>> = {
  lmdb: {
    file: 'data.mdb',
    open: async (path) => {
      const store = lmdbSnapshots({ path });
      await store.ping();
      const session = (n: number) => ({ record: textOf(n), turnKey: 't', reply: '', ended: false, expiresAt: 8e15 });
      return {
        ...{ ping: store.ping, close: store.close, drop: (n) => store.remove(`key ${n}`) },
        get: async (n) => (await store.load(`key ${n}`))?.record,
        put: async (n) => {
          const before = await store.load(`key ${n}`);
          return store.commit(`key ${n}`, before?.revision ?? 0, { ...session(n), dueAt: n % 2 ? n : null });
        },
      };
    },
  },
  sqlite: {
    file: 'documents.db',
    open: async (path) => {
      const store = sqliteDocuments({ path: join(path, 'documents.db') });
      await store.ping();
      const isDeclared = store.declare([KIND]);
      return {
        ...{ ping: store.ping, close: store.close },
        get: async (n) => (await store.get<{ text: string }>(KIND, `id ${n}`))?.body.text,
        put: async (n) => {
          await isDeclared;
          const before = await store.get(KIND, `id ${n}`);
          const body = { number: n % 50, text: textOf(n) };
          return before ? store.replace(KIND, `id ${n}`, before.revision, body) : store.insert(KIND, `id ${n}`, body);
        },
        drop: (n) => store.remove(KIND, `id ${n}`),
      };
    },
  },
};

/** What is done to the bytes of a file. */
const DAMAGES: readonly ((file: string) => string)[] = [
  (file) => {
    const { length } = readFileSync(file);
    const left = below(length);
    truncateSync(file, left);
    return `cut to ${left} of ${length} bytes`;
  },
  (file) => {
    const pages = readFileSync(file).length / PAGE;
    const places = Array.from({ length: 1 + below(4) }, () => below(pages));
    const isEmpty = random() < 0.5;
    const noise = Buffer.from(Array.from({ length: PAGE }, () => (isEmpty ? 0 : below(256))));
    const fd = openSync(file, 'r+');
    for (const page of places) writeSync(fd, noise, 0, PAGE, page * PAGE);
    return `pages ${places.join(', ')} of ${pages} overwritten with ${isEmpty ? 'zeros' : 'noise'}`;
  },
];

const isStore = ({ code }: TwinlineError) => code === 'ERR_STORE';

/** What came of it; any other word is a failure. */
async function use(ground: Ground, path: string): Promise<string> {
  let store: Used;
  try {
    store = await ground.open(path);
  } catch (error) {
    return isStore(error as TwinlineError) && /damaged|failed/.test((error as Error).message)
      ? 'refused'
      : String(error);
  }
  const failures: TwinlineError[] = [];
  const tried = (work: Promise<unknown>) => work.catch((error: TwinlineError) => void failures.push(error));
  let wrong = '';
  for (let n = 0; n < COUNT; n++) {
    const text = await store.get(n).catch((error: TwinlineError) => {
      failures.push(error);
      return textOf(n);
    });
    if (text !== textOf(n)) wrong ||= `${n} is ${text?.slice(0, 20)}`;
  }
  for (let n = 0; n < COUNT + 50; n += 3) await tried(store.put(n));
  for (let n = 0; n < COUNT; n += 9) await tried(store.drop(n));
  const said = await store.ping().then(
    () => 'well',
    (error: TwinlineError) => error.reason ?? error.code,
  );
  await store.close();
  const foreign = failures.find((error) => !isStore(error));
  if (foreign) return `threw ${foreign.stack}`;
  if (said === 'damaged') return 'damaged';
  if (failures.length) return `says that it is ${said}, after ${failures.length} failures: ${failures[0]!.message}`;
  return wrong || said;
}

const ground = GROUNDS[which]!;
const sound = join(folder, 'sound');
mkdirSync(sound);
const store = await ground.open(sound);
for (let n = 0; n < COUNT * 2; n++) await store.put(n);
for (let n = COUNT; n < COUNT * 2; n++) await store.drop(n);
await store.close();
for (let at = 0; at < Number(cases); at++) {
  const path = join(folder, String(at));
  mkdirSync(path);
  copyFileSync(join(sound, ground.file), join(path, ground.file));
  const what = at === 0 ? 'nothing' : DAMAGES[at % 2]!(join(path, ground.file));
  // Written before it is tried: a process that is killed by it leaves the name of what killed it.
  writeFileSync(join(folder, 'case'), what);
  process.stdout.write(`${JSON.stringify({ what, outcome: await use(ground, path) })}\n`);
  rmSync(path, { recursive: true });
}

// What every DocumentStore that outlives a process promises about several of them: no update is lost, no unique value is held twice,
// a killed one takes nothing with it.

import { type ChildProcess, fork, type Serializable } from 'node:child_process';
import * as assert from 'uvu/assert';
import type { Change, DocumentStore } from '../../lib/store/store.ts';
import { PERSON } from '../../lib/testing/documents/bench.ts';
import { builtFile } from '../support/build.ts';
import { killed } from '../support/process.ts';
import { numbersFrom } from '../support/random.ts';
import { until } from '../support/until.ts';

const NAMES = ['one', 'two'];

/** A store of this process, and the arguments by which those of store/document-child.ts find the same data. */
export interface DocumentPlace {
  readonly store: DocumentStore;
  readonly place: string;
  readonly prefix?: string;
}

/** A child, and what it has told so far. */
export async function documentChild({ place, prefix = '' }: Omit<DocumentPlace, 'store'>, name: string, turns: number) {
  const program = await builtFile('test/store/document-child.ts');
  const child = fork(program, [place, name, String(turns), prefix], { execArgv: [] });
  const told = { opening: false, claimed: undefined as number | undefined, revision: 0 };
  child.on('message', (what: Serializable) => {
    if (what === 'opening') told.opening = true;
    else if (typeof what === 'number') told.revision = what;
    else told.claimed = (what as { claimed: number }).claimed;
  });
  return { child, told };
}

/** Two processes that begin at once count up and claim; then they are killed in the middle of whatever they do. */
export async function processesAreKilled({ store, ...at }: DocumentPlace, turns: number): Promise<void> {
  const both = await Promise.all(NAMES.map((name) => documentChild(at, name, turns)));
  try {
    await until('both to have counted', () => both.every(({ told }) => told.claimed !== undefined));
    assert.is(both[0]!.told.claimed! + both[1]!.told.claimed!, turns);
    await store.declare([PERSON]);
    const read: Change[] = [];
    const follow = async () => read.push(...(await store.changes(read.at(-1)?.seq ?? 0, 100_000)));
    const random = numbersFrom(Number(process.env.TEST_SEED ?? 1));
    const goals = both.map(() => 2 + Math.floor(random() * 30));
    await until('enough acknowledged writes', async () => {
      await follow();
      return both.every(({ told }, n) => told.revision >= goals[n]!);
    });
    await Promise.all(both.map(({ child }) => killed(child)));
    await follow();
    await checkCounters(store, 2 * turns);
    for (const [n, { told }] of both.entries()) {
      const found = (await store.get(PERSON, NAMES[n]!))!;
      assert.ok(found.revision >= told.revision, `${found.revision} stored, ${told.revision} acknowledged`);
      const { items } = await store.find(PERSON, { index: 'any', where: { any: found.revision } });
      assert.ok(items.some(({ id }) => id === NAMES[n]));
    }
    await checkChanges(store, read);
  } finally {
    await Promise.all(both.map(({ child }: { child: ChildProcess }) => killed(child)));
  }
}

async function checkCounters(store: DocumentStore, total: number): Promise<void> {
  const counters = await Promise.all([0, 1, 2].map((at) => store.get<{ n: number }>(PERSON, `counter${at}`)));
  assert.is(
    counters.reduce((sum, counter) => sum + counter!.body.n, 0),
    total,
  );
  for (const counter of counters) assert.is(counter!.revision, counter!.body.n);
}

/** Who followed has seen each change once, and each document was written revision by revision. */
async function checkChanges(store: DocumentStore, read: readonly Change[]): Promise<void> {
  assert.equal(read, await store.changes(0, 100_000));
  const { items } = await store.find(PERSON, { limit: 1_000 });
  for (const { id, revision } of items)
    assert.equal(
      read.filter((change) => change.id === id).map((change) => change.revision),
      Array.from({ length: revision }, (_, at) => at + 1),
    );
}

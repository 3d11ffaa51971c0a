// Several processes on the MongoDB stores: no update is lost, no unique value held twice, a killed one takes nothing.

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { mongoDocuments } from '../../lib/store/mongo/index.ts';
import type { Change } from '../../lib/store/store.ts';
import { PERSON } from '../../lib/testing/documents/bench.ts';
import { builtFile } from '../support/build.ts';
import { killed } from '../support/process.ts';
import type { MongoBench } from './mongo-bench.ts';

const NAMES = ['one', 'two'];

export function mongoProcesses({ url }: MongoBench): void {
  const test = suite('MongoDB between processes');
  const children: ChildProcess[] = [];

  test.after.each(async () => {
    await Promise.all(children.splice(0).map(killed));
  });

  test('two processes that begin at once lose no count, share the unique values, and may be killed', async () => {
    const prefix = 'processes';
    const program = await builtFile('test/store/mongo-child.ts');
    const both = NAMES.map((name) => fork(program, [url, prefix, name], { execArgv: [] }));
    children.push(...both);
    const told = await Promise.all(both.map(async (child) => (await once(child, 'message'))[0]));
    assert.is(told[0].claimed + told[1].claimed, 60);

    const store = mongoDocuments({ url, prefix });
    await store.declare([PERSON]);
    const acknowledged = new Map<string, number>();
    for (const [at, child] of both.entries())
      child.on('message', (revision: number) => acknowledged.set(NAMES[at]!, revision));
    const read: Change[] = [];
    const follow = async () => read.push(...(await store.changes(read.at(-1)?.seq ?? 0, 10_000)));
    for (let round = 0; round < 5; round++) {
      await follow();
      await pause(60);
    }
    // In the middle of whatever it does, relaying too.
    await Promise.all(both.map(killed));
    await follow();

    const counters = await Promise.all([0, 1, 2].map((at) => store.get<{ n: number }>(PERSON, `counter${at}`)));
    assert.is(
      counters.reduce((sum, counter) => sum + counter!.body.n, 0),
      120,
    );
    assert.is(acknowledged.size, 2);
    for (const [name, revision] of acknowledged) {
      const found = (await store.get(PERSON, name))!;
      assert.ok(found.revision >= revision, `${found.revision} stored, ${revision} acknowledged`);
      const { items } = await store.find(PERSON, { index: 'any', where: { any: found.revision } });
      assert.ok(items.some(({ id }) => id === name));
    }
    const all = await store.changes(0, 100_000);
    assert.equal(read, all);
    const { items } = await store.find(PERSON, { limit: 1_000 });
    for (const { id, revision } of items)
      assert.equal(
        all.filter((change) => change.id === id).map((change) => change.revision),
        Array.from({ length: revision }, (_, at) => at + 1),
      );
    await store.close();
  });

  test.run();
}

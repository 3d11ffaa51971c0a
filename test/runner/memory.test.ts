// The measure of what a process holds: it counts what somebody refers to, in the heap and outside, and nothing else.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { heldBytes } from '../support/memory.ts';

const test = suite('held memory');

const MIB = 1_048_576;
const KINDS: { readonly [name: string]: () => unknown } = {
  objects: () => Array.from({ length: 200_000 }, (_, at) => ({ at })),
  buffers: () => Array.from({ length: 16 }, () => Buffer.alloc(MIB)),
};

for (const [name, make] of Object.entries(KINDS))
  test(`${name} count as long as they are kept`, async () => {
    const before = await heldBytes();
    let kept: unknown = make();
    const during = (await heldBytes()) - before;
    assert.ok(during > 4 * MIB, `${during} bytes while ${typeof kept}s are kept`);
    kept = undefined;
    for (let round = 0; round < 5; round++) make();
    const after = (await heldBytes()) - before;
    assert.ok(after < MIB, `${after} bytes when nothing is kept: ${kept}`);
  });

test.run();

// Machines as people write them do in a session and in a document, woken in time or not, what they do in memory.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { compare } from '../oracle/compare.ts';
import { inDocument, inSession } from '../oracle/durable.ts';
import { EXAMPLES } from './examples.ts';

const test = suite('examples');

const CALLS = /"invoke"/;

for (const [name, { machine, script }] of Object.entries(EXAMPLES))
  test(`${name}: the same in memory, in a session and in a document`, async () => {
    const isCalling = CALLS.test(JSON.stringify(machine.config));
    for (const isAsleep of isCalling ? [false] : [false, true])
      for (const begin of [inSession, inDocument])
        assert.ok(await compare(machine, { script, isAsleep }, (...args) => begin(...args)), 'compared to its end');
  });

test.run();

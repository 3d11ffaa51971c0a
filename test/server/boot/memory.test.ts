// A program that starts and closes servers holds none of those that are closed.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { heldBytes } from '../../support/memory.ts';
import { DIAL, withServer } from '../support/serve.ts';

export const runs = 'fresh';

const test = suite('memory');

const STARTS = 10;
const MOST_MB = 5;

test(`${STARTS} servers that were started, used and closed leave nothing behind`, async () => {
  const useOne = () => withServer({}, async (server) => assert.match(await server.ussd(DIAL), /^CON /));
  await useOne();
  await useOne();
  const before = await heldBytes();
  for (let at = 0; at < STARTS; at++) await useOne();
  const heldMb = ((await heldBytes()) - before) / 1e6;
  assert.ok(heldMb < MOST_MB, `${heldMb.toFixed(1)} MB more are held after ${STARTS} starts and closes`);
});

test.run();

// Every hostile token that is known to pass, stall or break a validator: what the guard says to it, and how soon.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { tokenGuard } from '../../lib/delegation/index.ts';
import { checkMs, cpuMs } from './cost.ts';
import { BOMBS } from './hostile-bombs.ts';
import { FORMS, TEXTS } from './hostile-forms.ts';
import { KEYS } from './hostile-keys.ts';
import { RIGHTS, TIMES } from './hostile-rights.ts';
import { clockAt, oracle } from './tokens.ts';

/** A refusal may take the CPU of so many checks of a signature: the best of a few tries, for the first ones are compiled. */
const AT_MOST_CHECKS = 80;
const TRIES = 10;
const GROUPS = { times: TIMES, rights: RIGHTS, forms: FORMS, keys: KEYS, bombs: BOMBS, texts: TEXTS };

const test = suite('hostile tokens');

for (const [group, cases] of Object.entries(GROUPS))
  for (const { name, token, reason, kind = 'invocation', resource = 'issuer' } of cases)
    test(`${group}: ${name} → ${reason}`, async () => {
      const sent = await token();
      let best = Infinity;
      for (let tries = 0; tries < TRIES && best >= AT_MOST_CHECKS; tries++) {
        const guard = tokenGuard({ audience: oracle.did(), clock: clockAt(), accepted: { resource } });
        const oneCheck = await checkMs();
        const ms = await cpuMs(async () => {
          const result = await (kind === 'invocation' ? guard.checkInvocation(sent) : guard.checkDelegation(sent));
          assert.equal(result, { ok: false, reason });
        });
        best = Math.min(best, ms / oneCheck);
      }
      assert.ok(best < AT_MOST_CHECKS, `took as long as ${best.toFixed(0)} checks of a signature at best`);
    });

test.run();

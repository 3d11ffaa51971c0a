// Every hostile token that is known to pass, stall or break a validator: what the guard says to it, and how soon.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { tokenGuard } from '../../lib/delegation/index.ts';
import { BOMBS } from './hostile-bombs.ts';
import { FORMS, TEXTS } from './hostile-forms.ts';
import { KEYS } from './hostile-keys.ts';
import { RIGHTS, TIMES } from './hostile-rights.ts';
import { clockAt, oracle } from './tokens.ts';

/** CPU milliseconds that a refusal may take: the best of a few tries, for the first ones are compiled. */
const AT_MOST_MS = 5;
const TRIES = 10;
const GROUPS = { times: TIMES, rights: RIGHTS, forms: FORMS, keys: KEYS, bombs: BOMBS, texts: TEXTS };

const test = suite('hostile tokens');

for (const [group, cases] of Object.entries(GROUPS))
  for (const { name, token, reason, kind = 'invocation', resource = 'issuer' } of cases)
    test(`${group}: ${name} → ${reason}`, async () => {
      const sent = await token();
      let best = Infinity;
      for (let tries = 0; tries < TRIES; tries++) {
        const guard = tokenGuard({ audience: oracle.did(), clock: clockAt(), accepted: { resource } });
        const begun = process.cpuUsage();
        const result = await (kind === 'invocation' ? guard.checkInvocation(sent) : guard.checkDelegation(sent));
        const { user, system } = process.cpuUsage(begun);
        best = Math.min(best, (user + system) / 1_000);
        assert.equal(result, { ok: false, reason });
      }
      assert.ok(best < AT_MOST_MS, `took ${best.toFixed(2)} ms at best`);
    });

test.run();

// Every hostile token that is known to pass, stall or break a validator: what the guard says to it, and what that costs.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { tokenGuard } from '../../lib/delegation/index.ts';
import { assertCheap } from './cost.ts';
import { BOMBS } from './hostile-bombs.ts';
import { FORMS, TEXTS } from './hostile-forms.ts';
import { KEYS } from './hostile-keys.ts';
import { RIGHTS, TIMES } from './hostile-rights.ts';
import { clockAt, oracle } from './tokens.ts';

const GROUPS = { times: TIMES, rights: RIGHTS, forms: FORMS, keys: KEYS, bombs: BOMBS, texts: TEXTS };

const test = suite('hostile tokens');

for (const [group, cases] of Object.entries(GROUPS))
  for (const { name, token, reason, kind = 'invocation', resource = 'issuer' } of cases)
    test(`${group}: ${name} → ${reason}`, async () => {
      const sent = await token();
      await assertCheap(name, async () => {
        const guard = tokenGuard({ audience: oracle.did(), clock: clockAt(), accepted: { resource } });
        const result = await (kind === 'invocation' ? guard.checkInvocation(sent) : guard.checkDelegation(sent));
        assert.equal(result, { ok: false, reason });
      });
    });

test.run();

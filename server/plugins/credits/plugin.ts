// The plugin `credits`: accounts of users that operators fill and runs empty, and the gate that asks for them.

import { createHash, randomUUID } from 'node:crypto';
import type { Usage } from '../../../lib/agent/responder.ts';
import type { Plugin, PluginContext } from '../plugin.ts';
import type { CreditsSettings } from '../settings.ts';
import { ACCOUNT, accounts, bookingMutex, ENTRY } from './account.ts';
import { documentation, viewOf } from './documentation.ts';
import { readGrant } from './dto.ts';
import { creditGate } from './gate.ts';

/** Where users read their account: never closed to those whose account is empty. */
const PATH = '/credits';

export function creditsPlugin(settings: CreditsSettings): Plugin {
  const gate = creditGate();
  const mutex = bookingMutex();
  const open = (ctx: PluginContext) => accounts(ctx, mutex);
  return {
    name: 'credits',
    version: '1.0.0',
    kinds: [ACCOUNT, ENTRY],
    authExcluded: [{ path: `${PATH}/:did`, method: 'POST' }],
    documentation,
    routes(router, ctx) {
      router.get(PATH, async (koa) => {
        const did = ctx.requireDid();
        koa.body = viewOf(did, await open(ctx).read(did));
      });
      // For operators: their token stands where that of a user would.
      router.post(`${PATH}/:did`, ctx.operatorsOnly as never, ctx.jsonBody as never, async (koa) => {
        const { did, amount, terms, key = randomUUID() } = readGrant(koa, ctx);
        const account = await open(ctx).book({ id: grantId(did, key), did, amount, terms });
        gate.forget(did);
        koa.status = 201;
        koa.body = viewOf(did, account);
      });
    },
    async gate(ctx) {
      if (ctx.path !== PATH) await gate.check(ctx, open(ctx));
    },
    async settle({ runId, owner, status, usage }, ctx) {
      const cost = tokensCost(settings, usage) + (status === 'finished' ? settings.perRun * 1_000_000 : 0);
      if (cost === 0) return;
      await open(ctx).book({ id: `run/${runId}`, did: owner, amount: -cost });
      gate.forget(owner);
    },
  };
}

// Keys are the operator's: one may be used again for another account.
function grantId(did: string, key: string): string {
  return `grant/${createHash('sha256')
    .update(JSON.stringify([did, key]))
    .digest('hex')}`;
}

// In millionths of a credit, so that it is a whole number.
function tokensCost({ perMillionInput, perMillionOutput }: CreditsSettings, usage: Usage): number {
  return usage.inputTokens * perMillionInput + usage.outputTokens * perMillionOutput;
}

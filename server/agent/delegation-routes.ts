// Routes of the delegation that lets the service act for its user elsewhere.

import type Router from '@koa/router';
import type { Delegations } from '../../lib/delegation/delegations.ts';
import { TwinlineError } from '../../lib/errors.ts';
import { agentUser } from '../user/authenticate.ts';
import { agentError } from '../user/errors.ts';
import { readDelegation } from './dto.ts';

/** Adds the routes; `ctx.state.user` is known. */
export function delegationRoutes(router: Router, delegations: Delegations): void {
  router.post('/delegation', async (ctx) => {
    const { raw } = await readDelegation(ctx);
    try {
      ctx.body = { ok: true, ...(await delegations.store(agentUser(ctx).did, raw)) };
    } catch (error) {
      if (error instanceof TwinlineError && error.code === 'ERR_INPUT') throw agentError(400, [error.message]);
      throw error;
    }
  });
  router.get('/delegation', async (ctx) => {
    ctx.body = await delegations.status(agentUser(ctx).did);
  });
  router.delete('/delegation', async (ctx) => {
    await delegations.revoke(agentUser(ctx).did);
    ctx.body = { ok: true };
  });
}

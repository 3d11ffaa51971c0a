// The plugin `claims`: users and agents submit claims; a cron job has them evaluated, by a service of the deployment.

import { createHash, timingSafeEqual } from 'node:crypto';
import type { Context, Middleware } from 'koa';
import { TwinlineError } from '../../../lib/errors.ts';
import type { JsonObject } from '../../../lib/store/store.ts';
import { argumentCheck } from '../host/arguments.ts';
import type { Plugin, PluginContext } from '../plugin.ts';
import type { ClaimsSettings } from '../settings.ts';
import { CLAIM, claims } from './claim.ts';
import { documentation, NEW_CLAIM, viewOf } from './documentation.ts';
import { processClaims } from './process.ts';

export function claimsPlugin({ secret, service }: ClaimsSettings): Plugin {
  if (secret === undefined || service === undefined)
    throw new TwinlineError(
      'ERR_CONFIG',
      [
        ...(secret === undefined
          ? ['CLAIMS_SECRET: is not set, and the plugin claims needs it. Generate one with: openssl rand -hex 32']
          : []),
        ...(service === undefined
          ? [
              'CLAIMS_SERVICE: is not set, and the plugin claims needs it. Name the function of SERVICES that evaluates a claim.',
            ]
          : []),
      ].join('\n'),
    );
  return {
    name: 'claims',
    version: '1.0.0',
    kinds: [CLAIM],
    authExcluded: [{ path: '/claims/process', method: 'POST' }],
    documentation,
    routes(router, ctx) {
      if (!Object.hasOwn(ctx.services, service))
        throw new TwinlineError(
          'ERR_CONFIG',
          `CLAIMS_SERVICE=${JSON.stringify(service)} is no service. Name a function that a module of SERVICES exports.`,
        );
      router.post('/claims/process', holdersOf(secret, ctx) as never, async (koa) => {
        koa.set('Cache-Control', 'no-store');
        koa.body = await processClaims(ctx, ctx.services[service]!);
      });
      router.post('/claims', ctx.jsonBody as never, async (koa) => {
        koa.status = 201;
        koa.body = viewOf(await claims(ctx).submit(ctx.requireDid(), readClaim(koa, ctx)));
      });
      router.get('/claims', async (koa) => {
        koa.body = { claims: (await claims(ctx).list(ctx.requireDid())).map(viewOf) };
      });
      router.get('/claims/:id', async (koa) => {
        const found = await claims(ctx).get(ctx.requireDid(), (koa.params as { id: string }).id);
        if (!found) throw ctx.refuse(404, 'Claim not found', { error: 'Not Found' });
        koa.body = viewOf(found);
      });
    },
    tools: [
      {
        name: 'submit_claim',
        description: 'Submits a claim of the user for evaluation; gives its id and status.',
        schema: NEW_CLAIM,
        handler: async (args, ctx) => {
          const { collection, data } = args as { collection: string; data: JsonObject };
          const key = ctx.idempotencyKey;
          return viewOf(await claims(ctx).submit(ctx.requireDid(), { collection, data, ...(key && { key }) }));
        },
      },
    ],
  };
}

function holdersOf(secret: string, ctx: PluginContext): Middleware {
  const expected = digest(secret);
  return (koa, next) => {
    const [, given] = /^Bearer ([\x21-\x7e]+)$/i.exec(koa.get('authorization')) ?? [];
    if (given !== undefined && timingSafeEqual(digest(given), expected)) return next();
    koa.set('WWW-Authenticate', 'Bearer realm="claims"');
    throw ctx.refuse(401, 'Send Authorization: Bearer <CLAIMS_SECRET>', { error: 'Unauthorized' });
  };
}

// Equal lengths for the comparison, whatever was sent.
const digest = (text: string) => createHash('sha256').update(text).digest();

const newClaim = argumentCheck(NEW_CLAIM);

function readClaim(koa: Context, ctx: PluginContext): { collection: string; data: JsonObject } {
  const { body } = koa.request as { body?: JsonObject };
  const wrong = newClaim.kind === 'check' ? newClaim.wrongWith(body ?? {}) : newClaim.why;
  if (wrong) throw ctx.refuse(400, wrong.replaceAll('arguments', 'body').split(', '), { error: 'Bad Request' });
  return body as unknown as { collection: string; data: JsonObject };
}

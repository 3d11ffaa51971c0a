// The routes of liveness, readiness and health, for orchestrators, load balancers and people.

import type { Context } from 'koa';
import type { Clock } from '../../lib/clock.ts';
import { record, type Schema } from '../../lib/json/schema.ts';
import type { Config } from '../config/config.ts';
import { jsonTypes, PAGE_LIMITED, PLAIN_ANSWERS } from '../http/common-answers.ts';
import type { RouteGroup } from '../http/route-table.ts';
import { AWAY_REASONS, type Health, type StoreHealth } from './health.ts';

export interface HealthDeps extends Pick<Config, 'environment'> {
  readonly health: Health;
  readonly clock: Pick<Clock, 'now'>;
  /** Answers `GET /` with a page where the client would rather have one; resolves to whether it did. */
  readonly sendHome: (ctx: Context) => Promise<boolean>;
}

const TIME: Schema = { type: 'string', format: 'date-time' };
const ENVIRONMENT: Schema = { type: 'string', examples: ['development', 'production'] };
const READY = record(
  'Whether requests should be sent here',
  {
    status: { enum: ['ok', 'draining', 'store-away'] },
    stores: {
      type: 'array',
      description: 'Those that fail, refuse writes or are damaged',
      items: record('A store', {
        keeps: { enum: ['sessions', 'documents'], description: 'What it keeps' },
        kind: { type: 'string', examples: ['lmdb', 'redis'] },
        away: { enum: AWAY_REASONS, description: 'How it fails' },
      }),
    },
  },
  ['stores'],
);

/** `GET /livez`, `/readyz`, `/health` and `/`. */
export const HEALTH_ROUTES: RouteGroup<HealthDeps> = {
  tag: 'Health',
  access: 'public',
  description: 'Alive, ready, healthy. `/livez` and `/readyz` are never limited.',
  routes: [
    {
      method: 'GET',
      path: '/',
      id: 'getRoot',
      summary: 'Whether a server is here',
      answers: {
        200: {
          description: 'It is',
          types: {
            ...jsonTypes(
              record('A sign of life', {
                status: { const: 'ok' },
                message: { type: 'string' },
                environment: ENVIRONMENT,
                timestamp: TIME,
              }),
            ),
            'text/html': { type: 'string' },
          },
        },
        429: PAGE_LIMITED,
      },
      handle: async (ctx, { clock, environment, sendHome }) => {
        if (await sendHome(ctx)) return;
        const timestamp = new Date(clock.now()).toISOString();
        ctx.body = { status: 'ok', message: 'Twinline is running', environment, timestamp };
      },
    },
    {
      method: 'GET',
      path: '/livez',
      id: 'getLiveness',
      summary: 'Whether the process lives',
      rate: 'none',
      answers: {
        200: { description: 'It does', types: jsonTypes(record('A sign of life', { status: { const: 'ok' } })) },
      },
      handle: (ctx) => {
        ctx.body = { status: 'ok' };
      },
    },
    {
      method: 'GET',
      path: '/readyz',
      id: 'getReadiness',
      summary: 'Whether requests should be sent here',
      rate: 'none',
      answers: {
        200: { description: 'They should', types: jsonTypes(READY) },
        503: {
          description: 'They should not: it is being stopped, or a store fails, refuses writes or is damaged',
          types: jsonTypes(READY),
        },
      },
      handle: async (ctx, { health }) => {
        const away = (await health.judgeStores()).filter(isAway);
        const status = health.draining ? 'draining' : away.length ? 'store-away' : 'ok';
        ctx.status = status === 'ok' ? 200 : 503;
        ctx.body = status === 'store-away' ? { status, stores: away } : { status };
      },
    },
    {
      method: 'GET',
      path: '/health',
      id: 'getHealth',
      summary: 'How the server is',
      description: 'Always 200, and within 100 ms.',
      answers: {
        200: {
          description: 'How it is',
          types: jsonTypes(
            record('The state of the server', {
              status: { enum: ['ok', 'degraded'] },
              environment: ENVIRONMENT,
              timestamp: TIME,
              uptime: { type: 'number', minimum: 0, description: 'Seconds' },
              database: {
                enum: ['connected', 'disconnected'],
                description: 'Whether every store answers and takes writes',
              },
            }),
          ),
        },
        429: PLAIN_ANSWERS[429],
      },
      handle: async (ctx, { health, clock, environment }) => {
        const connected = !(await health.stores()).some(isAway);
        ctx.body = {
          status: connected ? 'ok' : 'degraded',
          environment,
          timestamp: new Date(clock.now()).toISOString(),
          uptime: process.uptime(),
          database: connected ? 'connected' : 'disconnected',
        };
      },
    },
  ],
};

const isAway = ({ away }: StoreHealth) => away !== undefined;

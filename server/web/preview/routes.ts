// GET /preview and what its page asks: dial a draft by a link, with no other right. Services answer with samples; no real one is called.

import type { Clock } from '../../../lib/clock.ts';
import { record, type Schema } from '../../../lib/json/schema.ts';
import { readInput } from '../../http/check-input.ts';
import { JSON_BODY_ANSWERS, jsonTypes, PAGE_LIMITED, PLAIN_ANSWERS, UNKNOWN } from '../../http/common-answers.ts';
import { Refusal } from '../../http/errors.ts';
import { rateLimiter } from '../../http/middleware/rate-limit.ts';
import type { RouteGroup } from '../../http/route-table.ts';
import { pageRoute } from '../kit/frame.ts';
import { PAGE_LIMITS } from '../limits.ts';
import { DIALOGUE_INPUTS } from '../simulator/flow-test.ts';
import type { Drafts } from '../studio/drafts.ts';
import type { PreviewLinks } from './links.ts';
import { PREVIEW_PAGE } from './page.ts';

export interface PreviewDeps {
  readonly links: PreviewLinks;
  /** Beside those of the studio: visitors delay no author. */
  readonly drafts: Pick<Drafts, 'ask'>;
  /** Counts a turn of a link: 0 when it may pass, else the seconds to wait. */
  readonly limitTurns: (id: string) => Promise<number>;
}

/** Limits the turns of each link. */
export const turnLimiter = (clock: Pick<Clock, 'monotonic'>): PreviewDeps['limitTurns'] =>
  rateLimiter({ max: PAGE_LIMITS.previewTurns, windowMs: 60_000, clock });

const TOKEN: Schema = { type: 'string', maxLength: 100, description: 'What stands behind the # of the link' };
const TEXT: Schema = { type: 'string' };
const NUMBER = '+260971230001';
const CODE = '*100#';

interface PreviewTurn {
  readonly token: string;
  readonly session: string;
  readonly inputs: readonly string[];
}

export const PREVIEW_ROUTES: RouteGroup<PreviewDeps> = {
  tag: 'Previews',
  description: 'Dial a draft of a menu by a link that an operator made in the studio, until the link ends.',
  access: 'public',
  answers: { ...PLAIN_ANSWERS, 429: PAGE_LIMITED },
  routes: [
    pageRoute({
      path: '/preview',
      id: 'getPreview',
      summary: 'A phone that dials a draft',
      page: () => PREVIEW_PAGE,
    }),
    {
      method: 'POST',
      path: '/preview/open',
      id: 'openPreview',
      summary: 'What a link shows, and until when',
      ownPages: true,
      body: {
        types: jsonTypes({ type: 'object', required: ['token'], properties: { token: TOKEN } }),
        example: { token: 'none' },
      },
      answers: {
        200: {
          description: 'The draft',
          types: jsonTypes(record('A preview', { flow: TEXT, at: TEXT, until: TEXT })),
        },
        404: UNKNOWN,
        ...JSON_BODY_ANSWERS,
      },
      handle: async (ctx, { links }) => {
        const { token } = readInput<{ body: { token: string } }>(ctx).body;
        const { flow, at, until } = await links.open(token);
        ctx.set('Cache-Control', 'no-store');
        ctx.body = { flow, at: new Date(at).toISOString(), until: new Date(until * 1_000).toISOString() };
      },
    },
    {
      method: 'POST',
      path: '/preview/dial',
      id: 'dialPreview',
      summary: 'Dial, or answer: all that was typed so far',
      ownPages: true,
      body: {
        types: jsonTypes({
          type: 'object',
          required: ['token', 'session', 'inputs'],
          properties: {
            token: TOKEN,
            session: { type: 'string', pattern: '^[\\w-]{1,40}$', description: 'Any name of this dialogue' },
            inputs: DIALOGUE_INPUTS,
          },
        }),
        example: { token: 'none', session: 'one', inputs: [''] },
      },
      answers: {
        200: {
          description: 'A screen',
          types: jsonTypes(record('A screen', { kind: { enum: ['continue', 'end'] }, text: TEXT, state: {} })),
        },
        404: UNKNOWN,
        ...JSON_BODY_ANSWERS,
      },
      handle: async (ctx, { links, drafts, limitTurns }) => {
        const { token, session, inputs } = readInput<{ body: PreviewTurn }>(ctx).body;
        const { id, flow, text, tests } = await links.open(token);
        const seconds = await limitTurns(id);
        if (seconds > 0) {
          ctx.set('Retry-After', String(seconds));
          throw new Refusal('too-many-requests', `This link was used too often. Try again in ${seconds} s`);
        }
        const caller = { sessionId: `${id}-${session}`, phoneNumber: NUMBER, serviceCode: CODE };
        ctx.set('Cache-Control', 'no-store');
        ctx.body = await drafts.ask('preview', { flow, text }, { ...caller, inputs, tests });
      },
    },
  ],
};

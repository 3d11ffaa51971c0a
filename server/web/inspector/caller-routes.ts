// Routes that look for callers: by number, and by what failed.

import type { FeedSource } from '../../../lib/inspection/feed.ts';
import { sessionMessage } from '../../../lib/inspection/stately.ts';
import { record, type Schema } from '../../../lib/json/schema.ts';
import { readInput } from '../../http/check-input.ts';
import { JSON_BODY_ANSWERS, jsonTypes } from '../../http/common-answers.ts';
import type { Route } from '../../http/route-table.ts';
import type { TroubledSession } from '../../telemetry/trouble.ts';
import { CALLER_DIGITS, type FoundCallers } from './callers.ts';

export interface CallerDoor extends Pick<FeedSource, 'now'> {
  readonly findCallers: (digits: string) => Promise<FoundCallers>;
  /** Sessions of this process in which something failed, with their last turns. */
  readonly trouble: () => readonly TroubledSession[];
}

const TEXT: Schema = { type: 'string' };
/** Query for callers. */
const NUMBER: Schema = {
  type: 'string',
  pattern: `^\\+?\\d{${CALLER_DIGITS},15}$`,
  description: `${CALLER_DIGITS} to 15 digits, with or without + before them: a number, or its last digits`,
};

const TEXT_OR_NULL: Schema = { type: ['string', 'null'] };
const TIME: Schema = { type: 'integer', description: 'Milliseconds since 1970' };

const TROUBLE: Schema = {
  type: 'array',
  description: 'Sessions in which something failed, and whose turns this process took; the last one first',
  items: record('A session', {
    session: { type: 'string', description: 'As the log and the stream name it' },
    at: TIME,
    reason: { type: 'string', description: 'What failed last' },
    turns: {
      type: 'array',
      description: 'The last ones, the oldest first',
      items: record(
        'A turn',
        {
          ...{ at: TIME, session: TEXT, turn: TEXT_OR_NULL, from: TEXT_OR_NULL, to: TEXT_OR_NULL },
          caller: { type: 'string', description: 'A keyed hash of the phone number, as in the log' },
          outcome: { enum: ['continue', 'end'] },
          reason: { type: 'string', description: 'Why the caller got something else than the next screen' },
          requestId: TEXT,
        },
        ['reason', 'requestId'],
      ),
    },
  }),
};

export const CALLER_ROUTES: readonly Route<CallerDoor>[] = [
  {
    method: 'POST',
    path: '/inspector/callers',
    id: 'findCallers',
    summary: 'Living sessions of the callers whose number is this, or ends with it',
    description: 'The number is sent in a body, so that it stands in no log; answers hold shortened ones only.',
    body: {
      types: jsonTypes(record('A number', { number: NUMBER })),
      example: { number: '0001' },
    },
    answers: {
      ...JSON_BODY_ANSWERS,
      200: {
        description: 'What was found',
        types: jsonTypes(
          record('Sessions', {
            sessions: {
              type: 'array',
              description: 'As the stream tells of sessions',
              items: { type: 'object', additionalProperties: true },
            },
            searched: { type: 'integer', description: 'Living sessions that were looked at' },
            isCut: { type: 'boolean', description: 'Whether there are more that were not looked at' },
            callers: {
              type: 'array',
              description:
                'What `caller` is in log lines of this number, for each key of PIN_ENCRYPTION_KEY; none for its last digits',
              items: record('A keyed hash of the number', { key: TEXT, caller: TEXT }),
            },
            trouble: TROUBLE,
          }),
        ),
      },
    },
    handle: async (ctx, { findCallers, now }) => {
      const { number } = readInput<{ body: { number: string } }>(ctx).body;
      const { sessions, ...counts } = await findCallers(number.replace('+', ''));
      ctx.set('Cache-Control', 'no-store');
      ctx.body = { ...counts, sessions: sessions.map((one) => sessionMessage(one, undefined, now())) };
    },
  },
  {
    method: 'GET',
    path: '/inspector/trouble',
    id: 'listTrouble',
    summary: 'Sessions in which something failed, with their last turns',
    description:
      'The last 100 sessions of phones, with at most 20 turns each, of this process since it started. Without texts, values and phone numbers.',
    answers: {
      200: { description: 'The sessions', types: jsonTypes(record('Trouble', { sessions: TROUBLE })) },
    },
    handle: (ctx, { trouble }) => {
      ctx.set('Cache-Control', 'no-store');
      ctx.body = { sessions: trouble() };
    },
  },
];

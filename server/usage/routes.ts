// GET /api/ussd/usage/:flow: what callers did in a flow, for operators and authors.

import type { Clock } from '../../lib/clock.ts';
import { record, type Schema } from '../../lib/json/schema.ts';
import { readInput } from '../http/check-input.ts';
import { UNKNOWN } from '../http/common-answers.ts';
import type { ReplyRoute } from '../http/route-table.ts';
import type { UsageCounts } from './counts.ts';
import { readUsage, usageCsv } from './report.ts';

export interface UsageDeps {
  readonly usage: UsageCounts;
  readonly clock: Pick<Clock, 'now'>;
}

interface UsageInput {
  readonly query: { readonly days: number; readonly version?: number; readonly lang?: string; readonly format: string };
}

const TEXT: Schema = { type: 'string' };
const COUNT: Schema = { type: 'integer' };

const REPORT = record('What callers did in a flow', {
  flow: TEXT,
  since: { type: 'string', format: 'date-time', description: 'The beginning of the first hour that counts' },
  until: { type: 'string', format: 'date-time', description: 'The end of the present hour' },
  ways: {
    type: 'array',
    description: 'Turns from one screen to the next, the most first',
    items: record('A way', {
      version: COUNT,
      language: TEXT,
      from: { type: ['string', 'null'], description: 'Null for a first turn' },
      to: TEXT,
      outcome: { enum: ['continue', 'end', 'failed'] },
      turns: COUNT,
    }),
  },
  screens: {
    type: 'array',
    items: record('A screen', {
      screen: TEXT,
      reached: { ...COUNT, description: 'Turns that led to it from elsewhere' },
      again: { ...COUNT, description: 'Turns that showed it once more, such as after a refused answer' },
      left: { ...COUNT, description: 'Turns that led from it to another screen' },
      ended: { ...COUNT, description: 'Sessions that ended with it' },
      unanswered: { ...COUNT, description: 'Reached, and neither left nor ended: hung up, or still there' },
      failed: COUNT,
      medianSeconds: {
        type: ['integer', 'null'],
        description: 'Seconds within which half of the answers came, rounded up; null without answers',
      },
    }),
  },
  other: { ...COUNT, description: 'Turns on ways beyond the 400 of an hour that are counted each' },
});

export const USAGE_PARAMETERS = {
  flow: {
    description: 'The name of a flow',
    schema: { type: 'string', pattern: '^[A-Za-z][\\w-]{0,63}$', examples: ['main'] },
  },
} as const;

export const USAGE_ROUTE: ReplyRoute<UsageDeps> = {
  method: 'GET',
  path: '/api/ussd/usage/:flow',
  id: 'getUsage',
  summary: 'What callers did in a flow',
  description:
    'Turns by way, version and language, of all instances; no caller is in it. Other instances add their counts every ten seconds.',
  query: {
    days: {
      description: 'So many times 24 hours, with the present one',
      schema: { type: 'integer', minimum: 1, maximum: 31, default: 1 },
    },
    version: { description: 'Only this version of the flow', schema: { type: 'integer', minimum: 1 } },
    lang: { description: 'Only callers who read this language', schema: { type: 'string', maxLength: 35 } },
    format: { description: '`csv`: only the ways, as a table', schema: { enum: ['json', 'csv'], default: 'json' } },
  },
  answers: {
    200: {
      description: 'The counts; of a flow that nobody has dialled there are none',
      types: { 'application/json': REPORT, 'text/csv': TEXT },
    },
    404: UNKNOWN,
  },
  reply: async (request, { usage, clock }) => {
    const { days, version, lang, format } = readInput<UsageInput>(request).query;
    const report = await readUsage(usage, request.params.flow!, { days, now: clock.now(), version, language: lang });
    return format === 'csv'
      ? { headers: { 'Content-Type': 'text/csv; charset=utf-8' }, body: usageCsv(report) }
      : { body: report };
  },
};

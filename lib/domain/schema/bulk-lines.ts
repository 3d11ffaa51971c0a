// The lines of imports and exports, as JSON Schemas.

import { DOMAIN_LIMITS } from '../limits.ts';
import { NEW_PROTOCOL, NEW_TWIN } from './bodies.ts';
import { type Schema, text } from './parts.ts';
import { RECORD_LINE } from './records.ts';
import { record } from './twin-answers.ts';

const IDEMPOTENCY_KEY = text(
  DOMAIN_LIMITS.idempotencyKeyChars,
  'A word that names this line: again, it changes nothing',
);

// What a line says besides what it makes.
function line(body: Schema, kinds: readonly string[]): Schema {
  const { properties, ...rest } = body as { properties: object };
  return { ...rest, properties: { ...properties, kind: { enum: kinds }, idempotencyKey: IDEMPOTENCY_KEY } };
}

/** A line of an import. */
export const BULK_LINE: Schema = {
  description: 'A new domain, entity or protocol, or a line of an export',
  anyOf: [line(NEW_TWIN, ['domain', 'entity']), line(NEW_PROTOCOL, ['protocol']), RECORD_LINE],
};

/** What became of a line. */
export const BULK_ROW = record(
  'What became of a line',
  {
    line: { type: 'integer', minimum: 1 },
    status: { type: 'integer', description: '201: made; 200: it was there already; else why not' },
    did: { type: 'string', format: 'did' },
    differs: {
      type: 'array',
      items: { type: 'string', format: 'json-pointer' },
      description:
        'Of what was there already: fields of the line that say something else than the record; /status when it was deactivated',
    },
    error: record('Why not', {
      code: { type: 'string', description: 'The type of a problem' },
      message: { type: 'string' },
      details: {
        type: 'array',
        items: record('A field', { field: { type: 'string' }, error: { type: 'string' } }),
      },
    }),
  },
  ['did', 'differs', 'error'],
);

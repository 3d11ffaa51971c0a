// Imports and exports, as OpenAPI describes them.

import { DOMAIN_LIMITS } from '../../../lib/domain/limits.ts';
import { BULK_LINE, BULK_ROW } from '../../../lib/domain/schema/bulk-lines.ts';
import type { Schema } from '../../../lib/domain/schema/parts.ts';
import { RECORD_LINE } from '../../../lib/domain/schema/records.ts';
import type { RouteGroup } from '../../http/route-table.ts';
import { domainPart, IDEMPOTENCY_KEY } from './domain-part.ts';

const NDJSON = 'application/x-ndjson';

// OpenAPI 3.1 has no word for the schema of a line, and what only an extension points at counts as unused.
const lines = (of: Schema): Schema => ({
  type: 'string',
  description: 'Lines of JSON, each as `x-lines` says',
  'x-lines': of,
});

export const BULK_PART: RouteGroup = domainPart({
  tag: 'Import and export',
  description: 'Many records as lines of JSON, in order. A line that fails fails alone.',
  routes: [
    {
      method: 'POST',
      path: '/v1/bulk',
      id: 'importInBulk',
      summary: 'Import many domains, entities and protocols',
      description: `Role controller. At most ${DOMAIN_LIMITS.bulkLines} lines. A line whose every name (alsoKnownAs, externalId) belongs to one record of its type changes nothing; where only some do, or the type is another, it fails with 409.`,
      query: {
        dryRun: {
          description: 'Check everything and write nothing',
          schema: { enum: ['true', 'false'], default: 'false' },
        },
      },
      headers: IDEMPOTENCY_KEY,
      body: {
        types: { [NDJSON]: lines(BULK_LINE) },
        maxBytes: DOMAIN_LIMITS.bulkLineBytes,
        perLine: true,
        example: '{"type":"Device","class":"did:ixo:protocol/clean-cooking","externalId":"stove-1"}\n',
      },
      answers: { 207: { description: 'A line for each line', types: { [NDJSON]: lines(BULK_ROW) } } },
      problems: ['role-missing'],
    },
    {
      method: 'GET',
      path: '/v1/export',
      id: 'exportAll',
      summary: 'Everything that the tenant has, with its history',
      description: 'Role operator. An import takes the lines back unchanged.',
      answers: {
        200: { description: 'A line for each revision', types: { [NDJSON]: lines(RECORD_LINE) } },
      },
      problems: ['role-missing'],
    },
  ],
});

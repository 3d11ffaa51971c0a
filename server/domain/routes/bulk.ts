// Import and export: POST /v1/bulk and GET /v1/export, streamed as lines of JSON.

import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import type { Bulk, LineResult } from '../../../lib/domain/bulk/bulk.ts';
import { exportLines } from '../../../lib/domain/bulk/export-lines.ts';
import { writeExport } from '../../../lib/domain/bulk/manifest.ts';
import { type NumberedLine, readLines } from '../../../lib/domain/bulk/ndjson.ts';
import { requireRole } from '../../../lib/domain/caller.ts';
import type { Feed } from '../../../lib/domain/feed/feed.ts';
import type { SettleVotes } from '../../../lib/domain/find.ts';
import { DOMAIN_LIMITS } from '../../../lib/domain/limits.ts';
import { isRefusal, refuse } from '../../../lib/domain/problems.ts';
import { BULK_LINE, BULK_ROW, EXPORT_LINE } from '../../../lib/domain/schema/records.ts';
import type { Schema } from '../../../lib/json/schema.ts';
import type { DocumentStore } from '../../../lib/store/store.ts';
import type { Audit, AuditEvent } from '../../audit/audit.ts';
import { SERVER_LIMITS } from '../../config/limits.ts';
import { readVersion } from '../../config/modules.ts';
import { allowLongUpload } from '../../http/connections.ts';
import { describeError, Refusal } from '../../http/errors.ts';
import { mediaType } from '../../http/json-body.ts';
import type { RouteGroup, RouteRequest } from '../../http/route-table.ts';
import { readCaller } from '../api-keys.ts';
import { domainGroup, IDEMPOTENCY_KEY, idempotencyKey, readQuery } from '../requests.ts';

export interface BulkDeps {
  readonly documents: DocumentStore;
  readonly bulk: Bulk;
  readonly imports: ImportPlaces;
  readonly feed: Feed;
  readonly settleVotes: SettleVotes;
  readonly onFault: (error: unknown, request: Pick<RouteRequest, 'state'>) => void;
  /** Imported records bring their status without a vote here, so imports are audited. */
  readonly audit: Pick<Audit, 'append'>;
}

const NDJSON = 'application/x-ndjson';

// OpenAPI 3.1 has no word for the schema of a line, and what only an extension points at counts as unused.
const lines = (of: Schema): Schema => ({
  type: 'string',
  description: 'Lines of JSON, each as `x-lines` says',
  'x-lines': of,
});

const FLAG = { enum: ['true', 'false'], default: 'false' } as const;
const BULK_QUERY = {
  dryRun: { description: 'Check everything and write nothing', schema: FLAG },
  part: {
    description:
      'The lines are a part of an export: nothing is said of its first and last line, which the sender checks',
    schema: FLAG,
  },
} as const;

/** What an export of a tenant does not contain. */
const LEFT_OUT = [
  'other tenants',
  'accounts and PINs',
  'sessions of callers',
  'chats and delegations',
  'webhooks',
  'answers to repeated requests',
  'what plugins keep, such as credits of users',
  'the audit log',
  'keys, settings and menus',
];

/** Imports and exports. */
export const BULK_ROUTES: RouteGroup<BulkDeps> = domainGroup({
  tag: 'Import and export',
  description: 'Many records as lines of JSON, in order. A line that fails fails alone.',
  routes: [
    {
      method: 'POST',
      path: '/v1/bulk',
      id: 'importInBulk',
      summary: 'Import many domains, entities and protocols',
      description: `Role controller. At most ${DOMAIN_LIMITS.bulkLines} lines. Lines of an export are told when they are not all of it, in its order: a row after the last one says that it was cut. A line whose every name (alsoKnownAs, externalId) belongs to one record of its type changes nothing; where only some do, or the type is another, it fails with 409.`,
      query: BULK_QUERY,
      headers: IDEMPOTENCY_KEY,
      body: {
        types: { [NDJSON]: lines(BULK_LINE) },
        maxBytes: DOMAIN_LIMITS.bulkLineBytes,
        perLine: true,
        example: '{"type":"Device","class":"did:ixo:protocol/clean-cooking","externalId":"stove-1"}\n',
      },
      answers: { 207: { description: 'A line for each line', types: { [NDJSON]: lines(BULK_ROW) } } },
      problems: ['role-missing'],
      reply: (request, deps) => {
        const { bulk, imports, audit } = deps;
        const caller = readCaller(request);
        requireRole(caller, 'import in bulk');
        requireLines(request);
        const { dryRun, isPart } = readFlags(request);
        const key = idempotencyKey(request);
        const leave = imports.enter(caller.tenant);
        allowLongUpload(request.req);
        const event = { by: caller.principal, details: { tenant: caller.tenant, import: randomUUID() } };
        const beforeRecords = async () => void (await audit.append({ action: 'records.importing', ...event }));
        const rows = bulk(caller, { lines: linesUntilTooSlow(request.req), dryRun, isPart, key, beforeRecords });
        // A client may send everything before it reads: never wait for it to read first.
        const texts = answerRows(request, { noted: event, rows }, deps);
        const body = Readable.from(isProxied(request) ? holdUntilRead(request.req, texts) : texts, {
          objectMode: false,
          highWaterMark: SERVER_LIMITS.bulkAnswerBytes,
        });
        body.once('close', leave);
        return {
          status: 207,
          headers: { 'Content-Type': NDJSON, 'X-Accel-Buffering': 'no', Connection: 'close' },
          body,
        };
      },
    },
    {
      method: 'GET',
      path: '/v1/export',
      id: 'exportAll',
      summary: 'Everything that the tenant has, with its history',
      description:
        'Role operator. An import takes the lines back unchanged. The first and the last line say what there is in between, and what an export does not hold.',
      answers: {
        200: { description: 'A line for each revision', types: { [NDJSON]: lines(EXPORT_LINE) } },
      },
      problems: ['role-missing'],
      reply: async (request, { documents, settleVotes, audit }) => {
        const caller = readCaller(request);
        requireRole(caller, 'export');
        if (request.method !== 'HEAD')
          await audit.append({ action: 'records.export', by: caller.principal, details: { tenant: caller.tenant } });
        const headers = {
          'Content-Type': NDJSON,
          'Cache-Control': 'no-store',
          'Content-Disposition': 'attachment; filename="twinline-export.ndjson"',
        };
        if (request.method === 'HEAD') return { headers, body: '' };
        const lines = async function* () {
          const records = exportLines({ documents, settleVotes }, caller);
          yield* writeExport(records, { version: readVersion(), leftOut: LEFT_OUT });
        };
        return { headers, body: Readable.from(lines(), { objectMode: false, highWaterMark: 65_536 }) };
      },
    },
  ],
});

function readFlags(request: RouteRequest) {
  const { dryRun, part } = readQuery(request, BULK_QUERY);
  return { dryRun: dryRun === 'true', isPart: part === 'true' };
}

async function* answerRows(
  request: RouteRequest,
  { noted, rows }: { readonly noted: Omit<AuditEvent, 'action'>; readonly rows: AsyncIterable<LineResult> },
  { feed, onFault, audit }: Pick<BulkDeps, 'feed' | 'onFault' | 'audit'>,
): AsyncGenerator<string> {
  let [records, verified] = [0, 0];
  try {
    for await (const row of rows) {
      if ('imported' in row) {
        records++;
        if (row.imported?.status === 'Verified') verified++;
      }
      yield `${JSON.stringify(rowView(row, (error) => onFault(error, request)))}\n`;
    }
  } catch (error) {
    // The client disconnected; one that is still connected sees a truncated answer.
    if (!request.req.destroyed) onFault(error, request);
    throw error;
  } finally {
    // `records.importing` was written before the first record.
    const details = { ...noted.details, records, verified };
    if (records && !readFlags(request).dryRun)
      await audit
        .append({ action: 'records.import', by: noted.by, details })
        .catch((error: unknown) => onFault(error, request));
    feed.nudge();
  }
}

const isProxied = (request: RouteRequest) => PROXY_HEADERS.some((name) => request.get(name) !== '');
const PROXY_HEADERS = ['X-Forwarded-For', 'Forwarded', 'Via'];

// nginx stops forwarding a request once its response has begun (ngx_http_upstream.c, preserve_output), which would deadlock.
async function* holdUntilRead(req: IncomingMessage, texts: AsyncIterable<string>): AsyncGenerator<string> {
  let waiting = '';
  for await (const text of texts) {
    waiting += text;
    if (!req.complete && waiting.length < SERVER_LIMITS.bulkAnswerBytes) continue;
    yield waiting;
    waiting = '';
  }
  if (waiting !== '') yield waiting;
}

/** The imports in progress. */
export type ImportPlaces = ReturnType<typeof importPlaces>;

/** Bounds concurrent imports, per tenant and in total. */
export function importPlaces() {
  const perTenant = new Map<string, number>();
  let all = 0;
  return {
    /** Takes a place and returns the function that frees it. Throws `unavailable` when there is none. */
    enter(tenant: string): () => void {
      const own = perTenant.get(tenant) ?? 0;
      if (own >= SERVER_LIMITS.bulkRequestsPerTenant)
        throw new Refusal('unavailable', `${own} imports of yours are under way. Try again when one has ended.`);
      if (all >= SERVER_LIMITS.bulkRequests)
        throw new Refusal('unavailable', `${all} imports are under way already. Try again when one has ended.`);
      all++;
      perTenant.set(tenant, own + 1);
      return () => {
        all--;
        const left = perTenant.get(tenant)! - 1;
        if (left > 0) perTenant.set(tenant, left);
        else perTenant.delete(tenant);
      };
    },
  };
}

// Ends with an extra line that says why reading stopped.
async function* linesUntilTooSlow(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<NumberedLine> {
  let last = 0;
  try {
    for await (const line of readLines(readSteadily(bytes))) {
      last = line.line;
      yield line;
    }
  } catch (error) {
    if (!isRefusal(error, 'too-slow')) throw error;
    yield { line: last + 1, problem: error };
  }
}

function rowView(row: LineResult, onFault: (error: unknown) => void) {
  const { line, warning } = row;
  const warned = warning === undefined ? {} : { warning };
  if ('isManifest' in row) return { line, status: 200, ...warned };
  if (row.did !== undefined) {
    const { did, created, differs } = row;
    return { line, status: created ? 201 : 200, did, ...(differs && { differs }), ...warned };
  }
  const { status, code, message, details } = describeError(row.error);
  if (status >= 500) onFault(row.error);
  return { line, status, error: { code, message, details }, ...warned };
}

const LINE_TYPES = new Set([NDJSON, 'application/ndjson', 'application/jsonl']);

function requireLines(request: RouteRequest): void {
  const type = mediaType(request);
  if (!LINE_TYPES.has(type))
    throw refuse('unsupported-media-type', `A body of type ${JSON.stringify(type)} is not read here. Send ${NDJSON}.`);
  const coding = request.get('content-encoding').trim().toLowerCase();
  if (coding !== '' && coding !== 'identity')
    throw refuse('unsupported-media-type', `The coding ${JSON.stringify(coding)} is not read here. Send plain lines.`);
}

/** Monotonic milliseconds. */
export type Stopwatch = () => number;

/**
 * Passes bytes through. Throws `too-slow` when the sender delivers less than SERVER_LIMITS.bulkLeastBytes in
 * SERVER_LIMITS.bulkRateMs of waiting (excluding our own work), and after SERVER_LIMITS.bulkMs in total.
 */
export async function* readSteadily(
  bytes: AsyncIterable<Uint8Array>,
  now: Stopwatch = () => performance.now(),
): AsyncGenerator<Uint8Array> {
  const begun = now();
  let [waited, received] = [0, 0];
  let since = now();
  for await (const chunk of bytes) {
    const came = now();
    waited += came - since;
    received += chunk.length;
    if (came - begun > SERVER_LIMITS.bulkMs) throw refuse('too-slow', TOO_LONG);
    if (waited >= SERVER_LIMITS.bulkRateMs) {
      if (received < SERVER_LIMITS.bulkLeastBytes) throw refuse('too-slow', TOO_SLOW);
      [waited, received] = [0, 0];
    }
    yield chunk;
    since = now();
  }
}

const TOO_SLOW = `An import sends at least ${SERVER_LIMITS.bulkLeastBytes} bytes in ${SERVER_LIMITS.bulkRateMs / 1_000} seconds. Send the rest in another one.`;
const TOO_LONG = `An import takes at most ${SERVER_LIMITS.bulkMs / 60_000} minutes. Send the rest in another one.`;

// POST /v1/bulk and GET /v1/export: many records as lines of JSON, read and written as they come.

import { Readable } from 'node:stream';
import type Router from '@koa/router';
import type { Context, ParameterizedContext } from 'koa';
import type { Bulk, Row } from '../../../lib/domain/bulk/bulk.ts';
import { exportLines } from '../../../lib/domain/bulk/export.ts';
import { type Line, linesOf } from '../../../lib/domain/bulk/ndjson.ts';
import { requireRole } from '../../../lib/domain/caller.ts';
import type { Feed } from '../../../lib/domain/feed/follow.ts';
import { DOMAIN_LIMITS } from '../../../lib/domain/limits.ts';
import { isRefusal, refuse } from '../../../lib/domain/problems.ts';
import type { SettleVotes } from '../../../lib/domain/voting/due-votes.ts';
import type { DocumentStore } from '../../../lib/store/store.ts';
import { SERVER_LIMITS } from '../../config/limits.ts';
import { Refusal } from '../../http/errors.ts';
import { mediaType } from '../../http/json-body.ts';
import { allowLongUpload } from '../../http/long-uploads.ts';
import { callerOf } from '../authenticate.ts';
import { told } from '../problem.ts';
import { keyOf } from '../repeat.ts';
import { readSteadily } from '../steady-upload.ts';

export interface BulkDeps {
  readonly documents: DocumentStore;
  readonly bulk: Bulk;
  readonly feed: Feed;
  readonly settleVotes: SettleVotes;
  readonly onFault: (error: unknown, ctx: ParameterizedContext) => void;
}

const NDJSON = 'application/x-ndjson';
const READ = new Set([NDJSON, 'application/ndjson', 'application/jsonl']);

/** Adds the routes; `ctx.state.caller` is known. */
export function bulkRoutes(router: Router, { documents, bulk, feed, settleVotes, onFault }: BulkDeps): void {
  const running = places();

  async function* answers(ctx: Context, rows: AsyncIterable<Row>): AsyncGenerator<string> {
    try {
      for await (const row of rows) yield `${JSON.stringify(rowView(row, (error) => onFault(error, ctx)))}\n`;
    } catch (error) {
      // The client went away in the middle of a line; whoever is still there sees that the answer has no end.
      if (!ctx.req.destroyed) onFault(error, ctx);
      throw error;
    } finally {
      feed.nudge();
    }
  }

  router.post('/v1/bulk', (ctx) => {
    const caller = callerOf(ctx);
    requireRole(caller, 'import in bulk');
    requireLines(ctx);
    const dryRun = flag(ctx, 'dryRun');
    const key = checkedKey(ctx);
    const leave = running.enter(caller.tenant);
    allowLongUpload(ctx.req);
    ctx.status = 207;
    ctx.set({ 'Content-Type': NDJSON, 'X-Accel-Buffering': 'no', Connection: 'close' });
    const rows = bulk(caller, { lines: linesUntilTooSlow(ctx.req), dryRun, key });
    // A client that sends everything before it reads must not be waited for while it waits for us.
    const body = Readable.from(answers(ctx, rows), {
      objectMode: false,
      highWaterMark: SERVER_LIMITS.bulkAnswerBytes,
    });
    body.once('close', leave);
    ctx.body = body;
  });

  router.get('/v1/export', (ctx) => {
    const caller = callerOf(ctx);
    requireRole(caller, 'export');
    ctx.set({
      'Content-Type': NDJSON,
      'Cache-Control': 'no-store',
      'Content-Disposition': 'attachment; filename="twinline-export.ndjson"',
    });
    ctx.status = 200;
    const lines = async function* () {
      for await (const line of exportLines({ documents, settleVotes }, caller)) yield `${JSON.stringify(line)}\n`;
    };
    ctx.body = ctx.method === 'HEAD' ? '' : Readable.from(lines(), { objectMode: false, highWaterMark: 65_536 });
  });
}

/** The imports that are under way. */
function places() {
  const perTenant = new Map<string, number>();
  let all = 0;
  return {
    /** Takes a place; the answer gives it back. Throws `unavailable` when there is none. */
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

// The line after the last one that is read says why it is the last.
async function* linesUntilTooSlow(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Line> {
  let last = 0;
  try {
    for await (const line of linesOf(readSteadily(bytes))) {
      last = line.line;
      yield line;
    }
  } catch (error) {
    if (!isRefusal(error, 'too-slow')) throw error;
    yield { line: last + 1, problem: error };
  }
}

function rowView(row: Row, onFault: (error: unknown) => void) {
  const { line } = row;
  if (row.did !== undefined) {
    const { did, created, differs } = row;
    return { line, status: created ? 201 : 200, did, ...(differs && { differs }) };
  }
  const { status, code, detail, details } = told(row.error);
  if (status >= 500) onFault(row.error);
  return { line, status, error: { code, message: detail, details } };
}

function requireLines(ctx: Context): void {
  const type = mediaType(ctx);
  if (!READ.has(type))
    throw refuse('unsupported-media-type', `A body of type ${JSON.stringify(type)} is not read here. Send ${NDJSON}.`);
  const coding = ctx.get('content-encoding').trim().toLowerCase();
  if (coding !== '' && coding !== 'identity')
    throw refuse('unsupported-media-type', `The coding ${JSON.stringify(coding)} is not read here. Send plain lines.`);
}

function flag(ctx: Context, name: string): boolean {
  const given = ctx.query[name];
  if (given === undefined || given === 'false') return false;
  if (given === 'true') return true;
  throw refuse('bad-request', `${name}=${JSON.stringify(given)} is neither true nor false.`);
}

function checkedKey(ctx: Context): string | undefined {
  const key = keyOf(ctx);
  if (key === undefined || key.length <= DOMAIN_LIMITS.idempotencyKeyChars) return key;
  throw refuse('bad-request', `An Idempotency-Key has at most ${DOMAIN_LIMITS.idempotencyKeyChars} characters.`);
}

// Stores in memory that are copied, exported and imported, for tests of what must outlive that.

import { SimulatedClock } from '../../lib/clock.ts';
import { bulk, type LineResult } from '../../lib/domain/bulk/bulk.ts';
import { exportLines } from '../../lib/domain/bulk/export-lines.ts';
import { writeExport } from '../../lib/domain/bulk/manifest.ts';
import { readLines } from '../../lib/domain/bulk/ndjson.ts';
import type { Caller } from '../../lib/domain/caller.ts';
import { NO_VOTES } from '../../lib/domain/find.ts';
import { idempotency } from '../../lib/domain/idempotency.ts';
import { DOMAIN_KINDS } from '../../lib/domain/kinds.ts';
import { memoryDocuments } from '../../lib/store/memory/index.ts';
import type { DocumentStore } from '../../lib/store/store.ts';

export interface Ground {
  readonly documents: DocumentStore;
  readonly clock: SimulatedClock;
}

export async function emptyGround(clock = new SimulatedClock()): Promise<Ground> {
  const documents = memoryDocuments({ clock });
  await documents.declare(DOMAIN_KINDS);
  return { documents, clock };
}

export async function copyGround({ documents, clock }: Ground): Promise<Ground> {
  const copy = await emptyGround(clock);
  for (const kind of DOMAIN_KINDS)
    for (const { id, revision, body } of (await documents.find(kind, { limit: 500 })).items) {
      await copy.documents.insert(kind, id, body);
      for (let count = 1; count < revision; count++) await copy.documents.replace(kind, id, count, body);
    }
  return copy;
}

/** The lines of an export, each with its end. */
export async function exportFrom({ documents }: Ground, caller: Caller): Promise<string[]> {
  const lines: string[] = [];
  const records = exportLines({ documents, settleVotes: NO_VOTES }, caller);
  for await (const line of writeExport(records, { version: '0.0.0', leftOut: ['keys'] })) lines.push(line);
  return lines;
}

export async function importInto(
  { documents, clock }: Ground,
  caller: Caller,
  { text, ...more }: { readonly text: string; readonly dryRun?: boolean; readonly isPart?: boolean },
): Promise<LineResult[]> {
  const bytes = async function* () {
    yield Buffer.from(text);
  };
  const take = bulk({ documents, clock, idempotency: idempotency({ documents, clock }) });
  const rows: LineResult[] = [];
  for await (const row of take(caller, { lines: readLines(bytes()), dryRun: false, ...more })) rows.push(row);
  return rows;
}

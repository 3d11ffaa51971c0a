// A registry with a protocol in it, and short words to use it with.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { SimulatedClock } from '../../lib/clock.ts';
import type { Caller } from '../../lib/domain/caller.ts';
import { DOMAIN_KINDS } from '../../lib/domain/kinds.ts';
import { isRefusal, type Reason } from '../../lib/domain/problems.ts';
import { type Registry, registry } from '../../lib/domain/registry.ts';
import type { Domain } from '../../lib/domain/twin/record.ts';
import type { TwinlineError } from '../../lib/errors.ts';
import type { Json, JsonObject } from '../../lib/json/json.ts';
import { memoryDocuments } from '../../lib/store/memory/index.ts';
import type { DocumentStore } from '../../lib/store/store.ts';
import type { OpenDocuments } from '../../lib/testing/documents/bench.ts';

export const COOKING = 'did:ixo:protocol/clean-cooking';

function controller(name: string): Caller {
  return { principal: `did:x:${name}`, roles: new Set(['controller']), tenant: 't' };
}

export const ALICE = controller('alice');
export const BOB = controller('bob');

export interface Bench {
  readonly documents: DocumentStore;
  readonly clock: SimulatedClock;
  readonly registry: Registry;
  /** Creates a twin of the clean cooking protocol as Alice. */
  make(type: string, body?: JsonObject, by?: Caller): Promise<Domain>;
  /** Applies a merge patch at the present revision as Alice. */
  merge(did: string, patch: Json, by?: Caller): Promise<Domain>;
}

/** A new registry; `documents` is where it is kept, a new and empty store when nothing is said. */
export type OpenBench = (documents?: DocumentStore, clock?: SimulatedClock) => Promise<Bench>;

/** Gives `keep` what opens registries on new stores, one after the other, and cleans up behind it. */
export async function withBenches(open: OpenDocuments, keep: (openBench: OpenBench) => Promise<void>): Promise<void> {
  const folders: string[] = [];
  const stores: DocumentStore[] = [];
  const fresh = async (clock: SimulatedClock) => {
    const folder = mkdtempSync(join(tmpdir(), 'twinline-registry-'));
    folders.push(folder);
    const store = await open({ folder, clock });
    stores.push(store);
    return store;
  };
  try {
    await keep(async (documents, clock = new SimulatedClock()) => openOn(documents ?? (await fresh(clock)), clock));
  } finally {
    for (const store of stores) await store.close();
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  }
}

/** A registry, in memory when nothing is said. */
export function openBench(documents?: DocumentStore): Promise<Bench> {
  const clock = new SimulatedClock();
  return openOn(documents ?? memoryDocuments({ clock }), clock);
}

async function openOn(store: DocumentStore, clock: SimulatedClock): Promise<Bench> {
  await store.declare(DOMAIN_KINDS);
  const twins = registry({ documents: store, clock });
  const protocol = {
    type: 'Protocol',
    name: 'Clean cooking',
    alsoKnownAs: COOKING,
    properties: {
      metricOne: 'string',
      metricTwo: 'number',
      measurements: 'object',
      size: { type: 'integer', minimum: 1 },
    },
    relationships: { verifier: 'OracleEntity', operator: 'OrganisationEntity', peer: 'Project' },
  };
  if (!(await twins.protocols.find('t', COOKING))) await twins.protocols.create(ALICE, protocol);
  return {
    documents: store,
    clock,
    registry: twins,
    make: (type, body = {}, by = ALICE) => twins.create(by, { body: { type, class: COOKING, ...body } }),
    merge: async (did, patch, by = ALICE) => {
      const { revision } = await twins.get(by, did);
      return twins.patch(by, { did, expected: revision, patch: { type: 'merge', patch } });
    },
  };
}

/** Fails unless the work is refused for this reason; `fields` are the pointers that its details name. */
export async function refused(
  reason: Reason,
  work: Promise<unknown>,
  fields?: readonly string[],
): Promise<TwinlineError> {
  const error = await work.then(
    () => assert.unreachable(`expected ${reason}`) as never,
    (thrown: unknown) => thrown,
  );
  if (!isRefusal(error, reason)) throw error;
  if (fields)
    assert.equal(
      error.details.map(({ field }) => field),
      fields,
    );
  return error;
}

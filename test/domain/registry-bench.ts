// A registry with a protocol in it, and short words to use it with.

import * as assert from 'uvu/assert';
import { SimulatedClock } from '../../lib/clock.ts';
import type { Caller, Role } from '../../lib/domain/caller.ts';
import { DOMAIN_KINDS } from '../../lib/domain/kinds.ts';
import { isRefusal, type Reason } from '../../lib/domain/problems.ts';
import type { Domain } from '../../lib/domain/record.ts';
import { type Registry, registry } from '../../lib/domain/registry.ts';
import type { TwinlineError } from '../../lib/errors.ts';
import { memoryDocuments } from '../../lib/store/memory.ts';
import type { DocumentStore, Json, JsonObject } from '../../lib/store/store.ts';

export const COOKING = 'did:ixo:protocol/clean-cooking';

export function caller(name: string, { tenant = 't', roles = ['controller'] as readonly Role[] } = {}): Caller {
  return { principal: `did:x:${name}`, roles: new Set(roles), tenant };
}

export const ALICE = caller('alice');
export const BOB = caller('bob');
export const OPERATOR = caller('op', { roles: ['operator'] });
/** The same name in another tenant. */
export const STRANGER = caller('alice', { tenant: 'other' });

export interface Bench {
  readonly documents: DocumentStore;
  readonly clock: SimulatedClock;
  readonly registry: Registry;
  /** Creates a twin of the clean cooking protocol as Alice. */
  make(type: string, body?: JsonObject, by?: Caller): Promise<Domain>;
  /** Applies a merge patch at the present revision as Alice. */
  merge(did: string, patch: Json, by?: Caller): Promise<Domain>;
}

/** A new registry; `documents` is where it is kept, memory when nothing is said. */
export async function openBench(documents?: DocumentStore, clock = new SimulatedClock()): Promise<Bench> {
  const store = documents ?? memoryDocuments({ clock });
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

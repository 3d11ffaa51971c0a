// What tests of votes share: a place with domains on any store, callers by name, and short words for what they do.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { SimulatedClock } from '../../lib/clock.ts';
import type { Caller, Role } from '../../lib/domain/caller.ts';
import { mintDid } from '../../lib/domain/did/did.ts';
import { readRevisions } from '../../lib/domain/feed/journal.ts';
import { DOMAIN, DOMAIN_KINDS, PROPOSAL } from '../../lib/domain/kinds.ts';
import { isRefusal, type Reason } from '../../lib/domain/problems.ts';
import { type Registry, registry } from '../../lib/domain/registry.ts';
import type { StoredDomain } from '../../lib/domain/twin/record.ts';
import { type VerificationOptions, type VerificationService, verification } from '../../lib/domain/verification.ts';
import { DEFAULT_GOVERNANCE, type Governance } from '../../lib/domain/voting/governance.ts';
import type { DocumentStore } from '../../lib/store/store.ts';
import type { OpenDocuments } from '../../lib/testing/documents/bench.ts';

export const did = (name: string) => `did:ixo:${name}`;

export function caller(name: string, ...roles: Role[]): Caller {
  return { principal: did(name), roles: new Set(roles), tenant: 'default' };
}

export const owner = caller('owner', 'controller');
export const rep = caller('rep', 'representative');
export const operator = caller('operator', 'operator');
export const voter = (name: string) => caller(name, 'voter');

/** Power by voter's name. */
export type Powers = { readonly [name: string]: number | string };

export function governance(powers: Powers, rules: Partial<Governance> = {}): Governance {
  const voters = Object.entries(powers).map(([name, power]) => ({ did: did(name), power: String(power) }));
  return { ...DEFAULT_GOVERNANCE, votingPeriodSeconds: 100, ...rules, voters };
}

export interface Polls {
  readonly documents: DocumentStore;
  readonly clock: SimulatedClock;
  readonly twins: Registry;
  readonly service: VerificationService;
  /** A service as a new process would build it, on the same data. */
  again(options?: Partial<VerificationOptions>): VerificationService;
  /** A new domain that `owner` controls, put there without a registry: that is much faster. */
  domain(): Promise<string>;
  /** The same by the registry, with a protocol that declares the number `burns`. */
  twin(): Promise<string>;
  stored(did: string): Promise<StoredDomain>;
  /** The types of all events of a document, the oldest first. */
  events(kind: 'domain' | 'proposal', id: string): Promise<string[]>;
}

/** The polls of one place. */
export async function polls(
  documents: DocumentStore,
  clock: SimulatedClock,
  { rules, ...options }: { rules: Governance } & Partial<VerificationOptions>,
): Promise<Polls> {
  await documents.declare(DOMAIN_KINDS);
  const again = (more: Partial<VerificationOptions> = {}) =>
    verification({ documents, clock, governance: rules, ...options, ...more });
  const service = again();
  const settleVotes = service.settle;
  const twins = registry({
    documents,
    clock,
    settleVotes,
    onMaterialChange: (domain) => service.subjectChanged(domain),
  });
  return {
    documents,
    clock,
    twins,
    service,
    again,
    domain: async () => {
      const id = mintDid();
      await documents.insert(DOMAIN, id, device(id, clock.now()));
      return id;
    },
    twin: async () => {
      const alias = 'did:ixo:protocol/stove';
      const body = { type: 'Protocol', alsoKnownAs: alias, properties: { burns: 'number' } };
      await twins.protocols.create(owner, body);
      return (await twins.create(owner, { body: { type: 'Device', class: alias, properties: { burns: 1 } } })).id;
    },
    stored: async (id) => (await documents.get<StoredDomain>(DOMAIN, id))!.body,
    events: async (name, id) => {
      const kind = { domain: DOMAIN, proposal: PROPOSAL }[name];
      const revisions = await readRevisions(documents, { kind, id, limit: 1_000 });
      return revisions.reverse().flatMap(({ body }) => body.journal.events.map(({ type }) => type));
    },
  };
}

/** Opens a store in a new folder and cleans up behind `keep`. */
export async function withPolls(
  open: OpenDocuments,
  rules: Governance,
  keep: (polls: Polls) => Promise<void>,
): Promise<void> {
  const where = { folder: mkdtempSync(join(tmpdir(), 'twinline-votes-')), clock: new SimulatedClock() };
  const documents = await open(where);
  try {
    await keep(await polls(documents, where.clock, { rules }));
  } finally {
    await documents.close();
    rmSync(where.folder, { recursive: true, force: true });
  }
}

/** The refusal for this reason; fails when there is none or another. */
export async function refuses(reason: Reason, work: () => Promise<unknown>): Promise<void> {
  const outcome = await work().then(
    () => 'no refusal',
    (error: unknown) => (isRefusal(error) ? error.reason : error),
  );
  assert.is(outcome, reason);
}

function device(id: string, at: number): StoredDomain {
  return {
    tenant: 'default',
    did: id,
    type: 'Device',
    controllers: [owner.principal],
    classReference: 'did:ixo:protocol/stove',
    class: 'did:ixo:stove',
    classVersion: 1,
    status: 'Created',
    verification: {},
    metadata: {},
    properties: { burns: 1 },
    found: [],
    relationships: {},
    services: [],
    verifiableCredential: [],
    linkedResource: [],
    linkedClaim: [],
    linkedEntity: [],
    accordedRight: [],
    parent: null,
    subDomains: [],
    alsoKnownAs: [],
    externalId: null,
    validFrom: null,
    validUntil: null,
    created: at,
    updated: at,
    edges: [],
    targets: [],
    provisionalSince: null,
    journal: { at, by: owner.principal, action: 'create', events: [{ type: 'domain.created', data: {} }] },
  };
}

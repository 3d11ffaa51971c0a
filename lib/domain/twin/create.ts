// New twins. An organisation comes with its first membership group; it is never visible without one.

import { createHash } from 'node:crypto';
import { type Caller, requireRole } from '../caller.ts';
import { mintDid } from '../did/did.ts';
import { requireDomain } from '../find.ts';
import { insertOnce } from '../guarded-write.ts';
import { DOMAIN } from '../kinds.ts';
import { invalid } from '../problems.ts';
import { listOf, requireController } from '../protocol/protocol.ts';
import { NEW_TWIN } from '../schema/bodies.ts';
import { checked } from '../schema/check.ts';
import { refuseForeignDids } from './alias-rules.ts';
import { isOfKind } from './class.ts';
import { addPart, reveal } from './parts.ts';
import type { Domain, StoredDomain, SubDomain } from './record.ts';
import { classReference, settle, type TwinDeps, type TwinFrame, type TwinParts } from './rules.ts';

interface NewTwin extends TwinParts {
  readonly type: string;
  readonly controller?: string | readonly string[];
  readonly externalId?: string;
  readonly parent?: string;
}

export interface CreateOptions {
  /** Which field a body without a protocol is told to have. @default 'class' */
  readonly wanted?: 'class' | 'protocol';
  /** A DID that was reserved for this request; creating it again gives what is there. @default a new one */
  readonly did?: string;
}

/** Creates a twin; throws `invalid`, `already-exists`, `role-missing` or `not-controller`. */
export async function createTwin(
  deps: TwinDeps,
  caller: Caller,
  given: { body: unknown } & CreateOptions,
): Promise<Domain> {
  requireRole(caller, 'create twins');
  const body = checked<NewTwin>(NEW_TWIN, given.body, 'The twin');
  if (isOfKind(body.type, 'Protocol'))
    throw invalid('A protocol is no twin.', [{ field: '/type', error: 'is Protocol; create it as a protocol' }]);
  const reference = classReference(body, given.wanted ?? 'class');
  const did = given.did ?? mintDid();
  const parent = body.parent === undefined ? undefined : await requireDomain(deps.documents, caller, body.parent);
  if (parent) requireController(caller, parent.body.controllers);

  const controllers = controllersOf(caller, body.controller);
  const group = isOrganisation(body.type) ? [{ did: groupDid(did), type: MEMBERSHIP_GROUP }] : [];
  const frame: TwinFrame = { tenant: caller.tenant, type: body.type, controllers, subDomains: group };
  const settled = await settle(deps, reference, { frame, parts: body });
  await refuseForeignDids(deps.documents, { did, names: settled.alsoKnownAs });
  const now = deps.clock.now();
  const twin: StoredDomain = {
    ...settled,
    ...frame,
    did,
    status: 'Created',
    verification: {},
    parent: parent?.body.did ?? null,
    externalId: body.externalId ?? null,
    created: now,
    updated: now,
    provisionalSince: parent ? now : null,
    journal: {
      at: now,
      by: caller.principal,
      action: 'create',
      events: parent ? [] : [{ type: 'domain.created', data: { type: body.type } }],
    },
  };
  for (const part of group) await insert(deps, firstGroup(twin, part));
  const inserted = await insert(deps, twin);
  if (parent) await addPart(deps, parent, { did, type: body.type });
  for (const part of group) await reveal(deps, part.did);
  return parent ? reveal(deps, did) : inserted;
}

const MEMBERSHIP_GROUP = 'MembershipGroup';

/** Whether twins of this type always have a membership group. */
export function isOrganisation(type: string): boolean {
  return ['Organisation', 'Organization', 'DAO'].some((kind) => isOfKind(type, kind));
}

export function isMembershipGroup({ type }: Pick<SubDomain, 'type'>): boolean {
  return isOfKind(type, MEMBERSHIP_GROUP);
}

// The same for the same organisation, so that a request that comes twice makes one group.
function groupDid(organisation: string): string {
  const hash = createHash('sha256').update(`${organisation}#members`).digest('hex');
  return `did:ixo:entity:${hash.slice(0, 32)}`;
}

function firstGroup(organisation: StoredDomain, { did, type }: SubDomain): StoredDomain {
  const { created: at, journal, class: protocol } = organisation;
  return {
    ...organisation,
    did,
    type,
    metadata: { name: 'Members' },
    properties: {},
    relationships: {},
    services: [],
    verifiableCredential: [],
    linkedResource: [],
    linkedClaim: [],
    linkedEntity: [],
    accordedRight: [],
    alsoKnownAs: [],
    externalId: null,
    validFrom: null,
    validUntil: null,
    parent: organisation.did,
    subDomains: [],
    edges: [`instanceOf ${protocol}`],
    targets: [protocol],
    provisionalSince: at,
    journal: { at, by: journal.by, action: 'create', events: [] },
  };
}

function controllersOf(caller: Caller, given: NewTwin['controller']): readonly string[] {
  if (given === undefined) return [caller.principal];
  const controllers = listOf(given);
  if (caller.roles.has('operator') || controllers.includes(caller.principal)) return controllers;
  throw invalid('Nobody makes twins that others control alone.', [
    { field: '/controller', error: `must be or include ${caller.principal}; transfer the twin afterwards` },
  ]);
}

export const NAME_TAKEN = 'An alsoKnownAs or the externalId belongs to another domain. Use other names.';

function insert({ documents }: TwinDeps, twin: StoredDomain): Promise<Domain> {
  return insertOnce(documents, { kind: DOMAIN, body: twin, taken: NAME_TAKEN });
}

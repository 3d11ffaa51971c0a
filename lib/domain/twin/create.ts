// Creating twins and their parts. The parent's document alone decides which parts it has. An organisation is created with its
// first membership group and is never visible without one.

import { createHash } from 'node:crypto';
import { COMMON_LIMITS } from '../../common-limits.ts';
import { type Caller, requireRole } from '../caller.ts';
import { mintDid } from '../did/did.ts';
import { insertOnce, replaceJournaled, stamp } from '../feed/journal.ts';
import { refuseForeignDids, requireDomain, requireFound } from '../find.ts';
import { DOMAIN } from '../kinds.ts';
import { DOMAIN_LIMITS } from '../limits.ts';
import { invalid, refuse } from '../problems.ts';
import { NEW_TWIN } from '../schema/bodies.ts';
import { checkShape } from '../schema/check.ts';
import { edgeIn, indexEdges, PART_EDGE } from './graph.ts';
import { requireController, toTexts } from './protocol.ts';
import { type Domain, isOfKind, pickLists, type StoredDomain, type SubDomain, TWIN_LISTS } from './record.ts';
import { classReference, settle, type TwinDeps, type TwinFrame, type TwinParts } from './rules.ts';
import { indexTerms } from './terms.ts';

interface NewTwin extends TwinParts {
  readonly type: string;
  readonly controller?: string | readonly string[];
  readonly externalId?: string;
  readonly parent?: string;
}

export interface CreateOptions {
  /** The field to name when a body lacks a protocol. @default 'class' */
  readonly wanted?: 'class' | 'protocol';
  /** A DID reserved for this request; creating it again returns the existing twin. @default a new one */
  readonly did?: string;
}

/** Creates a twin; throws `invalid`, `already-exists`, `role-missing` or `not-controller`. */
export async function createTwin(
  deps: TwinDeps,
  caller: Caller,
  request: { body: unknown } & CreateOptions,
): Promise<Domain> {
  requireRole(caller, 'create twins');
  const body = await checkShape<NewTwin>(NEW_TWIN, request.body, 'The twin');
  if (isOfKind(body.type, 'Protocol'))
    throw invalid('A protocol is no twin.', [{ field: '/type', error: 'is Protocol; create it as a protocol' }]);
  const reference = classReference(body, request.wanted ?? 'class');
  const did = request.did ?? mintDid();
  const parent = body.parent === undefined ? undefined : await requireDomain(deps.documents, caller, body.parent);
  if (parent) requireController(caller, parent.body.controllers);

  const controllers = listControllers(caller, body.controller);
  const group = isOrganisation(body.type) ? [{ did: groupDid(did), type: MEMBERSHIP_GROUP }] : [];
  const frame: TwinFrame = { tenant: caller.tenant, type: body.type, controllers, subDomains: group };
  const settled = await settle(deps, reference, { frame, parts: body });
  await refuseForeignDids(deps.documents, { did, names: settled.alsoKnownAs });
  const now = deps.clock.now();
  const externalId = body.externalId ?? null;
  const twin: StoredDomain = {
    ...settled,
    ...frame,
    did,
    status: 'Created',
    verification: {},
    parent: parent?.body.did ?? null,
    externalId,
    ...indexTerms({ ...settled, externalId }),
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

// Derived from the organisation's DID, so that a repeated request creates one group.
function groupDid(organisation: string): string {
  const hash = createHash('sha256').update(`${organisation}#members`).digest('hex');
  return `did:ixo:entity:${hash.slice(0, 32)}`;
}

const NEW_GROUP = { metadata: { name: 'Members' }, properties: {}, externalId: null };

function firstGroup(organisation: StoredDomain, { did, type }: SubDomain): StoredDomain {
  const { created: at, journal, class: protocol } = organisation;
  return {
    ...organisation,
    did,
    type,
    ...NEW_GROUP,
    ...indexTerms(NEW_GROUP),
    relationships: {},
    ...pickLists(TWIN_LISTS, {}),
    alsoKnownAs: [],
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

function listControllers(caller: Caller, controller: NewTwin['controller']): readonly string[] {
  if (controller === undefined) return [caller.principal];
  const controllers = toTexts(controller);
  if (caller.roles.has('operator') || controllers.includes(caller.principal)) return controllers;
  throw invalid('Nobody makes twins that others control alone.', [
    { field: '/controller', error: `must be or include ${caller.principal}; transfer the twin afterwards` },
  ]);
}

export const NAME_TAKEN = 'An alsoKnownAs or the externalId belongs to another domain. Use other names.';

function insert({ documents }: TwinDeps, twin: StoredDomain): Promise<Domain> {
  return insertOnce(documents, { kind: DOMAIN, body: twin, taken: NAME_TAKEN });
}

type BodyChange = (body: StoredDomain) => StoredDomain | undefined;

/** Replaces the twin by the result of `change`, retrying on conflict; undefined leaves it unchanged. */
export async function rewrite({ documents }: TwinDeps, first: Domain, change: BodyChange): Promise<Domain> {
  // Unlike the store's `update`, the first try uses the revision that the caller has read, and conflicts become refusals.
  for (let old = first, tries = 0; ; tries++) {
    const body = change(old.body);
    if (!body) return old;
    const result = await replaceJournaled(documents, { kind: DOMAIN, old, body });
    if (result.kind === 'replaced') return { id: old.id, revision: result.revision, body };
    if (tries >= COMMON_LIMITS.conflictsPerTurn)
      throw refuse('in-progress', `${old.id} is being changed by many at once. Try again in a moment.`);
    old = requireFound(await documents.get<StoredDomain>(DOMAIN, old.id), old.id);
  }
}

/** Adds the part to the parent's list; idempotent. */
function addPart(deps: TwinDeps, parent: Domain, part: SubDomain): Promise<Domain> {
  return rewrite(deps, parent, (body) => {
    if (body.subDomains.some(({ did }) => did === part.did)) return undefined;
    if (body.subDomains.length >= DOMAIN_LIMITS.partsPerTwin)
      throw invalid('The parent is full.', [
        { field: '/parent', error: `has ${DOMAIN_LIMITS.partsPerTwin} sub-domains` },
      ]);
    return withParts(body, [...body.subDomains, { ...part }], deps);
  });
}

/** Removes the part from the parent's list; `mayLeave` throws when it must stay. */
export function removePart(
  deps: TwinDeps,
  parent: Domain,
  options: { did: string; mayLeave: (rest: readonly SubDomain[]) => void },
): Promise<Domain> {
  return rewrite(deps, parent, (body) => {
    const rest = body.subDomains.filter(({ did }) => did !== options.did);
    if (rest.length === body.subDomains.length) return undefined;
    options.mayLeave(rest);
    return withParts(body, rest, deps);
  });
}

function withParts(body: StoredDomain, subDomains: StoredDomain['subDomains'], { clock }: TwinDeps): StoredDomain {
  const at = stamp(body, clock);
  const others = body.edges.map(edgeIn).filter(({ relation }) => relation !== PART_EDGE);
  const parts = subDomains.map(({ did }) => ({ relation: PART_EDGE, to: did }));
  const events = [{ type: 'domain.updated', data: { changed: ['subDomains'] } }];
  return {
    ...body,
    subDomains,
    ...indexEdges([...others, ...parts]),
    updated: at,
    journal: { at, by: body.journal.by, action: 'parts', events },
  };
}

/** Clears the provisional mark of a part that its parent lists, and emits `domain.created`. */
export async function reveal(deps: TwinDeps, did: string): Promise<Domain> {
  const part = requireFound(await deps.documents.get<StoredDomain>(DOMAIN, did), did);
  return rewrite(deps, part, (body) => {
    if (body.provisionalSince === null) return undefined;
    const at = stamp(body, deps.clock);
    const events = [{ type: 'domain.created', data: { type: body.type } }];
    return { ...body, provisionalSince: null, journal: { at, by: body.journal.by, action: 'create', events } };
  });
}

// Changes of a twin: patch, transfer, deactivation; and the hash of the fields that a vote is held on.

import { isDeepStrictEqual } from 'node:util';
import { canonicalHash } from '../../json/compare.ts';
import type { Json, JsonObject } from '../../json/json.ts';
import { type Caller, type LazyRequest, requireRole } from '../caller.ts';
import { replaceJournaled, stamp } from '../feed/journal.ts';
import { findDomain, type ReadDeps, refuseForeignDids, requireSettled } from '../find.ts';
import { DOMAIN } from '../kinds.ts';
import { invalid, isRefusal, refuse } from '../problems.ts';
import { CHANGED_TWIN, TRANSFER } from '../schema/bodies.ts';
import { checkShape } from '../schema/check.ts';
import { isMembershipGroup, isOrganisation, NAME_TAKEN, removePart, rewrite } from './create.ts';
import { CONTROLLER_EDGE, controllerEdges, edgeIn, indexEdges } from './graph.ts';
import { applyPatch, type Patch } from './patch.ts';
import { requireController, toTexts } from './protocol.ts';
import { type Domain, domainView, type LinksTo, type StoredDomain, type SubDomain, TWIN_LISTS } from './record.ts';
import { settle, type TwinDeps, type TwinParts } from './rules.ts';
import { indexTerms } from './terms.ts';

/** The revision that the caller has seen; undefined when it does not say. */
export interface Expecting {
  readonly expected?: number | undefined;
}

/** A change of a twin: passed directly, or read after the caller was authorised. */
export type TwinChange<Request> = { readonly did: string } & (Request | LazyRequest<Domain, Request>);
export type PatchRequest = { readonly patch: Patch } & Expecting;
export type TransferRequest = { readonly body: unknown } & Expecting;

export interface ChangeDeps extends TwinDeps, ReadDeps {
  readonly linksTo?: LinksTo | undefined;
  /** Called after a change of a field that an open vote may be about. */
  readonly onMaterialChange: (domain: Domain) => Promise<void>;
}

const CHANGEABLE = [
  ...(['metadata', 'properties', 'relationships', 'alsoKnownAs', 'validFrom', 'validUntil'] as const),
  ...TWIN_LISTS,
] as const;

/** Applies a patch to the record; throws 412, 422 or 428 problems, and then nothing has changed. */
export async function patchTwin(deps: ChangeDeps, caller: Caller, change: TwinChange<PatchRequest>): Promise<Domain> {
  const old = await changeable(deps, caller, change.did);
  const { patch, expected } = await readRequest(change, old);
  if (expected === undefined) throw refuse('precondition-required', 'Say which revision of the record you have seen.');
  requireRevision(old, expected);
  const view = domainView(old, deps.clock.now(), deps.linksTo);
  const after = await applyPatch(view, patch);
  const reference = chooseReference(view, after);
  refuseFixedFields(view, after);
  const parts = pickParts(after);
  await checkShape(CHANGED_TWIN, parts, 'The changed record');
  const { tenant, type, controllers, subDomains } = old.body;
  // Naming the protocol, even the same one, rebinds the twin to its current version.
  const bound = namesProtocol(patch) ? undefined : { did: old.body.class, version: old.body.classVersion };
  const frame = { tenant, type, controllers, subDomains };
  const settled = await settle(deps, reference, { frame, parts, bound });
  const { did, alsoKnownAs: before } = old.body;
  await refuseForeignDids(deps.documents, { did, names: settled.alsoKnownAs, before });
  return write(deps, caller, { old, body: { ...old.body, ...settled }, action: 'patch' });
}

/** Gives the twin to other controllers. */
export async function transferTwin(
  deps: ChangeDeps,
  caller: Caller,
  change: TwinChange<TransferRequest>,
): Promise<Domain> {
  const old = await changeable(deps, caller, change.did);
  const { body: content, expected } = await readRequest(change, old);
  requireRevision(old, expected);
  const { controller } = await checkShape<{ controller: string | string[] }>(TRANSFER, content, 'The transfer');
  const controllers = toTexts(controller);
  const others = old.body.edges.map(edgeIn).filter(({ relation }) => relation !== CONTROLLER_EDGE);
  const body = { ...old.body, controllers, ...indexEdges([...others, ...controllerEdges(controllers)]) };
  return write(deps, caller, { old, body, action: 'transfer' });
}

/**
 * Deactivates the twin permanently. Its DID stays resolvable as deactivated and is never reused. A part is first marked as
 * leaving, so that {@link finishLeaving} can complete the deactivation after a crash.
 */
export async function deactivateTwin(deps: ChangeDeps, caller: Caller, change: TwinChange<Expecting>): Promise<Domain> {
  const old = await changeable(deps, caller, change.did);
  const { expected } = await readRequest(change, old);
  requireRevision(old, expected);
  const parent = await findLivingParent(deps, old);
  if (!parent) return replace(deps, old, deactivate(deps, old.body, caller.principal));
  // Refuse before writing anything where possible.
  requireMembershipGroup(parent, old.body)(parent.body.subDomains.filter(({ did }) => did !== old.id));
  const at = stamp(old.body, deps.clock);
  const journal = { at, by: caller.principal, action: 'deactivate', events: [] };
  const marked: StoredDomain = { ...old.body, leaving: true, provisionalSince: at, journal };
  return finishLeaving(deps, await replace(deps, old, marked, false));
}

/** Removes a leaving twin from its parent and deactivates it; idempotent. Throws `last-membership-group`. */
export async function finishLeaving(deps: ChangeDeps, twin: Domain): Promise<Domain> {
  const parent = await findLivingParent(deps, twin);
  try {
    // The parent's compare-and-set serialises concurrent deactivations, so the last group cannot leave.
    if (parent) await removePart(deps, parent, { did: twin.id, mayLeave: requireMembershipGroup(parent, twin.body) });
  } catch (error) {
    if (isRefusal(error, 'last-membership-group')) await rewrite(deps, twin, keepWithParent);
    throw error;
  }
  const ended = await rewrite(deps, twin, (body) =>
    body.status === 'Deactivated' ? undefined : deactivate(deps, body, twin.body.journal.by),
  );
  await deps.onMaterialChange(ended);
  return ended;
}

function deactivate({ clock }: TwinDeps, { leaving: _, ...body }: StoredDomain, by: string): StoredDomain {
  const at = stamp(body, clock);
  const journal = { at, by, action: 'deactivate', events: [{ type: 'domain.deactivated', data: {} }] };
  return { ...body, status: 'Deactivated', updated: at, provisionalSince: null, journal };
}

function keepWithParent({ leaving: _, ...body }: StoredDomain): StoredDomain | undefined {
  return body.status === 'Deactivated' ? undefined : { ...body, provisionalSince: null };
}

async function changeable(deps: ChangeDeps, caller: Caller, did: string): Promise<Domain> {
  const twin = await requireSettled(deps, caller, did);
  requireRole(caller, 'change twins');
  requireController(caller, twin.body.controllers);
  return twin;
}

async function readRequest<Request extends object>(change: TwinChange<Request>, present: Domain): Promise<Request> {
  return 'read' in change ? change.read(present) : change;
}

function requireRevision({ revision }: Domain, expected: number | undefined): void {
  if (expected === undefined || expected === revision) return;
  throw refuse('revision-changed', `The record is at revision ${revision}, not ${expected}. Read it again.`);
}

async function findLivingParent({ documents }: TwinDeps, { body }: Domain): Promise<Domain | undefined> {
  const parent = body.parent === null ? undefined : await findDomain(documents, body.tenant, body.parent);
  return parent?.body.status === 'Deactivated' ? undefined : parent;
}

/** Makes a check of the remaining parts, which throws `last-membership-group`. */
function requireMembershipGroup(parent: Domain, leaving: StoredDomain): (rest: readonly SubDomain[]) => void {
  return (rest) => {
    if (!isOrganisation(parent.body.type) || !isMembershipGroup(leaving) || rest.some(isMembershipGroup)) return;
    throw refuse(
      'last-membership-group',
      `${leaving.did} is the last membership group of ${parent.id}. Create another one first.`,
    );
  };
}

function namesProtocol({ type, patch }: Patch): boolean {
  const names = ['class', 'protocol'];
  if (type === 'merge') return names.some((name) => Object.hasOwn(patch as JsonObject, name));
  return (patch as readonly { op: string; path: string }[]).some(
    ({ op, path }) => op !== 'test' && names.includes(path.slice(1)),
  );
}

function chooseReference(before: JsonObject, after: JsonObject): string {
  const changed = ['class', 'protocol'].filter((field) => after[field] !== before[field]);
  const [first, second] = changed.map((field) => after[field]);
  if (second !== undefined && first !== second)
    throw invalid('class and protocol name the same protocol.', [
      { field: '/protocol', error: 'is not the same as class' },
    ]);
  const reference = changed.length ? (first ?? null) : before.class;
  if (typeof reference === 'string') return reference;
  throw invalid('A twin has a protocol.', [{ field: `/${changed[0]}`, error: 'must name a protocol' }]);
}

function refuseFixedFields(before: JsonObject, after: JsonObject): void {
  const free = new Set<string>([...CHANGEABLE, 'class', 'protocol']);
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter((name) => !free.has(name));
  const details = names
    .filter((name) => !isSame(before[name], after[name]))
    .map((name) => ({
      field: `/${name}`,
      error: name in before ? (FIXED[name] ?? 'is set by the service') : 'is no field of a record',
    }));
  if (details.length) throw invalid('The patch changes what a patch cannot change.', details);
}

const FIXED: { readonly [field: string]: string } = {
  type: 'never changes',
  controller: 'is changed by a transfer',
  status: 'is changed by proposals and votes',
  subDomains: 'is changed by creating and deactivating sub-domains',
};

// Compares as JSON: ignores undefined members and the order of members.
function isSame(a: Json | undefined, b: Json | undefined): boolean {
  const [text, other] = [JSON.stringify(a), JSON.stringify(b)];
  if (text === other || text === undefined || other === undefined) return text === other;
  return text.length === other.length && isDeepStrictEqual(JSON.parse(text), JSON.parse(other));
}

// Fields removed by a merge patch count as never sent.
function pickParts(after: JsonObject): TwinParts {
  const present = CHANGEABLE.filter((field) => after[field] !== undefined && after[field] !== null);
  return Object.fromEntries(present.map((field) => [field, after[field]])) as TwinParts;
}

interface TwinWrite {
  readonly old: Domain;
  readonly body: StoredDomain;
  readonly action: string;
}

const COMPARED = [...CHANGEABLE, 'class', 'classReference', 'classVersion', 'controllers'] as const;

async function write(deps: ChangeDeps, caller: Caller, { old, body, action }: TwinWrite): Promise<Domain> {
  const differs = (field: keyof StoredDomain) => !isSame(old.body[field], body[field]);
  const changed = COMPARED.filter(differs);
  if (!changed.length) return old;
  const material = changed.some((field) => (MATERIAL as readonly string[]).includes(field));
  // The vote was about the previous values.
  const status = material && old.body.status === 'Verified' ? 'Created' : old.body.status;
  const at = stamp(old.body, deps.clock);
  const data = {
    changed: changed.map((field) => SHOWN[field] ?? field),
    ...(status !== old.body.status && { status }),
  };
  const events = [{ type: 'domain.updated', data }];
  const next = { ...body, status, updated: at, journal: { at, by: caller.principal, action, events } };
  return replace(deps, old, next, material);
}

const SHOWN: { readonly [field: string]: string } = { controllers: 'controller', classReference: 'class' };

async function replace(deps: ChangeDeps, old: Domain, body: StoredDomain, material = true): Promise<Domain> {
  const next = { ...body, ...indexTerms(body) };
  const result = await replaceJournaled(deps.documents, { kind: DOMAIN, old, body: next });
  if (result.kind === 'conflict')
    throw refuse('revision-changed', `The record is at revision ${result.revision} by now. Read it again.`);
  if (result.kind === 'exists') throw refuse('already-exists', NAME_TAKEN);
  const domain = { id: old.id, revision: result.revision, body: next };
  if (material) await deps.onMaterialChange(domain);
  return domain;
}

/** The fields that a vote is held on. */
const MATERIAL = ['type', 'class', 'controllers', 'properties', 'relationships'] as const;

/** The hash of a domain's material fields; see MATERIAL. */
export function materialHash(body: Pick<StoredDomain, (typeof MATERIAL)[number]>): string {
  return canonicalHash(Object.fromEntries(MATERIAL.map((field) => [field, body[field]])) as JsonObject);
}

/** The hash of a domain together with a proposal's package. */
export function packageHash(material: string, content: Json | undefined): string {
  return canonicalHash({ material, package: content ?? null });
}

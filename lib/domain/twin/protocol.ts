// Protocols: the templates of twins. Stored by DID, found by alias; every version stays what it was.

import { type Clock, timeSlice } from '../../clock.ts';
import type { Detail } from '../../errors.ts';
import type { JsonObject } from '../../json/json.ts';
import { escapeStep } from '../../json/reader.ts';
import type { DocumentStore, StoredDocument } from '../../store/store.ts';
import { type Caller, type LazyRequest, requireRole } from '../caller.ts';
import { isDid, mintDid } from '../did/did.ts';
import { insertOnce, type Journaled, readRevision, replaceJournaled, revisionAt, stamp } from '../feed/journal.ts';
import { findPage, mayBeId, refuseForeignDids } from '../find.ts';
import { PROTOCOL } from '../kinds.ts';
import { DOMAIN_LIMITS } from '../limits.ts';
import { invalid, refuse, requireFits } from '../problems.ts';
import { CHANGED_PROTOCOL, NEW_PROTOCOL } from '../schema/bodies.ts';
import { checkShape } from '../schema/check.ts';
import type { PropertyCheck } from './property.ts';
import { INHERITED, type InheritedLists, isoTime, oneOrMany, pickLists } from './record.ts';

/** What a protocol's author writes. */
export interface ProtocolBody extends Partial<InheritedLists> {
  readonly name?: string;
  readonly alsoKnownAs?: string | readonly string[];
  readonly parent?: string | null;
  readonly controller?: string | readonly string[];
  readonly metadata?: JsonObject;
  readonly properties?: JsonObject;
  readonly relationships?: { readonly [role: string]: string };
}

/** A protocol as it is stored; its version is its document's revision. */
export type StoredProtocol = Journaled &
  InheritedLists & {
    readonly did: string;
    readonly name: string | null;
    readonly alsoKnownAs: readonly string[];
    /** Bound to the version that the parent had when this version was written. */
    readonly parent: string | null;
    readonly parentVersion: number | null;
    readonly controllers: readonly string[];
    readonly metadata: JsonObject;
    readonly properties: JsonObject;
    readonly relationships: { readonly [role: string]: string };
    /** Milliseconds since 1970. */
    readonly created: number;
    readonly updated: number;
  };

/** A new version; `expected` is the version that the caller has seen. */
export interface ProtocolChange {
  readonly expected: number;
  readonly body: unknown;
}

/** A protocol in one of its versions. */
export interface Protocol {
  readonly version: number;
  readonly body: StoredProtocol;
}

/** The protocols of all tenants. */
export interface Protocols {
  create(caller: Caller, body: unknown, did?: string): Promise<Protocol>;
  /** Writes a new version. With `read`, the change is read once the caller's rights are known. */
  change(
    caller: Caller,
    did: string,
    change: ProtocolChange | LazyRequest<Protocol, ProtocolChange>,
  ): Promise<Protocol>;
  /** By DID or alias; throws `not-found`. */
  get(caller: Caller, reference: string): Promise<Protocol>;
  list(caller: Caller, page: { limit: number; cursor?: string }): Promise<{ items: Protocol[]; next?: string }>;
  /** By DID or alias within a tenant, in its present version. */
  find(tenant: string, reference: string): Promise<Protocol | undefined>;
  at(did: string, version: number): Promise<Protocol | undefined>;
  /** As it was at a moment, milliseconds since 1970; undefined when it did not exist yet. */
  readAtTime(did: string, moment: number): Promise<Protocol | undefined>;
}

export function protocols({ documents, clock }: { documents: DocumentStore; clock: Clock }): Protocols {
  async function find(tenant: string, reference: string): Promise<Protocol | undefined> {
    const own =
      isDid(reference) && mayBeId(reference) ? await documents.get<StoredProtocol>(PROTOCOL, reference) : undefined;
    if (own?.body.tenant === tenant) return makeProtocol(own);
    const where = { tenant, 'alsoKnownAs[]': reference };
    const { items } = await documents.find<StoredProtocol>(PROTOCOL, { index: 'alias', where, limit: 1 });
    return items[0] && makeProtocol(items[0]);
  }

  async function get({ tenant }: Caller, reference: string): Promise<Protocol> {
    const protocol = await find(tenant, reference);
    if (protocol) return protocol;
    throw refuse('not-found', `There is no protocol ${JSON.stringify(reference)}. Create it first.`);
  }

  return {
    find,
    get,
    async at(did, version) {
      const earlier = await readRevision<StoredProtocol>(documents, { kind: PROTOCOL, id: did, revision: version });
      return earlier && { version: earlier.revision, body: earlier.body };
    },
    async readAtTime(did, at) {
      const earlier = await revisionAt<StoredProtocol>(documents, { kind: PROTOCOL, id: did, at });
      return earlier && { version: earlier.revision, body: earlier.body };
    },
    async create(caller, content, did = mintDid()) {
      requireRole(caller, 'create twins');
      const body = await checkShape<ProtocolBody>(NEW_PROTOCOL, content, 'The protocol');
      await checkProperties(body.properties ?? {});
      const now = clock.now();
      const protocol: StoredProtocol = {
        ...pickParts(body, caller),
        ...(await findParent(find, { tenant: caller.tenant, parent: body.parent, self: did })),
        tenant: caller.tenant,
        did,
        created: now,
        updated: now,
        journal: { at: now, by: caller.principal, action: 'create', events: [{ type: 'protocol.created', data: {} }] },
      };
      requireFits(protocol, 'The protocol');
      await refuseForeignDids(documents, { did, names: protocol.alsoKnownAs });
      return makeProtocol(await insertOnce(documents, { kind: PROTOCOL, body: protocol, taken: ALIAS_TAKEN }));
    },
    async change(caller, did, change) {
      const present = await get(caller, did);
      const { body: before } = present;
      requireRole(caller, 'change twins');
      requireController(caller, before.controllers);
      const { expected, body: content } = 'read' in change ? await change.read(present) : change;
      const body = await checkShape<ProtocolBody>(CHANGED_PROTOCOL, content, 'The new version');
      await checkProperties(body.properties ?? {});
      const at = stamp(before, clock);
      const next: StoredProtocol = {
        ...before,
        ...pickParts(body, caller),
        ...(await findParent(find, { tenant: caller.tenant, parent: body.parent, self: before.did })),
        updated: at,
        journal: { at, by: caller.principal, action: 'change', events: [{ type: 'protocol.updated', data: {} }] },
      };
      requireFits(next, 'The protocol');
      await refuseForeignDids(documents, { did: before.did, names: next.alsoKnownAs, before: before.alsoKnownAs });
      return replaceVersion(documents, present, { expected, next });
    },
    async list({ tenant }, page) {
      const query = { index: 'created', where: { tenant }, ...page };
      const { items, next } = await findPage<StoredProtocol>(documents, PROTOCOL, query);
      return { items: items.map(makeProtocol), ...(next !== undefined && { next }) };
    },
  };
}

interface ParentReference {
  readonly tenant: string;
  readonly parent: string | null | undefined;
  /** The protocol that gets the parent. */
  readonly self: string;
}

// The parent must exist, and following it must not lead back here: a version points at versions that were there first.
async function findParent(find: Protocols['find'], { tenant, parent: reference, self }: ParentReference) {
  if (reference == null) return { parent: null, parentVersion: null };
  const parent = await find(tenant, reference);
  if (!parent) throw invalid(`The parent ${JSON.stringify(reference)} is unknown.`, [unknownParent]);
  let depth = 1;
  for (let at: Protocol | undefined = parent; at; depth++) {
    if (at.body.did === self) throw invalid('A protocol cannot be its own ancestor.', [ownAncestor]);
    if (depth >= DOMAIN_LIMITS.protocolDepth) throw invalid('The protocol would have too many ancestors.', [tooDeep]);
    at = at.body.parent === null ? undefined : await find(tenant, at.body.parent);
  }
  return { parent: parent.body.did, parentVersion: parent.version };
}

async function replaceVersion(
  documents: DocumentStore,
  { body, version }: Protocol,
  { expected, next }: { readonly expected: number; readonly next: StoredProtocol },
): Promise<Protocol> {
  const old = { id: body.did, revision: expected, body };
  const result =
    version === expected
      ? await replaceJournaled(documents, { kind: PROTOCOL, old, body: next })
      : { kind: 'conflict' as const, revision: version };
  if (result.kind === 'replaced') return { version: result.revision, body: next };
  if (result.kind === 'exists') throw refuse('already-exists', ALIAS_TAKEN);
  throw refuse('revision-changed', `The protocol is at version ${result.revision}, not ${expected}. Read it again.`);
}

const unknownParent: Detail = { field: '/parent', error: 'must name a protocol of this registry' };
const ownAncestor: Detail = { field: '/parent', error: 'leads back to this protocol' };
const tooDeep: Detail = { field: '/parent', error: `has ${DOMAIN_LIMITS.protocolDepth - 1} ancestors or more` };
const ALIAS_TAKEN = 'One of the names in alsoKnownAs belongs to another protocol. Use other names.';

function makeProtocol({ revision, body }: StoredDocument<StoredProtocol>): Protocol {
  return { version: revision, body };
}

/**
 * What clients read of a protocol.
 * @example
 * const documents = memoryDocuments();
 * await documents.declare(DOMAIN_KINDS);
 * const caller = { principal: 'did:ex:ann', roles: new Set(['controller'] as const), tenant: 'default' };
 * const { protocols } = registry({ documents, clock: systemClock });
 * const stove = await protocols.create(caller, { type: 'Protocol', alsoKnownAs: ['did:ixo:protocol/stove'] });
 * protocolView(stove).alsoKnownAs; // → ['did:ixo:protocol/stove']
 */
export function protocolView({ version, body }: Protocol): JsonObject {
  const { tenant: _tenant, journal: _journal, controllers, created, updated, ...shown } = body;
  return {
    type: 'Protocol',
    ...shown,
    controller: oneOrMany(controllers),
    version,
    revision: version,
    created: isoTime(created),
    updated: isoTime(updated),
  };
}

function pickParts(body: ProtocolBody, caller: Caller) {
  return {
    name: body.name ?? null,
    alsoKnownAs: toTexts(body.alsoKnownAs),
    controllers: body.controller === undefined ? [caller.principal] : toTexts(body.controller),
    metadata: body.metadata ?? {},
    properties: body.properties ?? {},
    relationships: body.relationships ?? {},
    ...pickLists(INHERITED, body),
  };
}

async function checkProperties(properties: JsonObject): Promise<void> {
  const { compileProperty } = await import('./property.ts');
  const details: Detail[] = [];
  const pause = timeSlice();
  let branches = 0;
  for (const [name, declared] of Object.entries(properties)) {
    const field = `/properties/${escapeStep(name)}`;
    const compiled = tryTo(() => compileProperty(declared));
    if ('why' in compiled) details.push({ field, error: compiled.why });
    else branches += compiled.branches;
    if (branches > DOMAIN_LIMITS.protocolBranches) {
      details.push({
        field,
        error: `is more than the ${DOMAIN_LIMITS.protocolBranches} schemas of one protocol, with those before`,
      });
      break;
    }
    // Compiling takes a while; others go on meanwhile.
    await pause();
  }
  if (details.length) throw invalid('The protocol declares properties that cannot be checked.', details);
}

function tryTo(compile: () => PropertyCheck): { branches: number } | { why: string } {
  try {
    return { branches: compile().branches };
  } catch (error) {
    return { why: error instanceof Error ? error.message : 'is no JSON Schema' };
  }
}

/** One or several, as a list. */
export function toTexts(texts: string | readonly string[] | undefined): readonly string[] {
  return texts === undefined ? [] : typeof texts === 'string' ? [texts] : texts;
}

/** Throws `not-controller` unless the caller is one of the controllers, or an operator. */
export function requireController(caller: Caller, controllers: readonly string[]): void {
  if (caller.roles.has('operator') || controllers.includes(caller.principal)) return;
  throw refuse('not-controller', `${caller.principal} does not control this. Ask ${controllers.join(' or ')}.`);
}

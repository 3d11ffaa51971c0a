// The rules of new and changed twins: properties and roles of the protocol and its ancestors, validity, references.

import { type Clock, timeSlice } from '../../clock.ts';
import { COMMON_LIMITS } from '../../common-limits.ts';
import type { Detail } from '../../errors.ts';
import type { JsonObject } from '../../json/json.ts';
import { escapeStep } from '../../json/reader.ts';
import type { DocumentStore } from '../../store/store.ts';
import { findDomain } from '../find.ts';
import { DOMAIN_LIMITS } from '../limits.ts';
import { invalid, requireFits } from '../problems.ts';
import { indexEdges, listEdges } from './graph.ts';
import { type Protocol, type Protocols, toTexts } from './protocol.ts';
import {
  findChain,
  INHERITED,
  type InheritedLists,
  isOfKind,
  pickLists,
  type SubDomain,
  TWIN_LISTS,
  type TwinLists,
} from './record.ts';

export interface TwinDeps {
  readonly documents: DocumentStore;
  readonly clock: Clock;
  readonly protocols: Protocols;
}

/** The fields that controllers may set. */
export interface TwinParts extends Partial<TwinLists> {
  readonly class?: string;
  readonly protocol?: string;
  readonly metadata?: JsonObject;
  readonly properties?: JsonObject;
  readonly relationships?: JsonObject;
  readonly alsoKnownAs?: string | readonly string[];
  readonly validFrom?: string | null;
  readonly validUntil?: string | null;
}

/** The fields of the twin that its parts are checked against. */
export interface TwinFrame {
  readonly tenant: string;
  readonly type: string;
  readonly controllers: readonly string[];
  readonly subDomains: readonly (SubDomain & JsonObject)[];
}

/** Parts, what they belong to, and the version of the protocol that they keep to; without one, the present version. */
export interface Twin {
  readonly frame: TwinFrame;
  readonly parts: TwinParts;
  readonly bound?: { readonly did: string; readonly version: number } | undefined;
}

/** Checks the parts of a twin against its protocol and the registry; throws `invalid` with everything that is wrong. */
export async function settle(deps: TwinDeps, reference: string, twin: Twin) {
  const { frame, parts, bound } = twin;
  const protocol = bound
    ? await deps.protocols.at(bound.did, bound.version)
    : await deps.protocols.find(frame.tenant, reference);
  if (!protocol) throw invalid(`The protocol ${JSON.stringify(reference)} is unknown.`, [UNKNOWN_CLASS]);
  const lineage = await readLineage(deps.protocols, protocol);
  const roles = await fillRoles(deps, lineage, twin);
  const details = [
    ...(await propertyProblems(lineage, parts.properties ?? {})),
    ...roles.problems,
    ...windowProblems(parts),
    ...TWIN_LISTS.flatMap((list) => findRepeatedIds(list, parts[list] ?? [])),
  ];
  const settled = {
    classReference: reference,
    class: protocol.body.did,
    classVersion: protocol.version,
    metadata: parts.metadata ?? {},
    properties: parts.properties ?? {},
    relationships: parts.relationships ?? {},
    alsoKnownAs: toTexts(parts.alsoKnownAs),
    validFrom: parts.validFrom ?? null,
    validUntil: parts.validUntil ?? null,
    ...pickLists(TWIN_LISTS, parts),
  };
  const edges = listEdges({ ...settled, ...frame }, roles.resolved);
  if (edges.length > COMMON_LIMITS.elementsPerIndex) details.push(tooManyEdges(edges.length));
  if (details.length) throw invalid(`The ${frame.type} breaks ${details.length} of its rules.`, details);
  const whole = { ...settled, ...indexEdges(edges) };
  requireFits(whole, `The ${frame.type}`);
  return whole;
}

function tooManyEdges(count: number): Detail {
  return { field: '/relationships', error: `point at ${count} others; ${COMMON_LIMITS.elementsPerIndex} are allowed` };
}

const UNKNOWN_CLASS: Detail = {
  field: '/class',
  error: 'must name a protocol of this registry by its DID or one of its names; create it first',
};

/** The one reference of `class` and `protocol`, which mean the same; `wanted` is what is missed when there is none. */
export function classReference({ class: name, protocol }: TwinParts, wanted: 'class' | 'protocol'): string {
  if (name !== undefined && protocol !== undefined && name !== protocol)
    throw invalid('class and protocol name the same protocol.', [
      { field: '/protocol', error: `is not the same as class, ${JSON.stringify(name)}; send one of them` },
    ]);
  const reference = name ?? protocol;
  if (reference !== undefined) return reference;
  throw invalid(`A twin is made from a protocol.`, [{ field: `/${wanted}`, error: 'must name a protocol' }]);
}

async function propertyProblems({ properties: declared }: Lineage, properties: JsonObject): Promise<Detail[]> {
  const problems: Detail[] = [];
  const { checkProperty, workBudget } = await import('./property.ts');
  const budget = workBudget();
  const pause = timeSlice();
  const names = namesIn(declared) || 'no properties';
  for (const [name, value] of Object.entries(properties)) {
    const field = `/properties/${escapeStep(name)}`;
    if (!Object.hasOwn(declared, name)) {
      problems.push({ field, error: `is not declared by the protocol, which has ${names}` });
      continue;
    }
    for (const problem of checkProperty(declared[name]!, value, budget))
      problems.push({ field: field + problem.field, error: problem.error });
    // Compiling schemas is slow; yield to the event loop.
    await pause();
  }
  return problems;
}

async function fillRoles({ documents }: TwinDeps, lineage: Lineage, { frame, parts }: Twin) {
  const roles: { readonly [role: string]: string } = { ...findChain(frame.type), ...lineage.relationships };
  const problems: Detail[] = [];
  const resolved = new Map<string, string>();
  const names = namesIn(roles) || 'no roles';
  const relationships = Object.entries((parts.relationships ?? {}) as { [role: string]: string | string[] });
  const count = relationships.reduce((sum, [, filled]) => sum + toTexts(filled).length, 0);
  if (count > COMMON_LIMITS.elementsPerIndex) return { problems: [tooManyEdges(count)], resolved };
  for (const [role, filled] of relationships) {
    const field = `/relationships/${escapeStep(role)}`;
    if (!Object.hasOwn(roles, role)) {
      problems.push({ field, error: `is not a role of the protocol, which has ${names}` });
      continue;
    }
    for (const reference of toTexts(filled)) {
      const target = await findDomain(documents, frame.tenant, reference);
      if (!target) problems.push({ field, error: `names ${reference}, which is no twin of this registry` });
      else if (!isOfKind(target.body.type, roles[role]!))
        problems.push({ field, error: `must be filled by a ${roles[role]}; ${reference} is a ${target.body.type}` });
      else resolved.set(reference, target.body.did);
    }
  }
  return { problems, resolved };
}

const NAMES_SHOWN = 20;

function namesIn(object: object): string {
  const names = Object.keys(object);
  const more = names.length > NAMES_SHOWN ? ` and ${names.length - NAMES_SHOWN} more` : '';
  return names.slice(0, NAMES_SHOWN).join(', ') + more;
}

function windowProblems({ validFrom, validUntil }: TwinParts): Detail[] {
  const unknown = Object.entries({ validFrom, validUntil }).filter(([, at]) => at && Number.isNaN(Date.parse(at)));
  // A leap second, for example, would never be reached.
  if (unknown.length) return unknown.map(([name]) => ({ field: `/${name}`, error: 'is a moment that no clock shows' }));
  if (!validFrom || !validUntil || Date.parse(validUntil) > Date.parse(validFrom)) return [];
  return [{ field: '/validUntil', error: 'must be later than validFrom' }];
}

function findRepeatedIds(list: string, items: readonly JsonObject[]): Detail[] {
  const ids = items.map(({ id }) => id);
  return ids.flatMap((id, at) =>
    id !== undefined && ids.indexOf(id) < at
      ? [{ field: `/${list}/${at}/id`, error: `is used twice: ${String(id)}` }]
      : [],
  );
}

/** A protocol with its ancestors, the nearest first. */
export interface Lineage {
  readonly protocols: readonly Protocol[];
  readonly properties: JsonObject;
  readonly relationships: { readonly [role: string]: string };
}

/** The lineage of a protocol in this version; throws `invalid` for a circle, a missing ancestor, or too long a way. */
export async function readLineage(protocols: Protocols, protocol: Protocol): Promise<Lineage> {
  const chain = [protocol];
  for (let { parent, parentVersion } = protocol.body; parent !== null; ) {
    const ancestorError = (error: string) =>
      invalid(`The ancestors of ${protocol.body.did} cannot be used.`, [{ field: '/parent', error }]);
    if (chain.some(({ body }) => body.did === parent)) throw ancestorError(`${parent} is its own ancestor`);
    if (chain.length >= DOMAIN_LIMITS.protocolDepth)
      throw ancestorError(`there are more than ${DOMAIN_LIMITS.protocolDepth} of them`);
    const next = await protocols.at(parent, parentVersion!);
    if (!next) throw ancestorError(`${parent} is missing in version ${parentVersion}`);
    chain.push(next);
    ({ parent, parentVersion } = next.body);
  }
  const oldestFirst = [...chain].reverse().map(({ body }) => body);
  return {
    protocols: chain,
    properties: Object.assign({}, ...oldestFirst.map(({ properties }) => properties)),
    relationships: Object.assign({}, ...oldestFirst.map(({ relationships }) => relationships)),
  };
}

/** The lists of `own` together with those of the lineage: an item of a nearer one takes the place of its namesake. */
export function composeLists(own: InheritedLists, { protocols }: Lineage): InheritedLists {
  const layers = [...[...protocols].reverse().map(({ body }) => body as InheritedLists), own];
  const lists = INHERITED.map((list) => [list, mergeByName(layers.map((layer) => layer[list]))] as const);
  return Object.fromEntries(lists) as unknown as InheritedLists;
}

function mergeByName(layers: readonly (readonly JsonObject[])[]): JsonObject[] {
  const byName = new Map<string, JsonObject>();
  for (const item of layers.flat()) byName.set(readFragment(String(item.id)), item);
  return [...byName.values()];
}

// The fragment of an id decides; else the whole id.
function readFragment(id: string): string {
  const hash = id.indexOf('#');
  return hash < 0 ? id : id.slice(hash);
}

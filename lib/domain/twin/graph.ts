// Edges of twins as their documents index them, and the graph around a twin: in both directions, breadth first, each twin once.

import type { DocumentStore, JsonObject } from '../../store/store.ts';
import type { Caller } from '../caller.ts';
import { parseDidUrl } from '../did/did.ts';
import { findDomain, isVisible, requireDomain } from '../find.ts';
import { DOMAIN } from '../kinds.ts';
import { DOMAIN_LIMITS } from '../limits.ts';
import { refuse } from '../problems.ts';
import { toTexts } from '../protocol/protocol.ts';
import { canonicalClass, type Domain, type StoredDomain } from './record.ts';

export type Direction = 'out' | 'in' | 'both';

/** From which twin a graph is drawn, and how far. */
export interface GraphQuery {
  readonly did: string;
  /** Steps from the twin, 1 to DOMAIN_LIMITS.graphDepth. @default 1 */
  readonly depth?: number;
  /** Only edges of this relation. */
  readonly relation?: string;
  /** @default 'out' */
  readonly direction?: Direction;
}

/** A Twin System: the twins around one, and the edges between them. */
export interface Graph extends JsonObject {
  readonly root: string;
  readonly nodes: readonly JsonObject[];
  readonly edges: readonly JsonObject[];
  /** Something was left out because the graph is larger than DOMAIN_LIMITS.graphNodes. */
  readonly truncated: boolean;
}

interface DirectedEdge extends Edge {
  readonly from: string;
}

/** Walks the graph; circles end where they began. Throws `not-found` or `bad-request`. */
export async function readGraph(documents: DocumentStore, caller: Caller, query: GraphQuery): Promise<Graph> {
  const { depth = 1, direction = 'out', relation } = query;
  if (!Number.isInteger(depth) || depth < 1 || depth > DOMAIN_LIMITS.graphDepth)
    throw refuse('bad-request', `depth=${depth} is not a whole number from 1 to ${DOMAIN_LIMITS.graphDepth}.`);
  if (!['out', 'in', 'both'].includes(direction))
    throw refuse('bad-request', `direction=${JSON.stringify(direction)} is not one of out, in, both.`);
  const root = await requireDomain(documents, caller, query.did);
  const nodes = new Map<string, Domain | undefined>([[root.id, root]]);
  const arrows = new Map<string, DirectedEdge>();
  let truncated = false;
  let border: Domain[] = [root];
  for (let step = 0; step < depth && border.length; step++) {
    const found = await Promise.all(border.map((node) => edgesAt(documents, node, { direction, relation })));
    const fresh = new Set<string>();
    for (const arrow of found.flat()) {
      const unknown = [arrow.from, arrow.to].filter((did) => !nodes.has(did));
      if (nodes.size + fresh.size + unknown.length > DOMAIN_LIMITS.graphNodes) truncated = true;
      else {
        arrows.set(`${arrow.from} ${edgeKey(arrow)}`, arrow);
        for (const did of unknown) fresh.add(did);
      }
    }
    const loaded = await Promise.all([...fresh].map((did) => findDomain(documents, caller.tenant, did)));
    for (const [at, did] of [...fresh].entries()) nodes.set(did, loaded[at]);
    border = loaded.filter((node) => node !== undefined);
  }
  return {
    root: root.id,
    nodes: [...nodes].map(makeNode),
    edges: [...arrows.values()].map((arrow) => ({ ...arrow })),
    truncated,
  };
}

async function edgesAt(
  documents: DocumentStore,
  node: Domain,
  way: { direction: Direction; relation: string | undefined },
): Promise<DirectedEdge[]> {
  const out = way.direction === 'in' ? [] : outgoing(node);
  const back = way.direction === 'out' ? [] : await incoming(documents, node, way.relation);
  return [...out, ...back].filter(({ relation }) => way.relation === undefined || relation === way.relation);
}

function outgoing({ id, body }: Domain): DirectedEdge[] {
  return body.edges.map((key) => ({ from: id, ...edgeIn(key) }));
}

async function incoming(documents: DocumentStore, node: Domain, relation: string | undefined): Promise<DirectedEdge[]> {
  const { id } = node;
  const { tenant } = node.body;
  const query =
    relation === undefined
      ? { index: 'target', where: { tenant, 'targets[]': id } }
      : { index: 'edge', where: { tenant, 'edges[]': edgeKey({ relation, to: id }) } };
  const { items } = await documents.find<StoredDomain>(DOMAIN, { ...query, limit: DOMAIN_LIMITS.graphNodes });
  const visible = await Promise.all(items.map(async (item) => ((await isVisible(documents, item)) ? item : undefined)));
  return visible.flatMap((item) => (item ? outgoing(item).filter(({ to }) => to === id) : []));
}

// A protocol, an account, or a twin of another registry is named and not known.
function makeNode([did, node]: [string, Domain | undefined]): JsonObject {
  if (!node) return { did };
  const { type, status, metadata } = node.body;
  return { did, type, canonicalClass: canonicalClass(type), status, name: metadata.name ?? null };
}

/** From a twin to another one, or to a protocol. */
export interface Edge {
  readonly relation: string;
  readonly to: string;
}

/** From a twin to its protocol, to its parts, to who controls it. */
export const CLASS_EDGE = 'instanceOf';
export const PART_EDGE = 'contains';
export const CONTROLLER_EDGE = 'controlledBy';

type Pointing = Pick<StoredDomain, 'class' | 'controllers' | 'relationships' | 'linkedEntity' | 'subDomains'>;

/** The edges of a twin, each once. `resolved` gives the DID that a reference stands for, where it is another. */
export function listEdges(twin: Pointing, resolved: ReadonlyMap<string, string> = new Map()): Edge[] {
  const resolveDid = (reference: string) => resolved.get(reference) ?? parseDidUrl(reference)?.did ?? reference;
  const edges: Edge[] = [
    { relation: CLASS_EDGE, to: twin.class },
    ...controllerEdges(twin.controllers),
    ...Object.entries(twin.relationships).flatMap(([relation, filled]) =>
      toTexts(filled as string | string[]).map((to) => ({ relation, to: resolveDid(to) })),
    ),
    ...twin.linkedEntity.map(({ relationship, id }: JsonObject) => ({
      relation: String(relationship),
      to: resolveDid(String(id)),
    })),
    ...twin.subDomains.map(({ did }) => ({ relation: PART_EDGE, to: did })),
  ];
  return [...new Map(edges.map((edge) => [edgeKey(edge), edge])).values()];
}

/** The edges to those who control a twin, each once. */
export function controllerEdges(controllers: readonly string[]): Edge[] {
  const dids = controllers.map((reference) => parseDidUrl(reference)?.did ?? reference);
  return [...new Set(dids)].map((to) => ({ relation: CONTROLLER_EDGE, to }));
}

/** The form in which the index of edges holds one. */
export function edgeKey({ relation, to }: Edge): string {
  return `${relation} ${to}`;
}

/** The edge that the index holds in this form: DIDs have no spaces, relations may. */
export function edgeIn(key: string): Edge {
  const space = key.lastIndexOf(' ');
  return { relation: key.slice(0, space), to: key.slice(space + 1) };
}

/** What a document holds of its edges. */
export function indexEdges(edges: readonly Edge[]): Pick<StoredDomain, 'edges' | 'targets'> {
  return { edges: edges.map(edgeKey), targets: [...new Set(edges.map(({ to }) => to))] };
}

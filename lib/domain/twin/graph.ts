// The edges of twins as documents index them, and the breadth-first walk of the graph around a twin.

import { inTurns } from '../../clock.ts';
import type { JsonObject } from '../../json/json.ts';
import type { DocumentStore } from '../../store/store.ts';
import type { Caller } from '../caller.ts';
import { parseDidUrl } from '../did/did.ts';
import { findDomain, findPage, isVisible, requireDomain } from '../find.ts';
import { DOMAIN } from '../kinds.ts';
import { DOMAIN_LIMITS } from '../limits.ts';
import { refuse } from '../problems.ts';
import { toTexts } from './protocol.ts';
import { canonicalClass, type Domain, type StoredDomain } from './record.ts';

export type Direction = 'out' | 'in' | 'both';

/** The root of a graph, its depth, and which edges to follow. */
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
  /**
   * Something was left out: there are more twins than DOMAIN_LIMITS.graphNodes or edges than DOMAIN_LIMITS.graphEdges, those that
   * point at them are more than DOMAIN_LIMITS.listScan, or all that were read have more than DOMAIN_LIMITS.listScanBytes.
   */
  readonly truncated: boolean;
}

interface DirectedEdge extends Edge {
  readonly from: string;
}

/** What a graph keeps of a twin. */
interface KnownNode {
  readonly id: string;
  /** As the document indexes them. */
  readonly edges: readonly string[];
  readonly view: JsonObject;
}

/** The store and the remaining budget of a walk. */
interface GraphReading {
  readonly documents: DocumentStore;
  readonly tenant: string;
  readonly direction: Direction;
  readonly relation: string | undefined;
  documentsLeft: number;
  bytesLeft: number;
  truncated: boolean;
}

/** Walks the graph, visiting each twin once. Throws `not-found` or `bad-request`. */
export async function readGraph(documents: DocumentStore, caller: Caller, query: GraphQuery): Promise<Graph> {
  const { depth = 1, direction = 'out', relation } = query;
  if (!Number.isInteger(depth) || depth < 1 || depth > DOMAIN_LIMITS.graphDepth)
    throw refuse('bad-request', `depth=${depth} is not a whole number from 1 to ${DOMAIN_LIMITS.graphDepth}.`);
  if (!['out', 'in', 'both'].includes(direction))
    throw refuse('bad-request', `direction=${JSON.stringify(direction)} is not one of out, in, both.`);
  const { tenant } = caller;
  const { listScan: documentsLeft, listScanBytes: bytesLeft } = DOMAIN_LIMITS;
  const reading = { documents, tenant, direction, relation, documentsLeft, bytesLeft, truncated: false };
  const root = makeNode(await requireDomain(documents, caller, query.did));
  const nodes = new Map<string, KnownNode | undefined>([[root.id, root]]);
  const edges = new Map<string, DirectedEdge>();
  let border = [root];
  for (let step = 0; step < depth && border.length; step++) {
    const fresh = new Set<string>();
    await inTurns(border, edgesAt(reading), (directed) => {
      for (const edge of directed) {
        const unknown = [edge.from, edge.to].filter((did) => !nodes.has(did) && !fresh.has(did));
        const key = `${edge.from} ${edgeKey(edge)}`;
        const isFull =
          nodes.size + fresh.size + unknown.length > DOMAIN_LIMITS.graphNodes ||
          (edges.size >= DOMAIN_LIMITS.graphEdges && !edges.has(key));
        if (isFull) reading.truncated = true;
        else {
          edges.set(key, edge);
          for (const did of unknown) fresh.add(did);
        }
      }
    });
    border = [];
    await inTurns([...fresh], readNode(reading), (node, did) => {
      nodes.set(did, node);
      if (node) border.push(node);
    });
  }
  return {
    root: root.id,
    // Protocols, accounts and twins of other registries appear by DID only.
    nodes: [...nodes].map(([did, node]) => node?.view ?? { did }),
    edges: [...edges.values()].map((edge) => ({ ...edge })),
    truncated: reading.truncated,
  };
}

/** Reads twins within the byte budget; undefined when the DID is no twin, or the budget is spent. */
function readNode(reading: GraphReading): (did: string) => Promise<KnownNode | undefined> {
  return async (did) => {
    if (reading.bytesLeft <= 0) {
      reading.truncated = true;
      return undefined;
    }
    const twin = await findDomain(reading.documents, reading.tenant, did);
    if (!twin) return undefined;
    reading.bytesLeft -= JSON.stringify(twin.body).length;
    return makeNode(twin);
  };
}

function edgesAt(reading: GraphReading): (node: KnownNode) => Promise<DirectedEdge[]> {
  const { direction, relation: only } = reading;
  return async (node) => {
    const out = direction === 'in' ? [] : outgoing(node);
    const back = direction === 'out' ? [] : await incoming(reading, node.id);
    return [...out, ...back].filter(({ relation }) => only === undefined || relation === only);
  };
}

function outgoing({ id, edges }: Pick<KnownNode, 'id' | 'edges'>): DirectedEdge[] {
  return edges.map((key) => ({ from: id, ...edgeIn(key) }));
}

async function incoming(reading: GraphReading, id: string): Promise<DirectedEdge[]> {
  const { documents, tenant, relation } = reading;
  const query =
    relation === undefined
      ? { index: 'target', where: { tenant, 'targets[]': id } }
      : { index: 'edge', where: { tenant, 'edges[]': edgeKey({ relation, to: id }) } };
  const edges: DirectedEdge[] = [];
  for (let cursor: string | undefined, count = 0; ; ) {
    const limit = Math.min(DOMAIN_LIMITS.graphNodes - count, reading.documentsLeft);
    if (limit <= 0 || reading.bytesLeft <= 0) {
      reading.truncated = true;
      return edges;
    }
    const page = await findPage<StoredDomain>(documents, DOMAIN, { ...query, limit, cursor });
    count += page.items.length;
    reading.documentsLeft -= page.items.length;
    reading.bytesLeft -= page.size;
    for (const item of page.items)
      if (await isVisible(documents, item))
        edges.push(...outgoing({ id: item.id, edges: item.body.edges }).filter(({ to }) => to === id));
    if (page.next === undefined) return edges;
    cursor = page.next;
  }
}

function makeNode({ id, body }: Domain): KnownNode {
  const { type, status, metadata, edges } = body;
  const view = { did: id, type, canonicalClass: canonicalClass(type), status, name: metadata.name ?? null };
  return { id, edges, view };
}

/** From a twin to another one, or to a protocol. */
export interface Edge {
  readonly relation: string;
  readonly to: string;
}

/** From a twin to its protocol, to its parts, to who controls it. */
const CLASS_EDGE = 'instanceOf';
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
function edgeKey({ relation, to }: Edge): string {
  return `${relation} ${to}`;
}

/** Parses an edge of the index: DIDs contain no spaces, relations may. */
export function edgeIn(key: string): Edge {
  const space = key.lastIndexOf(' ');
  return { relation: key.slice(0, space), to: key.slice(space + 1) };
}

/** What a document holds of its edges. */
export function indexEdges(edges: readonly Edge[]): Pick<StoredDomain, 'edges' | 'targets'> {
  return { edges: edges.map(edgeKey), targets: [...new Set(edges.map(({ to }) => to))] };
}

// What a twin points at: typed edges, kept in its document so that both ends can be asked.

import type { JsonObject } from '../../store/store.ts';
import { parseDidUrl } from '../did/did.ts';
import { listOf } from '../protocol/protocol.ts';
import type { StoredDomain } from './record.ts';

/** An arrow from one twin to another, or to a protocol. */
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
export function edgesOf(twin: Pointing, resolved: ReadonlyMap<string, string> = new Map()): Edge[] {
  const didOf = (reference: string) => resolved.get(reference) ?? parseDidUrl(reference)?.did ?? reference;
  const edges: Edge[] = [
    { relation: CLASS_EDGE, to: twin.class },
    ...controllerEdges(twin.controllers),
    ...Object.entries(twin.relationships).flatMap(([relation, filled]) =>
      listOf(filled as string | string[]).map((to) => ({ relation, to: didOf(to) })),
    ),
    ...twin.linkedEntity.map(({ relationship, id }: JsonObject) => ({
      relation: String(relationship),
      to: didOf(String(id)),
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
export function indexedEdges(edges: readonly Edge[]): Pick<StoredDomain, 'edges' | 'targets'> {
  return { edges: edges.map(edgeKey), targets: [...new Set(edges.map(({ to }) => to))] };
}

// Inheritance: what a protocol or a twin is together with its ancestors. The nearest one wins.

import type { JsonObject } from '../../store/store.ts';
import { DOMAIN_LIMITS } from '../limits.ts';
import { invalid } from '../problems.ts';
import type { Protocol, Protocols } from '../protocol/protocol.ts';

/** What is inherited, as lists of items with ids. Controllers, keys and services never are. */
export const INHERITED = ['linkedResource', 'linkedClaim', 'linkedEntity', 'accordedRight'] as const;
type InheritedList = (typeof INHERITED)[number];
type Lists = { readonly [list in InheritedList]: readonly JsonObject[] };

/** A protocol with its ancestors, the nearest first. */
export interface Lineage {
  readonly protocols: readonly Protocol[];
  readonly properties: JsonObject;
  readonly relationships: { readonly [role: string]: string };
}

/** The lineage of a protocol in this version; throws `invalid` for a circle, a missing ancestor, or too long a way. */
export async function lineageOf(protocols: Protocols, protocol: Protocol): Promise<Lineage> {
  const chain = [protocol];
  for (let { parent, parentVersion } = protocol.body; parent !== null; ) {
    const broken = (error: string) =>
      invalid(`The ancestors of ${protocol.body.did} cannot be used.`, [{ field: '/parent', error }]);
    if (chain.some(({ body }) => body.did === parent)) throw broken(`${parent} is its own ancestor`);
    if (chain.length >= DOMAIN_LIMITS.protocolDepth)
      throw broken(`there are more than ${DOMAIN_LIMITS.protocolDepth} of them`);
    const next = await protocols.at(parent, parentVersion!);
    if (!next) throw broken(`${parent} is missing in version ${parentVersion}`);
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
export function composedLists(own: Lists, { protocols }: Lineage): Lists {
  const layers = [...[...protocols].reverse().map(({ body }) => body as Lists), own];
  const lists = INHERITED.map((list) => [list, merged(layers.map((layer) => layer[list]))] as const);
  return Object.fromEntries(lists) as { [list in InheritedList]: JsonObject[] };
}

function merged(layers: readonly (readonly JsonObject[])[]): JsonObject[] {
  const byName = new Map<string, JsonObject>();
  for (const item of layers.flat()) byName.set(nameOf(String(item.id)), item);
  return [...byName.values()];
}

// The fragment of an id decides; else the whole id.
function nameOf(id: string): string {
  const hash = id.indexOf('#');
  return hash < 0 ? id : id.slice(hash);
}

// A tree of path templates: finds what a request path leads to; literal before one segment before many.

import type { Template } from './template.ts';

/** What a template leads to, and the segments of the path that it matched, still encoded. */
export interface Hit<Leaf> {
  readonly leaf: Leaf;
  readonly segments: readonly string[];
}

export interface PathTree<Leaf> {
  /** The leaf of all templates of this shape, made when there is none. */
  at(template: Template, make: () => Leaf): Leaf;
  /** Every match of a path (as it came, without query), the most literal first; a verb before none. */
  find(path: string): Generator<Hit<Leaf>>;
}

interface Node<Leaf> {
  readonly literals: Map<string, Node<Leaf>>;
  one: Node<Leaf> | undefined;
  /** By verb. */
  readonly here: Map<string, Leaf>;
  readonly rest: Map<string, Leaf>;
}

export function createPathTree<Leaf>(): PathTree<Leaf> {
  const root = emptyNode<Leaf>();
  const verbs = new Set<string>();
  return {
    at: (template, make) => {
      const leaves = leavesFor(root, template);
      const leaf = leaves.get(template.verb) ?? make();
      leaves.set(template.verb, leaf);
      if (template.verb) verbs.add(template.verb);
      return leaf;
    },
    *find(path) {
      if (!path.startsWith('/')) return;
      const segments = path.slice(1).split('/');
      const last = segments.at(-1)!;
      const colon = last.lastIndexOf(':');
      const verb = last.slice(colon + 1);
      // DIDs hold colons too: only what some template has as a verb is one.
      if (colon > 0 && verbs.has(verb)) yield* walk(root, [...segments.slice(0, -1), last.slice(0, colon)], verb);
      yield* walk(root, segments, '');
    },
  };
}

function emptyNode<Leaf>(): Node<Leaf> {
  return { literals: new Map(), one: undefined, here: new Map(), rest: new Map() };
}

function leavesFor<Leaf>(root: Node<Leaf>, { segments }: Template): Map<string, Leaf> {
  let node = root;
  for (const segment of segments) {
    if (segment.kind === 'rest') return node.rest;
    if (segment.kind === 'one') {
      node.one ??= emptyNode();
      node = node.one;
      continue;
    }
    const next = node.literals.get(segment.text) ?? emptyNode<Leaf>();
    node.literals.set(segment.text, next);
    node = next;
  }
  return node.here;
}

// A node stands at one depth, so each is visited once at most.
function* walk<Leaf>(root: Node<Leaf>, segments: readonly string[], verb: string): Generator<Hit<Leaf>> {
  yield* from(root, 0);

  function* from(node: Node<Leaf>, depth: number): Generator<Hit<Leaf>> {
    const segment = segments[depth];
    const leaf = segment === undefined ? node.here.get(verb) : undefined;
    if (leaf !== undefined) yield { leaf, segments };
    const literal = segment === undefined ? undefined : node.literals.get(segment);
    if (literal) yield* from(literal, depth + 1);
    if (segment !== undefined && node.one) yield* from(node.one, depth + 1);
    const rest = node.rest.get(verb);
    if (rest !== undefined) yield { leaf: rest, segments };
  }
}

// A tree of path templates: finds what a request path leads to; literal before one segment before many.

import type { Template } from './template.ts';

/** Takes what a template leads to, and the segments of the path that it matched, still encoded; undefined: go on. */
export type Visit<Leaf, Result> = (leaf: Leaf, segments: readonly string[]) => Result | undefined;

export interface PathTree<Leaf> {
  /** The leaf of all templates of this shape, made when there is none. */
  at(template: Template, make: () => Leaf): Leaf;
  /**
   * Visits the matches of a path (as it came, without query) until one gives a result: the most literal first, a verb
   * before none.
   */
  find<Result>(path: string, visit: Visit<Leaf, Result>): Result | undefined;
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
  // Verbs that hold colons, the longest first.
  const long: string[] = [];
  return {
    at: (template, make) => {
      const leaves = leavesFor(root, template);
      const leaf = leaves.get(template.verb) ?? make();
      leaves.set(template.verb, leaf);
      const { verb } = template;
      if (verb && !verbs.has(verb)) {
        verbs.add(verb);
        if (verb.includes(':')) long.push(verb);
        long.sort((a, b) => b.length - a.length);
      }
      return leaf;
    },
    find: (path, visit) => {
      if (!path.startsWith('/')) return undefined;
      const segments = path.slice(1).split('/');
      const last = segments.at(-1)!;
      // DIDs hold colons too: only what some template has as a verb is one.
      const short = last.slice(last.lastIndexOf(':') + 1);
      const ends = long.filter((verb) => last.endsWith(`:${verb}`));
      for (const verb of verbs.has(short) ? [...ends, short] : ends) {
        const colon = last.length - verb.length - 1;
        if (colon <= 0) continue;
        const before = [...segments.slice(0, -1), last.slice(0, colon)];
        const result = walk(root, { segments: before, verb, visit }, 0);
        if (result !== undefined) return result;
      }
      return walk(root, { segments, verb: '', visit }, 0);
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

interface Search<Leaf, Result> {
  readonly segments: readonly string[];
  readonly verb: string;
  readonly visit: Visit<Leaf, Result>;
}

// A node stands at one depth, so each is visited once at most.
function walk<Leaf, Result>(node: Node<Leaf>, search: Search<Leaf, Result>, depth: number): Result | undefined {
  const { segments, verb, visit } = search;
  const segment = segments[depth];
  let result: Result | undefined;
  if (segment === undefined) {
    const leaf = node.here.get(verb);
    if (leaf !== undefined) result = visit(leaf, segments);
  } else {
    const literal = node.literals.get(segment);
    if (literal) result = walk(literal, search, depth + 1);
    if (result === undefined && node.one) result = walk(node.one, search, depth + 1);
  }
  const rest = result === undefined ? node.rest.get(verb) : undefined;
  return rest === undefined ? result : visit(rest, segments);
}

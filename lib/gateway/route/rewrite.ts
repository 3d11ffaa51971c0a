// Paths of a deployment made into paths of the descriptors: prefixes, then rewrites, both still encoded.

import { named } from '../request/named.ts';
import { createPathTree } from './path-tree.ts';
import { parseTemplate, type Template, type Variable } from './template.ts';

export interface Rewrite {
  /** A template whose variables have any names, such as `/ixo/claim/{id}`. */
  readonly from: string;
  /** The same variables, in any order, between literal segments. */
  readonly to: string;
}

export interface RewriteOptions {
  /** Path of the deployment → path of the descriptors, `{"/impacthub": "/ixo"}`. Empty: all paths are served as they are. */
  readonly prefixes: Readonly<Record<string, string>>;
  readonly rewrites: readonly Rewrite[];
  /** Rewrites that stand back where one of `rewrites` takes the same paths. @default none */
  readonly legacy?: readonly Rewrite[];
}

/** The path in the descriptors for the path of a request, without query; undefined when no prefix serves it. */
export type RewritePath = (path: string) => string | undefined;

/** Compiles prefixes (the longest wins) and rewrites (once, the most literal wins). Throws an Error for the first bad one. */
export function compileRewrites({ prefixes, rewrites, legacy = [] }: RewriteOptions): RewritePath {
  const byLength = Object.entries(prefixes)
    .map(([from, to]) => ({ from: bare(from), to: bare(to) }))
    .sort((a, b) => b.from.length - a.from.length);
  const tree = createPathTree<Compiled>();
  for (const one of rewrites) {
    const compiled = compileRewrite(one);
    if (tree.at(compiled.from, () => compiled) !== compiled)
      throw new Error(`${one.from} is rewritten twice: another one takes the same paths`);
  }
  for (const one of legacy) {
    const compiled = compileRewrite(one);
    tree.at(compiled.from, () => compiled);
  }
  return (path) => {
    const inside = byLength.length ? prefixed(byLength, path) : path;
    if (inside === undefined) return undefined;
    return tree.find(inside, ({ apply }, segments) => apply(segments)) ?? inside;
  };
}

interface Compiled {
  readonly from: Template;
  readonly apply: (segments: readonly string[]) => string;
}

/** Throws an Error that says what is wrong with a rewrite. */
export function compileRewrite({ from: fromText, to: toText }: Rewrite): Compiled {
  const from = named(fromText, () => parseTemplate(fromText));
  const to = named(toText, () => parseTemplate(toText));
  const known = new Map(from.variables.map((variable) => [variable.path, variable]));
  for (const { path } of to.variables)
    if (!known.has(path)) throw new Error(`${toText}: the variable ${path} does not stand in ${fromText}`);
  const pieces = piecesOf(to, known);
  if (pieces.some((piece) => piece === undefined)) throw new Error(`${toText}: a star needs a name, as in {path=**}`);
  const verb = to.verb && `:${to.verb}`;
  const apply = (segments: readonly string[]): string => {
    const parts = (pieces as readonly Piece[]).flatMap((piece) =>
      typeof piece === 'string' ? [piece] : segments.slice(piece.start, piece.end),
    );
    return `/${parts.join('/')}${verb}`;
  };
  return { from, apply };
}

type Piece = string | Variable;

function piecesOf(to: Template, known: ReadonlyMap<string, Variable>): readonly (Piece | undefined)[] {
  const pieces: (Piece | undefined)[] = [];
  for (let at = 0; at < to.segments.length; ) {
    const variable = to.variables.find(({ start }) => start === at);
    const segment = to.segments[at]!;
    pieces.push(variable ? known.get(variable.path) : segment.kind === 'literal' ? segment.text : undefined);
    at = variable ? (variable.end ?? to.segments.length) : at + 1;
  }
  return pieces;
}

function prefixed(prefixes: readonly { from: string; to: string }[], path: string): string | undefined {
  for (const { from, to } of prefixes)
    if (path.startsWith(`${from}/`) || path === from) return `${to}${path.slice(from.length)}` || '/';
  return undefined;
}

function bare(prefix: string): string {
  return prefix === '/' ? '' : prefix;
}

/** Whether a prefix can be used: `/`, or segments of literals without a slash at the end. */
export function isPrefix(text: string): boolean {
  if (text === '/') return true;
  try {
    const { segments, verb } = parseTemplate(text);
    return verb === '' && segments.every(({ kind }) => kind === 'literal');
  } catch {
    return false;
  }
}

// Path templates of google.api.http, such as `/v1/{name=shelves/*}/books/**:verb`: a parser, a tree that matches paths, and
// strict percent-decoding.
//
//   Template = "/" Segments [ ":" Verb ]      Segments = Segment { "/" Segment }
//   Segment  = "*" | "**" | literal | "{" field path [ "=" Segments ] "}"
//   After a variable, everything behind its brace is the verb, which may then contain colons, as in grpc-gateway.

import { TwinlineError } from '../../errors.ts';
import { GATEWAY_LIMITS } from '../limits.ts';

export type Segment =
  | { readonly kind: 'literal'; readonly text: string }
  /** Any single segment. */
  | { readonly kind: 'one' }
  /** Any number of segments, even none; always last. */
  | { readonly kind: 'rest' };

export interface Variable {
  /** `owner.id`, verbatim. */
  readonly path: string;
  /** The matched segments, from `start` up to but not including `end`; undefined: to the last. */
  readonly start: number;
  readonly end: number | undefined;
  /** Whether it may match several segments; then %2F is not decoded. */
  readonly multiple: boolean;
}

export interface Template {
  readonly segments: readonly Segment[];
  readonly variables: readonly Variable[];
  /** '' if there is none. */
  readonly verb: string;
}

const IDENTIFIERS = /^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*$/;
// Characters that need no encoding in a path, except the colon, which starts a verb.
const LITERAL = /^[A-Za-z0-9._~!$&'()+,;=@-]+$/;
const VERB = /^[A-Za-z0-9._~!$&'()+,;=@-]+(:[A-Za-z0-9._~!$&'()+,;=@-]+)*$/;
// A star, a literal, or a variable including its braces.
const PART = /\{[^{}]*\}|[^/{}]+/y;

/** Parses a template; throws an Error that describes the problem. */
export function parseTemplate(text: string): Template {
  if (!text.startsWith('/')) throw new Error('it does not start with /');
  const { path, verb } = splitVerb(text);
  const segments: Segment[] = [];
  const variables: Variable[] = [];
  for (const part of splitParts(path)) {
    const start = segments.length;
    if (!part.startsWith('{')) {
      segments.push(parseSegment(part));
      continue;
    }
    const { name, inner } = parseVariable(part, variables);
    segments.push(...inner);
    const all = inner.at(-1)!.kind === 'rest';
    variables.push({ path: name, start, end: all ? undefined : segments.length, multiple: all || inner.length > 1 });
  }
  checkSegments(segments);
  return { segments, variables, verb };
}

// Literals contain no colons; one inside braces is rejected later.
function splitVerb(text: string): { path: string; verb: string } {
  const brace = text.lastIndexOf('}');
  const slash = text.lastIndexOf('/');
  const colon = text.indexOf(':', Math.max(slash, brace));
  if (colon < 0) return { path: text, verb: '' };
  const verb = text.slice(colon + 1);
  if (!(brace > slash ? VERB : LITERAL).test(verb))
    throw new Error(`the verb ${JSON.stringify(verb)} is empty or has a character that must be encoded`);
  return { path: text.slice(0, colon), verb };
}

function splitParts(path: string): string[] {
  const parts: string[] = [];
  for (let at = 0; at < path.length; ) {
    if (path[at] !== '/') throw new Error(`it needs a / before ${JSON.stringify(path.slice(at))}`);
    PART.lastIndex = at + 1;
    const part = PART.exec(path)?.[0];
    if (part === undefined)
      throw new Error(`a segment is empty, or its braces do not match: ${JSON.stringify(path.slice(at))}`);
    parts.push(part);
    at += 1 + part.length;
  }
  return parts;
}

function parseSegment(part: string): Segment {
  if (part === '*') return { kind: 'one' };
  if (part === '**') return { kind: 'rest' };
  if (!LITERAL.test(part)) throw new Error(`the segment ${JSON.stringify(part)} has a character that must be encoded`);
  return { kind: 'literal', text: part };
}

function parseVariable(part: string, others: readonly Variable[]): { name: string; inner: Segment[] } {
  const [, name = '', pattern = '*'] = /^([^=]*)(?:=(.*))?$/.exec(part.slice(1, -1))!;
  if (!IDENTIFIERS.test(name)) throw new Error(`${part} does not start with a field name`);
  if (others.some(({ path }) => path === name)) throw new Error(`it has the variable ${name} twice`);
  if (/(^|\/)(\/|$)/.test(pattern)) throw new Error(`${part} has an empty segment`);
  return { name, inner: pattern.split('/').map(parseSegment) };
}

function checkSegments(segments: readonly Segment[]): void {
  if (segments.length > GATEWAY_LIMITS.gatewaySegments)
    throw new Error(`it has more than ${GATEWAY_LIMITS.gatewaySegments} segments`);
  const rest = segments.findIndex(({ kind }) => kind === 'rest');
  if (rest >= 0 && rest < segments.length - 1) throw new Error('** is not its last segment');
}

/** Receives a leaf and the matched, still encoded segments; undefined continues the search. */
type Visit<Leaf, Result> = (leaf: Leaf, segments: readonly string[]) => Result | undefined;

interface PathNode<Leaf> {
  readonly literals: Map<string, PathNode<Leaf>>;
  one: PathNode<Leaf> | undefined;
  /** By verb. */
  readonly here: Map<string, Leaf>;
  readonly rest: Map<string, Leaf>;
}

/** Matches request paths: literals take precedence over `*`, and `*` over `**`. */
export class PathTree<Leaf> {
  readonly #root = emptyNode<Leaf>();
  readonly #verbs = new Set<string>();
  /** Verbs that contain colons, longest first. */
  readonly #longVerbs: string[] = [];

  /** Returns the leaf for templates of this shape, creating it if needed. */
  add(template: Template, make: () => Leaf): Leaf {
    const { verb } = template;
    const leaves = findLeaves(this.#root, template);
    const leaf = leaves.get(verb) ?? make();
    leaves.set(verb, leaf);
    if (verb && !this.#verbs.has(verb)) {
      this.#verbs.add(verb);
      if (verb.includes(':')) this.#longVerbs.push(verb);
      this.#longVerbs.sort((a, b) => b.length - a.length);
    }
    return leaf;
  }

  /**
   * Visits the matches of a path (still encoded, without query) until one returns a result: most literal first, with a verb
   * before without.
   */
  find<Result>(path: string, visit: Visit<Leaf, Result>): Result | undefined {
    if (!path.startsWith('/')) return undefined;
    const segments = path.slice(1).split('/');
    const last = segments.at(-1)!;
    // DIDs contain colons too: only a verb of some template counts as one.
    const short = last.slice(last.lastIndexOf(':') + 1);
    const ends = this.#longVerbs.filter((verb) => last.endsWith(`:${verb}`));
    for (const verb of this.#verbs.has(short) ? [...ends, short] : ends) {
      const colon = last.length - verb.length - 1;
      if (colon <= 0) continue;
      const before = [...segments.slice(0, -1), last.slice(0, colon)];
      const result = walk(this.#root, { segments: before, verb, visit }, 0);
      if (result !== undefined) return result;
    }
    return walk(this.#root, { segments, verb: '', visit }, 0);
  }
}

function emptyNode<Leaf>(): PathNode<Leaf> {
  return { literals: new Map(), one: undefined, here: new Map(), rest: new Map() };
}

function findLeaves<Leaf>(root: PathNode<Leaf>, { segments }: Template): Map<string, Leaf> {
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

interface PathSearch<Leaf, Result> {
  readonly segments: readonly string[];
  readonly verb: string;
  readonly visit: Visit<Leaf, Result>;
}

// Every node has one depth, so it is visited at most once.
function walk<Leaf, Result>(node: PathNode<Leaf>, search: PathSearch<Leaf, Result>, depth: number): Result | undefined {
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

const BAD_ESCAPE = /%(?![0-9A-Fa-f]{2}).{0,2}/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const CONTROL = /[\u0000-\u001f\u007f]/;

/**
 * Decodes a path segment or, with `multiple`, several; then %2F is kept, to distinguish it from their slashes. Throws
 * ERR_INPUT for invalid escapes, invalid UTF-8 and control characters.
 */
export function decodePath(text: string, multiple: boolean): string {
  const parts = multiple ? text.split(/(%2F)/i) : [text];
  const decodedText = parts.map((part, at) => (at % 2 ? part : decode(part, 'path'))).join('');
  if (CONTROL.test(decodedText)) throw pathError('The path', 'has a control character, such as %00');
  return decodedText;
}

/** Decodes a query name or value, with plus as space. Throws ERR_INPUT. */
export function decodeQuery(text: string): string {
  return decode(text.replaceAll('+', ' '), 'query');
}

function decode(text: string, where: 'path' | 'query'): string {
  if (!text.includes('%')) return text;
  const bad = BAD_ESCAPE.exec(text)?.[0];
  if (bad !== undefined) throw pathError(`The ${where}`, `has an invalid URL escape ${JSON.stringify(bad)}`);
  try {
    return decodeURIComponent(text);
  } catch {
    throw pathError(`The ${where}`, 'is not valid UTF-8 after decoding');
  }
}

function pathError(what: string, why: string): TwinlineError {
  return new TwinlineError(
    'ERR_INPUT',
    `${what} is invalid: it ${why}. Encode each byte of UTF-8 as % and two hex digits.`,
  );
}

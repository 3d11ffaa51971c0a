// Path templates of google.api.http: `/v1/{name=shelves/*}/books/**:verb`, parsed.
//
//   Template = "/" Segments [ ":" Verb ]      Segments = Segment { "/" Segment }
//   After a variable all that follows its brace is the verb, which may then hold colons, as in grpc-gateway.
//   Segment  = "*" | "**" | literal | "{" field path [ "=" Segments ] "}"

import { GATEWAY_LIMITS } from '../limits.ts';

export type Segment =
  | { readonly kind: 'literal'; readonly text: string }
  /** Any one segment. */
  | { readonly kind: 'one' }
  /** Any number of segments, none too; always the last. */
  | { readonly kind: 'rest' };

export interface Variable {
  /** `owner.id` as written. */
  readonly path: string;
  /** The segments that it takes: from this one up to, not including, `end`; undefined: to the last. */
  readonly start: number;
  readonly end: number | undefined;
  /** It may take several segments; then %2F in it stays as it is. */
  readonly multiple: boolean;
}

export interface Template {
  readonly segments: readonly Segment[];
  readonly variables: readonly Variable[];
  /** '' when there is none. */
  readonly verb: string;
}

const IDENTIFIERS = /^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*$/;
// What may stand in a path without being encoded, but for the colon, which begins a verb.
const LITERAL = /^[A-Za-z0-9._~!$&'()+,;=@-]+$/;
const VERB = /^[A-Za-z0-9._~!$&'()+,;=@-]+(:[A-Za-z0-9._~!$&'()+,;=@-]+)*$/;
// A star alone, a literal, or a variable with what may stand inside its braces.
const PART = /\{[^{}]*\}|[^/{}]+/y;

/** Parses a template; throws an Error whose message says what is wrong with it. */
export function parseTemplate(text: string): Template {
  if (!text.startsWith('/')) throw new Error('it does not begin with /');
  const { path, verb } = splitVerb(text);
  const segments: Segment[] = [];
  const variables: Variable[] = [];
  for (const part of partsOf(path)) {
    const start = segments.length;
    if (!part.startsWith('{')) {
      segments.push(segmentOf(part));
      continue;
    }
    const { name, inner } = variableOf(part, variables);
    segments.push(...inner);
    const all = inner.at(-1)!.kind === 'rest';
    variables.push({ path: name, start, end: all ? undefined : segments.length, multiple: all || inner.length > 1 });
  }
  check(segments);
  return { segments, variables, verb };
}

// Colons do not stand in literals; one inside braces is found to be wrong later.
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

function partsOf(path: string): string[] {
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

function segmentOf(part: string): Segment {
  if (part === '*') return { kind: 'one' };
  if (part === '**') return { kind: 'rest' };
  if (!LITERAL.test(part)) throw new Error(`the segment ${JSON.stringify(part)} has a character that must be encoded`);
  return { kind: 'literal', text: part };
}

function variableOf(part: string, others: readonly Variable[]): { name: string; inner: Segment[] } {
  const [, name = '', pattern = '*'] = /^([^=]*)(?:=(.*))?$/.exec(part.slice(1, -1))!;
  if (!IDENTIFIERS.test(name)) throw new Error(`${part} does not begin with the name of a field`);
  if (others.some(({ path }) => path === name)) throw new Error(`it has the variable ${name} twice`);
  if (/(^|\/)(\/|$)/.test(pattern)) throw new Error(`${part} has an empty segment`);
  return { name, inner: pattern.split('/').map(segmentOf) };
}

function check(segments: readonly Segment[]): void {
  if (segments.length > GATEWAY_LIMITS.gatewaySegments)
    throw new Error(`it has more than ${GATEWAY_LIMITS.gatewaySegments} segments`);
  const rest = segments.findIndex(({ kind }) => kind === 'rest');
  if (rest >= 0 && rest < segments.length - 1) throw new Error('** is not its last segment');
}

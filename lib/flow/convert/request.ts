// Converts webhook requests to inputs of the HTTP services: URL, query, headers and body, each with `@` expressions.

import type { Value, Values } from '../format/flow.ts';
import { type FlowExpression, joinTexts, makeConstant } from './excellent/made.ts';
import type { ExcellentNode } from './excellent/parse.ts';
import { splitTemplate, type TemplatePart } from './excellent/template.ts';
import { translateTree } from './excellent/translate.ts';
import { type Language, translateSlot, translateValues } from './excellent/words.ts';
import { asObject, asText, type Foreign } from './source.ts';

/** Services by HTTP method; other methods need a custom service. */
const SERVICES: { readonly [method: string]: string } = {
  GET: 'http.get',
  POST: 'http.post',
  PUT: 'http.put',
  PATCH: 'http.patch',
  DELETE: 'http.delete',
};

/** The service for an HTTP method; reports unsupported methods. */
export function chooseService(method: string, { language, node }: RequestPlace): string {
  if (Object.hasOwn(SERVICES, method)) return SERVICES[method]!;
  const service = `webhook.${method.toLowerCase().replace(/[^a-z]/g, '') || 'call'}`;
  const reason = `Flows have no service for it: write a service "${service}", which gets url, query, headers and body.`;
  language.onNote(node, `webhook ${method}`, reason);
  return service;
}

export interface RequestPlace {
  readonly language: Language;
  readonly node: string;
}

/** URL, query, headers and body of a call; undefined, and reported, if the URL cannot be converted. */
export function readRequest(config: Foreign, method: string, place: RequestPlace): Values | undefined {
  const { language, node } = place;
  const address = readAddress(asText(config.url) ?? '', place);
  if (!address) {
    language.onNote(
      node,
      `${config.type ?? 'webhook'}`,
      'Its address has no counterpart, and without one there is no call.',
    );
    return undefined;
  }
  const headers = Object.entries(asObject(config.headers)).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string' && !OWN_HEADERS.test(entry[0]),
  );
  const body = method === 'GET' || method === 'DELETE' ? undefined : readBody(config.body, place);
  const values = translateValues(Object.fromEntries(headers), node, language);
  return {
    ...address,
    ...(Object.keys(values).length && { headers: values }),
    ...(body !== undefined && { body }),
  };
}

// Headers set by the services.
const OWN_HEADERS = /^(?:accept|content-type|content-length|host|connection)$/i;

function readAddress(url: string, { language, node }: RequestPlace): Values | undefined {
  const parts = splitTemplate(url, language.roots);
  const mark = parts.findIndex((part) => part.kind === 'text' && part.text.includes('?'));
  const before = mark < 0 ? parts : [...parts.slice(0, mark), cutText(parts[mark]!, 'before')];
  const after = mark < 0 ? [] : [cutText(parts[mark]!, 'after'), ...parts.slice(mark + 1)];
  const expressions = before.map((part) => makePart(part, { language, node }));
  if (expressions.some((one) => one === undefined) || !url) return undefined;
  const path = joinTexts((expressions as FlowExpression[]).filter(({ value }) => value !== ''));
  const query = readQuery(after, { language, node });
  return {
    url: path.value === undefined ? `=${path.source}` : path.value,
    ...(Object.keys(query).length && { query }),
  };
}

function cutText(part: TemplatePart, side: 'before' | 'after'): TemplatePart {
  const text = part.kind === 'text' ? part.text : '';
  const at = text.indexOf('?');
  return { kind: 'text', text: side === 'before' ? text.slice(0, at) : text.slice(at + 1) };
}

function readQuery(parts: readonly TemplatePart[], place: RequestPlace): Values {
  const pairs: TemplatePart[][] = [[]];
  for (const part of parts) {
    if (part.kind === 'slot') pairs.at(-1)!.push(part);
    else
      for (const [at, text] of part.text.split('&').entries()) {
        if (at > 0) pairs.push([]);
        if (text) pairs.at(-1)!.push({ kind: 'text', text });
      }
  }
  const query: Record<string, Value> = {};
  for (const [first, ...more] of pairs) {
    if (first?.kind !== 'text') continue;
    const [name = '', value = ''] = first.text.split(/=(.*)/s);
    const expressions = [makeConstant(decode(value)), ...more.map((part) => makePart(part, place))];
    if (expressions.some((one) => one === undefined)) continue;
    const joined = joinTexts(
      (expressions as FlowExpression[]).filter((one, at) => at > 0 || one.value !== '' || expressions.length === 1),
    );
    query[decode(name)] = joined.value === undefined ? `=${joined.source}` : joined.value;
  }
  return query;
}

/** The part without `url_encode`, which the service applies itself. */
function makePart(part: TemplatePart, { language, node }: RequestPlace): FlowExpression | undefined {
  if (part.kind === 'text') return makeConstant(part.text);
  const root = 'root' in part.parsed ? part.parsed.root : undefined;
  const inner = root?.kind === 'call' && root.name === 'url_encode' ? root.args[0] : undefined;
  return translateSlot(inner ? { ...part, parsed: { root: inner } } : part, node, language);
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replace(/\+/g, ' '));
  } catch {
    return text;
  }
}

// Private-use characters around the number of a placeholder; no body contains them.
const [OPEN, CLOSE] = ['\uE000', '\uE001'];
const MARK = /\uE000(\d+)\uE001/;
// An unterminated string extends to the end of the body, so that scanning stays linear.
const QUOTED_OR_MARK = /"[^"\\]*(?:\\[\s\S][^"\\]*)*(?:"|\\?$)|\uE000\d+\uE001/g;

/** The body as JSON, with expressions for `@`; undefined if it is not JSON. */
function readBody(body: unknown, { language, node }: RequestPlace): Value | undefined {
  if (typeof body !== 'string' || body.trim() === '') return undefined;
  const parts = splitTemplate(body, language.roots);
  const [only] = parts.filter((part) => part.kind === 'slot' || part.text.trim() !== '');
  const root = parts.length === 1 && only?.kind === 'slot' && 'root' in only.parsed ? only.parsed.root : undefined;
  if (root?.kind === 'call' && root.name === 'json' && root.args[0])
    return readObject(root.args[0], { language, node });
  const marks = parts.map((part, at) => (part.kind === 'text' ? part.text : `${OPEN}${at}${CLOSE}`)).join('');
  // `json()` adds quotes itself; other expressions are inside quotes.
  const quoted = marks.replace(QUOTED_OR_MARK, (text) => (text.startsWith('"') ? text : `"${text}"`));
  try {
    return fillMarks(JSON.parse(quoted), parts, { language, node });
  } catch {
    language.onNote(node, 'the body', 'It is not JSON, and services send JSON only; it is left out.');
    return undefined;
  }
}

function fillMarks(value: unknown, parts: readonly TemplatePart[], place: RequestPlace): Value {
  if (Array.isArray(value)) return value.map((one) => fillMarks(one, parts, place));
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, fillMarks(one, parts, place)]));
  if (typeof value !== 'string') return value as Value;
  const pieces = value.split(MARK);
  if (pieces.length === 1) return value.startsWith('=') ? `=${makeConstant(value).source}` : value;
  const expressions = pieces.map((piece, at) => (at % 2 ? makeJson(parts[Number(piece)], place) : makeConstant(piece)));
  const filled = expressions.filter((one): one is FlowExpression => one !== undefined && one.value !== '');
  if (!filled.length) return '';
  const joined = joinTexts(filled);
  return joined.value !== undefined ? joined.value : `=${joined.source}`;
}

function makeJson(part: TemplatePart | undefined, { language, node }: RequestPlace): FlowExpression | undefined {
  if (part?.kind !== 'slot') return makeConstant(part?.text ?? '');
  const root = 'root' in part.parsed ? part.parsed.root : undefined;
  const inner = root?.kind === 'call' && root.name === 'json' ? root.args[0] : undefined;
  return translateSlot(inner ? { ...part, parsed: { root: inner } } : part, node, language);
}

/** `object("a", 1, "b", x)` as an object; anything else as one value. */
function readObject(root: ExcellentNode, place: RequestPlace): Value | undefined {
  const { language, node } = place;
  if (root.kind !== 'call' || root.name !== 'object') {
    const result = translateTree(root, language);
    if (!('why' in result)) return result.value !== undefined ? result.value : `=${result.source}`;
    language.onNote(node, 'the body', `A value of it has no counterpart: ${result.why}. It is left out.`);
    return undefined;
  }
  const entries: [string, Value][] = [];
  for (let at = 0; at + 1 < root.args.length; at += 2) {
    const name = root.args[at]!;
    const value = readObject(root.args[at + 1]!, place);
    if (name.kind === 'value' && value !== undefined) entries.push([String(name.value), value]);
  }
  return Object.fromEntries(entries);
}

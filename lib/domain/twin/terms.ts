// Search terms of twins: case-insensitive word prefixes and property values, indexed with each twin, so that a search reads only
// matching records.

import type { Json, JsonObject } from '../../json/json.ts';
import { DOMAIN_LIMITS } from '../limits.ts';
import { type Filter, readMoment, readSteps } from './filter.ts';
import type { Spend } from './like.ts';
import type { StoredDomain } from './record.ts';

/** Lengths of the beginnings of a word that are terms: few, for each is written with each twin. Numbers differ later than words. */
const WORD_LENGTHS = [3, 4, 5, 6, 8, 12];
const NUMBER_LENGTHS = [3, 4, 5, 6, 7, 8, 12];
/** Characters of names and values in terms, and of a text that is read. */
const VALUE_CHARS = 64;
const TEXT_CHARS = 1_024;

/** Lower case, without accents, in words of letters and digits. */
export function splitWords(text: string): string[] {
  const plain = text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  return plain.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '');
}

/** The words that a twin is found by: those of its name and of its name elsewhere. */
function listWords({ metadata, externalId }: Pick<StoredDomain, 'metadata' | 'externalId'>): string[] {
  return [metadata.name, externalId].flatMap((text) =>
    typeof text === 'string' ? splitWords(text.slice(0, TEXT_CHARS)) : [],
  );
}

/** The first characters of a text, never half a surrogate pair. */
const cut = (text: string, chars: number) => [...text.slice(0, 2 * chars)].slice(0, chars).join('');
const nameTerm = (property: string) => `?${cut(property, VALUE_CHARS)}`;
const valueTerm = (property: string, value: Json) =>
  `=${cut(property, VALUE_CHARS)}:${cut(JSON.stringify(value), VALUE_CHARS)}`;

/** The term of twins with so many values that those are left out: see {@link findTerm}. */
export const MANY_VALUES = '*';

/** The terms of a twin, to be stored with it. */
export function indexTerms(
  body: Pick<StoredDomain, 'metadata' | 'externalId' | 'properties'>,
): Pick<StoredDomain, 'found'> {
  const words = listWords(body).slice(0, DOMAIN_LIMITS.wordsPerTwin).flatMap(listBeginnings);
  const names = Object.keys(body.properties).map(nameTerm);
  const values = listValueTerms(body.properties);
  const isMany = values.length > DOMAIN_LIMITS.valueTermsPerTwin;
  return { found: [...new Set([...words, ...names, ...(isMany ? [MANY_VALUES] : values)])] };
}

/** The terms of the beginnings of a word, the shortest first; none of a very short one. */
function listBeginnings(word: string): string[] {
  const chars = [...word];
  const lengths = /\p{N}/u.test(word) ? NUMBER_LENGTHS : WORD_LENGTHS;
  return lengths.filter((length) => length <= chars.length).map((length) => `w:${chars.slice(0, length).join('')}`);
}

function listValueTerms(properties: JsonObject): string[] {
  return Object.entries(properties).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value])
      .filter((one) => typeof one !== 'object' || one === null)
      .map((one) => valueTerm(name, one)),
  );
}

/** Whether each of the words begins a word of the twin. */
export function hasWords(
  body: Pick<StoredDomain, 'metadata' | 'externalId'>,
  words: readonly string[],
  spend: Spend,
): boolean {
  const own = listWords(body);
  spend(own.length * (WORD_WORK + words.length));
  return words.every((word) => own.some((one) => one.startsWith(word)));
}

/** What reading a word of a twin costs, in units of {@link Spend}; comparing it with another one takes one. */
const WORD_WORK = 100;

/** What is looked for: words, and a filter that all must match. */
export interface Sought {
  readonly words: readonly string[];
  readonly filter: Filter | undefined;
}

/** A term that everything which is looked for has. */
export interface FoundTerm {
  readonly term: string;
  /** It is of a value: twins with {@link MANY_VALUES} may match and not have it. Then this one is right. */
  readonly orElse?: string;
}

/** Such terms, each once, up to DOMAIN_LIMITS.termsCounted of them; what has them all may still be something else. */
export function listTerms({ words, filter }: Sought): FoundTerm[] {
  // What has a digit begins only words that have one, and those are cut at all lengths of words and more.
  const beginnings = words.slice(0, WORDS_LOOKED_UP).flatMap((word) => {
    const term = listBeginnings(word).at(-1);
    return term === undefined ? [] : [{ term }];
  });
  const terms: FoundTerm[] = [...beginnings, ...(filter === undefined ? [] : listFilterTerms(filter))];
  return [...new Map(terms.map((item) => [item.term, item])).values()].slice(0, DOMAIN_LIMITS.termsCounted);
}

const WORDS_LOOKED_UP = 4;

/** Comparisons that no twin without the property matches. */
const POSITIVE = new Set(['eq', 'in', 'like', 'gt', 'ge', 'lt', 'le', 'exists']);

function listFilterTerms(filter: Filter): FoundTerm[] {
  if (filter.op === 'and') return filter.of.flatMap(listFilterTerms);
  if (!('field' in filter) || !POSITIVE.has(filter.op)) return [];
  const [first, name, ...rest] = readSteps(filter.field);
  if (first !== 'properties' || name === undefined) return [];
  // One moment has many spellings.
  if (filter.op !== 'eq' || rest.length > 0 || readMoment(filter.values[0]!) !== undefined)
    return [{ term: nameTerm(name) }];
  return [{ term: valueTerm(name, filter.values[0]!), orElse: nameTerm(name) }];
}

// Converts a router that waits for a message: to a menu if the message before it lists options, to an input with a rule if a test
// corresponds to one, else to an input followed by a branch.

import type { Values } from '../../format/flow.ts';
import { compileAccept } from '../../run/accept.ts';
import { findCallingCode } from '../../run/phone-numbers.ts';
import { makeConstant } from '../excellent/made.ts';
import { passesTest } from '../excellent/tests.ts';
import { isNumbered, type ListedItem, readListing } from '../listing.ts';
import { makeName, uniqueNames } from '../names.ts';
import type { Ask, Choose, Next, Step, StepOption, Wait, Words, WordsWithValues } from '../steps/step.ts';
import { isSilent } from '../steps/step.ts';
import type { RapidProContext } from './context.ts';
import { readWords, textsIn } from './menu-words.ts';
import { type Category, keepResult, type ProCase, type ProRouter } from './router.ts';

export interface WaitPlace {
  readonly router: ProRouter;
  readonly context: RapidProContext;
  readonly name: string;
  /** Keys of the step itself, and of the branch after it. */
  readonly key: string;
  readonly split: string;
  /** The variable that stores the answer. */
  readonly save: string;
  /** Whether nothing else writes that variable. */
  readonly mayBeNumber: boolean;
  /** Quick replies of the messages of these steps. */
  replies(shown: readonly string[]): readonly Words[];
  step(key: string): Step | undefined;
  /** Reports differences of a branch on the answer. */
  tellSplit(): void;
}

export function waitStep(place: WaitPlace): Wait {
  const { router, name } = place;
  return {
    kind: 'wait',
    node: router.node,
    name,
    resolve: (before, keys) => {
      const message = before ?? { words: {}, values: {} };
      const again = findAgain(router.otherwise.next, place, keys);
      const asking = { ...place, said: message, again, replies: place.replies(keys) };
      return makeMenu(asking) ?? makeAsk(asking);
    },
  };
}

/** The error text, if a wrong answer leads back to the question; undefined if it leads elsewhere. */
type Again = { readonly error?: Words } | undefined;

interface AskedWait extends Omit<WaitPlace, 'replies'> {
  readonly said: WordsWithValues;
  readonly again: Again;
  readonly replies: readonly Words[];
}

const HOPS_MAX = 10;

function findAgain(next: Next, { key, step }: WaitPlace, shown: readonly string[]): Again {
  let error: Words | undefined;
  let at = next;
  for (let hop = 0; hop < HOPS_MAX && at !== undefined; hop++) {
    if (at === key) return error ? { error } : {};
    const here = step(at);
    const pass = here?.kind === 'split' && here.ways.length === 1 ? here.ways[0] : undefined;
    if (pass && pass.when === undefined && !pass.set) {
      at = pass.next;
      continue;
    }
    if (here?.kind !== 'say' || here.waits) return undefined;
    if (!shown.includes(at)) {
      if (error || Object.keys(here.said.values).length) return undefined;
      if (!isSilent(here.said)) error = here.said.words;
    }
    at = here.next;
  }
  return undefined;
}

function makeMenu(asking: AskedWait): Choose | undefined {
  const { router, context, name, said, again, replies } = asking;
  // A menu cannot lead elsewhere for other answers.
  if (!again && router.otherwise.next !== undefined) return undefined;
  const listing = readListing(said.words);
  const listed: readonly ListedItem[] =
    listing?.items ?? replies.map((text) => ({ key: Object.values(text)[0] ?? '', text }));
  if (listed.length === 0) return undefined;
  const cases = listed.map(({ key, text }) =>
    findCase(router, listing ? () => key : (lang) => text[lang] ?? key, context),
  );
  if (cases.some((one) => one === undefined)) return undefined;
  if (!again)
    context.onNote(
      router.node,
      `category ${router.otherwise.name}`,
      'Any other answer ended the flow; a menu asks again.',
    );
  const words = readWords(router, { context, keys: listed.map(({ key }) => key) });
  const isKeyed = listing !== undefined && !isNumbered(listed.map(({ key }) => key));
  const unique = uniqueNames();
  const options = listed.map(({ key, text }, at): StepOption => {
    const { category } = cases[at]!;
    const own = words.get(category);
    words.delete(category);
    const option = makeOption(asking, { category, value: key });
    return { ...option, id: unique(option.id), text, ...(isKeyed && { key }), ...(own && { words: own }) };
  });
  // What callers may type, and no line says.
  for (const [category, own] of words) {
    const [value = ''] = Object.values(own)[0] ?? [];
    const option = makeOption(asking, { category, value });
    options.push({ ...option, id: unique(option.id), words: own, hidden: true });
  }
  return {
    kind: 'choose',
    node: router.node,
    name,
    said: { words: listing?.text ?? said.words, values: said.values },
    options,
    ...(again?.error && { error: again.error }),
  };
}

function makeOption(
  { router, context }: AskedWait,
  { category, value }: { readonly category: Category; readonly value: string },
): StepOption {
  const result = keepResult(router, category, { context, value: makeConstant(value) });
  const set: Values = { ...result, [context.answer]: value };
  const id = makeName(category.name.toLowerCase(), 'option');
  return { id, text: category.names, set, next: category.next };
}

/** The case for an answer of a menu; undefined where the words of another language lead elsewhere. */
function findCase(
  { cases }: ProRouter,
  answerIn: (lang: string) => string,
  { langs }: RapidProContext,
): ProCase | undefined {
  const [written, ...others] = langs.map((lang) =>
    cases.find(({ type, arguments: lists }) => passesTest(type, answerIn(lang), textsIn(lists, lang)) === true),
  );
  return others.every((one) => one === undefined || one === written) ? written : undefined;
}

function makeAsk(asking: AskedWait): Ask {
  const { router, context, name, save, split, tellSplit, again } = asking;
  const said = listReplies(asking);
  if (isSilent(said)) context.onNote(router.node, 'a wait', 'Nothing was said before it; the caller reads "...".');
  const question = isSilent(said)
    ? { words: { [Object.keys(said.words)[0] ?? 'und']: '...' }, values: said.values }
    : said;
  const base = { kind: 'ask', node: router.node, name, said: question, save } as const;
  const [only, ...more] = router.cases;
  const accept = again && only && more.length === 0 ? makeAccept(only, asking) : undefined;
  if (!accept || !only) {
    tellSplit();
    return { ...base, set: { [context.answer]: `=${save}` }, next: split };
  }
  if (accept.number !== undefined) context.variables.makeNumber(save);
  const value = context.variables.read(save);
  const set = { ...keepResult(router, only.category, { context, value }), [context.answer]: `=str(${save})` };
  return {
    ...base,
    accept,
    ...(again?.error && { error: again.error }),
    set,
    next: only.category.next,
  };
}

/** The question with its quick replies as lines of text. */
function listReplies({ router, context, said, replies }: AskedWait): WordsWithValues {
  if (replies.length === 0 || isSilent(said)) return said;
  context.onNote(router.node, 'quick_replies', 'They stand below the question, and the caller types one.');
  const words = Object.entries(said.words).map(([lang, text]) => [
    lang,
    [text, ...replies.map((reply) => reply[lang] ?? Object.values(reply)[0] ?? '')].join('\n'),
  ]);
  return { ...said, words: Object.fromEntries(words) };
}

type Accept = NonNullable<Ask['accept']>;

/** The input rule that corresponds to a test. */
function makeAccept(
  { type, arguments: [written, ...translated] }: ProCase,
  { router, context, mayBeNumber }: AskedWait,
): Accept | undefined {
  if (translated.length) return undefined;
  const list = written?.texts ?? [];
  const numbers = list.map(Number);
  if (type.startsWith('has_number') && (numbers.some(Number.isNaN) || !mayBeNumber)) return undefined;
  const accept = Object.hasOwn(ACCEPT, type) ? ACCEPT[type]!(list, numbers) : undefined;
  if (!accept || !compiles(accept)) return undefined;
  const note = type === 'has_phone' && list.length ? OTHER_COUNTRIES : NOTES[type];
  if (note) context.onNote(router.node, type, note);
  return accept;
}

function compiles(accept: Accept): boolean {
  try {
    compileAccept(accept as Parameters<typeof compileAccept>[0]);
    return true;
  } catch {
    return false;
  }
}

const NUMBER = 'The answer has to be a number and nothing else; the test finds one inside a sentence, too.';
const OTHER_COUNTRIES =
  'The number has to be one of that country; the test takes those of others, too, when they begin with +.';
const NOTES: { readonly [type: string]: string } = {
  has_number: NUMBER,
  has_number_between: NUMBER,
  has_number_gte: NUMBER,
  has_number_lte: NUMBER,
  has_date: 'The date is typed as DDMMYYYY and kept as YYYY-MM-DD.',
  has_phone:
    'The test names no country, and that of the workspace is not in the export: the number is typed with its country code.',
  has_email: 'The answer has to be the address and nothing else.',
};

const ACCEPT: { readonly [type: string]: (list: readonly string[], numbers: readonly number[]) => Accept | undefined } =
  {
    has_text: () => ({ length: { min: 1 } }),
    has_number: () => ({ number: true }),
    has_number_between: (_, [min, max]) =>
      min !== undefined && max !== undefined ? { number: { min, max } } : undefined,
    has_number_gte: (_, [min]) => (min !== undefined ? { number: { min } } : undefined),
    has_number_lte: (_, [max]) => (max !== undefined ? { number: { max } } : undefined),
    has_date: () => ({ date: true }),
    has_phone: ([region]) => {
      const country = region && findCallingCode(region.trim().toUpperCase());
      return country ? { msisdn: { country } } : { msisdn: true };
    },
    has_email: () => ({ pattern: '[^@\\s]+@[^@\\s]+\\.[^@\\s]+' }),
    has_pattern: ([pattern = '']) =>
      pattern && !pattern.includes('@') ? { pattern: `(?is).*?(?:${pattern.trim()}).*` } : undefined,
  };

// Words that a router tests beside the keys of a menu: what callers may type for its options.

import { listWords } from '../../expression/functions.ts';
import { passesTest } from '../excellent/tests.ts';
import type { RapidProContext } from './context.ts';
import type { LangList } from './file.ts';
import type { Category, ProRouter } from './router.ts';

/** The answers that pass a test on words, each as a whole. */
const ANSWERS: { readonly [type: string]: (text: string) => readonly string[] } = {
  has_any_word: listWords,
  has_all_words: (text) => [listWords(text).join(' ')],
  has_phrase: (text) => [listWords(text).join(' ')],
  has_only_phrase: (text) => [listWords(text).join(' ')],
  has_only_text: (text) => [text.trim()],
};
const EXACT = ['has_only_phrase', 'has_only_text'];

type WordsByLang = Record<string, readonly string[]>;

/** What callers may type besides `keys`, by the category that the router would choose. */
export function readWords(
  router: ProRouter,
  { context, keys }: { readonly context: RapidProContext; readonly keys: readonly string[] },
): Map<Category, WordsByLang> {
  const labels = new Set(keys.flatMap((key) => [key.toLowerCase(), ...listWords(key)]));
  const byCategory = new Map<Category, WordsByLang>();
  const losses = new Set<string>();
  let isInexact = false;
  for (const lang of context.langs)
    for (const { type, arguments: lists } of router.cases)
      for (const text of textsIn(lists, lang))
        for (const word of ANSWERS[type]?.(text) ?? (type === 'has_beginning' ? listWords(text) : [])) {
          if (labels.has(word.toLowerCase())) continue;
          const owner = router.cases.find((one) => passesTest(one.type, word, textsIn(one.arguments, lang)) === true);
          const words = (owner && byCategory.get(owner.category)) ?? {};
          const list = words[lang] ?? [];
          if (!owner || !ANSWERS[type] || !isTypable(word, text) || list.length >= WORDS_MAX) losses.add(word);
          else if (!list.includes(word)) {
            byCategory.set(owner.category, { ...words, [lang]: [...list, word] });
            isInexact ||= !EXACT.includes(type);
          }
        }
  if (isInexact)
    context.onNote(
      router.node,
      'words',
      'The answer has to be the word and nothing else; the test finds it inside a sentence, too.',
    );
  if (losses.size)
    context.onNote(
      router.node,
      `words ${[...losses].join(', ')}`,
      'A menu takes the keys and words that it has; these are no answer any more.',
    );
  return byCategory;
}

const WORDS_MAX = 50;
const WORD_CHARS = 40;

const isTypable = (word: string, text: string) =>
  word !== '' && word.length <= WORD_CHARS && !/^\p{Nd}+$/u.test(word) && !text.includes('@');

export const textsIn = (lists: readonly LangList[], lang: string): readonly string[] =>
  (lists.find((list) => list.lang === lang) ?? lists[0])?.texts ?? [];

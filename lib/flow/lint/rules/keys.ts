// Keys with two meanings: two ways to move, two options, or a way to move and an answer.

import type { Json, JsonObject } from '../../../json/json.ts';
import { compileExpression } from '../../expression/expression.ts';
import { toAsciiDigits } from '../../expression/values.ts';
import {
  DEFAULT_KEYS,
  type Flow,
  type InputScreen,
  type Keys,
  keysOn,
  type NavigationKey,
  type NavigationKeys,
  type Screen,
} from '../../format/flow.ts';
import { pointerTo } from '../../format/source.ts';
import { type Bounds, isComputed, listBounds } from '../../run/accept-rule.ts';
import { foldWord, listOptions, listWords, wordsIn } from '../../screens/option.ts';
import type { Lint, LintRule, RuleFinding } from '../rule.ts';
import { listInputs, tryAccept } from './answers.ts';
import { mayHavePages } from './too-long.ts';

export const keyRules: readonly LintRule[] = [
  {
    code: 'key-clash',
    severity: 'error',
    means: 'a key has two meanings',
    *find({ flow, keys }) {
      yield* navigationClashes(keys, { own: flow.keys ?? {}, pointer: pointerTo('keys'), where: '' });
      yield* waitClash(flow, keys);
      for (const [id, screen] of Object.entries(flow.screens)) {
        const here = keysOn(screen, keys);
        const own = ('keys' in screen && screen.keys) || {};
        const pointer = pointerTo('screens', id, 'keys');
        yield* navigationClashes(here, { own, pointer, where: ` of screen "${id}"`, isScreen: true });
        yield* optionClashes(id, screen, here);
      }
    },
  },
  {
    code: 'word-clash',
    severity: 'error',
    means: 'a word of an option is a number, a key of its screen, or a word of another option',
    *find({ flow, keys, langs }) {
      for (const [id, screen] of Object.entries(flow.screens)) yield* wordClashes(id, screen, { keys, langs });
    },
  },
  {
    code: 'answer-is-key',
    severity: 'warning',
    means: 'an input accepts an answer that is one of its keys, so nobody can give it',
    *find(lint) {
      for (const [id, screen] of listInputs(lint.flow.screens)) {
        const taken = findTakenAnswers(lint, id, screen);
        if (!taken.length) continue;
        const said = taken.map(({ name, key }) => `"${key}", which is the key ${name}`).join(', and ');
        const message = `Screen "${id}" accepts ${said} there: callers cannot give that answer.`;
        const free = Object.fromEntries(taken.map(({ name, free: other }) => [name, other]));
        const keys = JSON.stringify(free)
          .replaceAll(':', ': ')
          .replaceAll(',', ', ')
          .replace(/^\{(.*)\}$/, '{ $1 }');
        const fix = `Write "keys": ${keys} in screen "${id}" (false takes a key away), or do not accept ${taken.map(({ key }) => `"${key}"`).join(' and ')}.`;
        yield { pointer: pointerTo('screens', id, 'accept'), message, fix };
      }
    },
  },
];

const NAVIGATION: readonly NavigationKey[] = ['back', 'home', 'more', 'exit'];

// A key in other digits is the same to a caller.
const isSameKey = (one: string | false, other: string | false) =>
  one !== false && other !== false && toAsciiDigits(one) === toAsciiDigits(other);

interface OwnKeys {
  /** The keys that the author wrote here. */
  readonly own: NavigationKeys;
  readonly pointer: string;
  readonly where: string;
  /** Clashes of the flow's keys are told once, for the flow. */
  readonly isScreen?: true;
}

function* navigationClashes(keys: Keys, { own, pointer, where, isScreen }: OwnKeys): Iterable<RuleFinding> {
  for (const [at, name] of NAVIGATION.entries()) {
    const other = NAVIGATION.slice(0, at).find((one) => isSameKey(keys[one], keys[name]));
    if (other === undefined) continue;
    const mine = Object.hasOwn(own, name) ? name : other;
    if (isScreen && !Object.hasOwn(own, mine)) continue;
    const message = `The key "${keys[name]}"${where} is both ${other} and ${name}.`;
    const usual = DEFAULT_KEYS[mine];
    const isFree = !isScreen && usual !== false && !Object.values(keys).includes(usual);
    yield {
      pointer: pointer + pointerTo(mine),
      message,
      fix: `Give ${mine} another key than "${keys[name]}", or false.`,
      ...(isFree && { mend: { text: JSON.stringify(usual) } }),
    };
  }
}

// While a call takes long, 1 asks for its answer.
function* waitClash({ screens }: Flow, { exit }: Keys): Iterable<RuleFinding> {
  const call = Object.keys(screens).find((id) => screens[id]!.type === 'call');
  if (call === undefined || !isSameKey(exit, '1')) return;
  const message = `The key "${exit}" is exit, and "1" is what callers press to go on while a call such as "${call}" takes long.`;
  yield { pointer: pointerTo('keys', 'exit'), message, fix: `Give exit another key than "${exit}", such as "*".` };
}

// Numbers are given past all keys, so only keys that the author wrote can clash.
function* optionClashes(id: string, screen: Screen, keys: Keys): Iterable<RuleFinding> {
  const uses = new Map<string, string>();
  for (const name of NAVIGATION) if (keys[name] !== false) uses.set(toAsciiDigits(keys[name]), `the key ${name}`);
  for (const [at, option] of listOptions(screen).entries()) {
    if (option.key === undefined) continue;
    const other = uses.get(toAsciiDigits(option.key));
    const pointer = pointerTo('screens', id, 'options', at, 'key');
    const message = `Option "${option.id}" of ${screen.type} "${id}" has the key "${option.key}", which is ${other} too.`;
    if (other) yield { pointer, message, fix: `Give option "${option.id}" another key than "${option.key}".` };
    uses.set(toAsciiDigits(option.key), `the key of option "${option.id}"`);
  }
}

const ONLY_DIGITS = /^\d+$/;

/** Keys and numbers come before words. Of two options with the same word, one that is shown alone still has it. */
function* wordClashes(
  id: string,
  screen: Screen,
  { keys, langs }: { readonly keys: Keys; readonly langs: readonly string[] },
): Iterable<RuleFinding> {
  const options = listOptions(screen);
  const meanings = new Map<string, string>();
  for (const [name, key] of Object.entries(keysOn(screen, keys)))
    if (key !== false) meanings.set(foldWord(toAsciiDigits(key)), `is the key ${name}`);
  for (const { id: owner, key } of options)
    if (key !== undefined) meanings.set(foldWord(toAsciiDigits(key)), `is the key of option "${owner}"`);
  for (const [at, { id: option, words, when }] of options.entries()) {
    if (!words) continue;
    for (const [lang, list] of listWords(words)) {
      for (const [place, word] of list.entries()) {
        const plain = foldWord(toAsciiDigits(word));
        const isTwin = (other: (typeof options)[number]) =>
          other.words !== undefined &&
          (when === undefined || other.when === undefined) &&
          (lang === undefined ? langs : [lang]).some((one) => wordsIn(other.words!, one).map(foldWord).includes(plain));
        const twin = options.slice(0, at).find(isTwin);
        const why = ONLY_DIGITS.test(plain)
          ? 'is a number, and numbers choose lines'
          : plain === ''
            ? 'is empty'
            : (meanings.get(plain) ?? (twin && `is a word of option "${twin.id}", too`));
        if (why === undefined) continue;
        const message = `Option "${option}" of ${screen.type} "${id}" has the word ${JSON.stringify(word)}, which ${why}.`;
        const steps = ['screens', id, 'options', at, 'words', ...(lang === undefined ? [] : [lang]), place];
        yield { pointer: pointerTo(...steps), message, fix: `Remove ${JSON.stringify(word)}, or write another word.` };
      }
    }
  }
}

interface TakenAnswer {
  readonly name: NavigationKey;
  readonly key: string;
  /** A key that the rule refuses. */
  readonly free: string | false;
}

const OTHER_KEYS = ['#', '*', '##', '**', '#0', '*0'];

// Free text, with or without a length, is left out: nobody is called "0".
function findTakenAnswers(lint: Lint, id: string, screen: InputScreen): TakenAnswer[] {
  const { sameAs: _, length: __, ...rules } = screen.accept ?? {};
  const accept = Object.keys(rules).length ? tryAccept(screen.accept!) : undefined;
  if (!accept) return [];
  const keys = keysOn(screen, lint.keys);
  const depth = lint.graph.depth.get(id) ?? 0;
  const bounds = sampleBounds(lint, rules);
  const isTaken = (key: string | false): key is string =>
    key !== false && lint.langs.some((lang) => accept.check(key, Date.now(), { lang, bounds }).ok);
  const others = OTHER_KEYS.filter((key) => !isTaken(key) && !Object.values(keys).some((used) => used === key));
  const live = {
    exit: () => true,
    back: () => screen.back !== false && (typeof screen.back === 'string' || depth > 0),
    home: () => depth > 1,
    more: () => mayHavePages(lint, id),
  };
  return (Object.keys(live) as NavigationKey[]).flatMap((name) => {
    const key = keys[name];
    if (!isTaken(key) || !live[name]()) return [];
    return [{ name, key, free: others.shift() ?? false }];
  });
}

// The bounds that are computed, as the samples of their variables give them.
function sampleBounds({ vars }: Lint, rules: JsonObject): Bounds {
  const scope = Object.fromEntries([...vars].map(([name, one]) => [name, one.sample ?? one.default ?? null]));
  const evaluate = (bound: Json): Json => {
    try {
      return isComputed(bound) ? compileExpression(String(bound).slice(1)).evaluate(scope) : null;
    } catch {
      // Rules of expressions report it.
      return null;
    }
  };
  const bounds = Object.entries(listBounds(rules)).map(([name, bound]) => [name, evaluate(bound)] as const);
  return Object.fromEntries(bounds.filter(([, value]) => value !== null));
}

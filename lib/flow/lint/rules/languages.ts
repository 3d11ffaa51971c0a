// Languages of a flow: missing texts, texts in unknown languages, and the variable `lang`.

import { type Node, parseExpression } from '../../expression/parse.ts';
import { type DefaultWord, ENGLISH, findDefaultWords, WORD_LANGS } from '../../format/default-words.ts';
import { findExitScreen, type Screen } from '../../format/flow.ts';
import { capitalize, describePlace, showValue } from '../../format/problem.ts';
import { pointerTo } from '../../format/source.ts';
import { isInteractive } from '../../screens/kinds.ts';
import { listOptions, listWords } from '../../screens/option.ts';
import { didYouMean, formatNames, type Lint, type LintRule, type RuleFinding } from '../rule.ts';

export const languageRules: readonly LintRule[] = [
  {
    code: 'missing-lang',
    severity: 'error',
    means: 'a text is missing in some languages of the flow',
    *find({ parts, langs }) {
      for (const { pointer, text } of parts.texts) {
        if (typeof text === 'string') continue;
        const missing = langs.filter((lang) => !Object.hasOwn(text, lang));
        if (!missing.length) continue;
        const message = `${capitalize(describePlace(pointer))} has no text in ${missing.map((lang) => `"${lang}"`).join(', ')}.`;
        const [lang, example] = Object.entries(text)[0]!;
        const fix = `Add ${missing.map((one) => `"${one}": …`).join(', ')} beside "${lang}": ${showValue(example)}.`;
        yield { pointer, message, fix };
      }
    },
  },
  {
    code: 'unknown-lang',
    severity: 'warning',
    means: 'a text is in a language that the flow does not list',
    *find({ flow, parts, langs, nearest }) {
      for (const { pointer, lang } of parts.wordings) {
        if (lang === undefined || langs.includes(lang)) continue;
        const message = `${capitalize(describePlace(pointer))} is never shown: "${lang}" is not in "langs" (${langs.join(', ')}).`;
        const fix = `Add "${lang}" to "langs", or remove this text.`;
        yield { pointer, at: 'key', message: message + didYouMean(nearest(lang, langs)), fix };
      }
      for (const [id, screen] of Object.entries(flow.screens))
        for (const [at, { words = [] }] of listOptions(screen).entries())
          for (const [lang] of listWords(words)) {
            if (lang === undefined || langs.includes(lang)) continue;
            const pointer = pointerTo('screens', id, 'options', at, 'words', lang);
            const message = `${capitalize(describePlace(pointer))} are never read: "${lang}" is not in "langs" (${langs.join(', ')}).`;
            const fix = `Add "${lang}" to "langs", or remove these words.`;
            yield { pointer, at: 'key', message: message + didYouMean(nearest(lang, langs)), fix };
          }
    },
  },
  {
    code: 'default-words',
    severity: 'warning',
    means: 'callers read words such as Back in English, because there are no default words in their language',
    *find(lint) {
      const words = listDefaultWords(lint);
      const langs = lint.langs.filter((lang) => lang !== 'und' && !findDefaultWords(lang));
      if (!words.length) return;
      for (const lang of langs) {
        const shown = words.map((word) => showValue(ENGLISH[word].split('\n')[0])).join(', ');
        const message = `Callers who read "${lang}" see ${shown} in English: there are default words in ${WORD_LANGS.join(', ')} only.`;
        const labels = words.filter((word) => word !== 'wait');
        const places = [
          ...(labels.length ? [`"labels" (${labels.join(', ')})`] : []),
          ...(words.includes('wait') ? ['"wait"'] : []),
        ];
        yield {
          pointer: lint.flow.langs ? '/langs' : '',
          message,
          fix: `Write them in "${lang}": ${places.join(' and ')}.`,
        };
      }
    },
  },
  {
    code: 'never-heard',
    severity: 'warning',
    means: 'a flow that is only called by others has texts or languages that no caller ever reads',
    *find(lint) {
      const { flow, langs } = lint;
      if (!lint.isOnlyCalled) return;
      const ends = Object.entries(flow.screens).filter(([, one]) => one.type === 'end' && !one.ends && one.text !== '');
      if (ends.length) {
        const names = formatNames(ends.map(([id]) => `"${id}"`));
        const message = `Nobody reads the texts of the end screens ${names}: other flows call "${flow.flow}", and go on when it ends.`;
        const fix = `Write "ends": true where the session shall end with these words, or show them on a menu before; "text": "" says that none are meant.`;
        yield { pointer: pointerTo('screens', ends[0]![0], 'text'), message, fix };
      }
      const unread = [...(flow.labels?.goodbye ? ['/labels/goodbye'] : []), ...(flow.wait ? ['/wait'] : [])];
      for (const pointer of unread) {
        const message = `${capitalize(describePlace(pointer))} is never shown: callers read that of the flow that they dialled.`;
        yield { pointer, at: 'key', message, fix: 'Write it in the flow that is dialled, and remove it here.' };
      }
      const silent = findSilentLanguages(lint);
      if (!silent.length) return;
      const message = `No caller reads ${silent.map((lang) => `"${lang}"`).join(', ')} here: no flow that calls "${flow.flow}" has that language.`;
      const fix = `Add it to "langs" of a flow that calls "${flow.flow}", or let this flow set "lang". Here are: ${langs.join(', ')}.`;
      yield { pointer: '/langs', message, fix };
    },
  },
  {
    code: 'lang-variable',
    severity: 'warning',
    means: 'a flow with several languages never sets the variable `lang`, or sets it to an unknown language',
    *find(lint) {
      const { flow, langs, vars, parts, graph, flows } = lint;
      if (flow.langs === undefined || langs.length < 2) return;
      yield* findUnknownLanguages(lint);
      const lang = vars.get('lang');
      const begin = lang?.default;
      if (!lang) {
        const message = `The flow has the languages ${langs.join(', ')}, and no variable "lang": every caller reads "${langs[0]}".`;
        yield {
          pointer: '/langs',
          message,
          fix: `Add "lang": { "type": "string", "default": "${langs[0]}" } to "vars".`,
        };
      } else if (typeof begin === 'string' && !langs.includes(begin)) {
        const message = `Variable "lang" begins as "${begin}", which is not in "langs"; callers read "${langs[0]}".`;
        const fix = `Write one of: ${langs.join(', ')}.`;
        // Callers read the first language anyway.
        const mend = { text: JSON.stringify(langs[0]) };
        yield { pointer: pointerTo('vars', 'lang', 'default'), message, fix, mend };
      } else if (
        flows &&
        !graph.isCalled &&
        !parts.writes.some(({ name, of }) => name === 'lang' && of === undefined)
      ) {
        const read = typeof begin === 'string' ? begin : langs[0];
        const others = langs.filter((one) => one !== read);
        const message = `Nothing sets the variable "lang": every caller reads "${read}", and no text in ${others.join(', ')} is ever shown.`;
        const fix = `Let an option choose: "set": { "lang": "${others[0]}" }.`;
        yield { pointer: pointerTo('vars', 'lang'), at: 'key', message, fix };
      }
    },
  },
];

// The language comes from the calling flow, where both have a variable `lang`.
function findSilentLanguages({ flow, flows, langs, parts, vars }: Lint): string[] {
  const calls = [...(flows?.values() ?? [])].flatMap((caller) =>
    Object.values(caller.screens).flatMap((screen) =>
      screen.type === 'flow' && screen.flow === flow.flow ? [{ caller, screen }] : [],
    ),
  );
  const isFree =
    !vars.has('lang') ||
    parts.writes.some(({ name, of }) => name === 'lang' && of === undefined) ||
    calls.some(({ screen }) => screen.with && Object.hasOwn(screen.with, 'lang'));
  if (isFree) return [];
  const heard = new Set(calls.flatMap(({ caller: { vars: own, langs: spoken } }) => (own?.lang && spoken) || []));
  const begin = vars.get('lang')?.default;
  return langs.filter((lang, at) => lang !== begin && (at > 0 || begin !== undefined) && !heard.has(lang));
}

// The words that some screen shows and that the flow does not say in its own.
function listDefaultWords({ flow, keys, graph }: Lint): DefaultWord[] {
  const screens = [...graph.screens.values()];
  const hasScreen = (test: (screen: Screen) => boolean) => screens.some(test);
  const asks = hasScreen(isInteractive);
  const used: { readonly [word in DefaultWord]: boolean } = {
    back: asks && keys.back !== false,
    home: asks && keys.home !== false,
    more: asks && keys.more !== false,
    exit: asks && keys.exit !== false,
    invalid: hasScreen((one) => (one.type === 'menu' || one.type === 'list') && one.error === undefined),
    refused: hasScreen((one) => one.type === 'input' && one.accept !== undefined && one.error === undefined),
    goodbye: asks && keys.exit !== false && findExitScreen(flow) === undefined,
    wait: hasScreen(({ type }) => type === 'call'),
    resume: flow.limits?.resume !== undefined,
    continue: flow.limits?.resume !== undefined,
    restart: flow.limits?.resume !== undefined,
  };
  return (Object.keys(used) as DefaultWord[]).filter(
    (word) => used[word] && (word === 'wait' ? flow.wait : flow.labels?.[word]) === undefined,
  );
}

// Values assigned to `lang`, plain or by an expression, that are not languages of the flow.
function* findUnknownLanguages({ langs, parts, nearest, mend }: Lint): Iterable<RuleFinding> {
  const isChoice = (into: unknown) =>
    typeof into === 'object' && into !== null && 'name' in into && into.name === 'lang' && !('of' in into);
  const find = (
    pointer: string,
    value: string,
    sample?: { readonly text: string; readonly at: number },
  ): RuleFinding => {
    const similar = nearest(value, langs);
    const message = `${capitalize(describePlace(pointer))} sets "lang" to "${value}", which is not in "langs"; callers read "${langs[0]}" then.${didYouMean(similar)}`;
    const { mend: fixedText } = mend(value, langs);
    const place = { pointer, ...(sample && { at: sample.at }) };
    const change = fixedText && {
      mend: sample
        ? { old: sample.text, text: `'${fixedText.text}'`, place }
        : { text: JSON.stringify(fixedText.text) },
    };
    return { ...place, message, fix: `Write one of: ${langs.join(', ')}.`, ...change };
  };
  for (const { pointer, source, into } of parts.literals)
    if (isChoice(into) && !langs.includes(source)) yield find(pointer, source);
  for (const { pointer, source, shift, into, compiled } of parts.expressions) {
    if (!compiled.ok || !isChoice(into)) continue;
    for (const { value, text, at } of listResults(parseExpression(source).root))
      if (!langs.includes(value)) yield find(pointer, value, { text, at: shift + at });
  }
}

function listResults(node: Node): { readonly value: string; readonly text: string; readonly at: number }[] {
  if (node.kind === 'choice') return [...listResults(node.yes), ...listResults(node.no)];
  return node.kind === 'value' && typeof node.value === 'string' ? [{ ...node, value: node.value }] : [];
}

// The kind `input`: the caller types an answer.

import type { Json, JsonObject } from '../../json/json.ts';
import { maskPrintedFrom } from '../expression/template.ts';
import { toAsciiDigits } from '../expression/values.ts';
import type { Text, Values } from '../format/way.ts';
import { type Accept, compileAccept } from '../run/accept.ts';
import { type Bounds, isComputed, listBounds } from '../run/accept-rule.ts';
import type { Answering, AskingScreen, ScreenKeys, ScreenKind, ScreenScope, StateConfig } from './kind.ts';
import { entryTrack, interactiveEvents, meta, transitionTo } from './transitions.ts';

export interface InputScreen extends AskingScreen {
  readonly type: 'input';
  readonly text: Text;
  readonly save: string;
  readonly to: string;
  readonly accept?: { readonly [rule: string]: Json };
  readonly error?: Text;
  /** Refused answers before `else`. */
  readonly attempts?: number;
  readonly else?: string;
  readonly set?: Values;
}

export const input: ScreenKind<InputScreen> = {
  schema: {
    about: 'The caller types an answer.',
    description: 'The caller types an answer, which is checked and saved.',
    required: ['text', 'save', 'to'],
    properties: {
      text: { description: 'The question.', $ref: '#/definitions/text', examples: ['How many bags?'] },
      save: { description: 'The variable that keeps the answer.', type: 'string', examples: ['pin'] },
      accept: { $ref: '#/definitions/accept' },
      error: {
        description: 'Above the question after an answer that was refused; else the label `refused`.',
        $ref: '#/definitions/text',
        examples: ['A PIN has 4 digits.'],
      },
      attempts: {
        description: 'After so many refused answers it goes on to `else`.',
        type: 'integer',
        minimum: 1,
        maximum: 99,
        examples: [3],
      },
      to: { description: 'Id of the screen after an accepted answer.', type: 'string', examples: ['again'] },
      else: {
        description: 'Id of the screen after the last of `attempts` was refused.',
        type: 'string',
        examples: ['sorry'],
      },
      set: { $ref: '#/definitions/set' },
    } satisfies ScreenKeys<InputScreen>,
    snippet: { text: '$1', save: '$2', to: '$3' },
  },

  waits: true,
  targets: (screen) => (screen.else === undefined ? [screen.to] : [screen.to, screen.else]),

  state: (screen, place) => {
    const { save, to, set, attempts } = screen;
    const tried = place.isRefusable ? { tried: place.id } : {};
    const accepted = transitionTo(place, { to, save, from: place.id, ...(set && { set }), ...tried }, 'keep');
    const text: StateConfig[] = [{ guard: { type: 'accepted' }, ...accepted }];
    if (attempts !== undefined && screen.else !== undefined)
      text.push({
        guard: { type: 'exhausted', params: { attempts } },
        ...transitionTo(place, { to: screen.else }, 'go'),
      });
    text.push({ actions: [{ type: 'refuse' }] });
    const last =
      place.isRefusable && attempts !== undefined && screen.else !== undefined
        ? {
            always: {
              guard: { type: 'spent', params: { attempts } },
              ...transitionTo(place, { to: screen.else }, 'go'),
            },
          }
        : {};
    return {
      meta: meta(place, screen),
      ...entryTrack(screen),
      ...last,
      on: { ...interactiveEvents(screen, place), text },
    };
  },

  behaviour: (screen, scope) => {
    const text = scope.phrase(screen.text);
    const error = screen.error === undefined ? scope.labels.refused : scope.phrase(screen.error);
    const { sameAs, ...rule } = screen.accept ?? {};
    const accept = Object.keys(rule).length ? compileAccept(rule) : scope.isSecret(screen.save) ? ANY_SECRET : ANYTHING;
    const { evaluate, addTo } = readBounds(rule, scope);
    return {
      listsExit: false,
      print: (context, lang) => {
        const printed = addTo(context);
        if (!scope.isRefused(context)) return text.render(printed, lang);
        const refusal = scope.findRefusal(context) ?? error;
        return `${refusal.render(printed, lang)}\n${text.render(printed, lang)}`;
      },
      read: (answering) => {
        const result = accept.check(answering.input, answering.now, {
          lang: scope.findLang(answering.context),
          zone: scope.findZone(answering.context),
          bounds: evaluate(answering.context),
        });
        const accepted = result.ok && (typeof sameAs !== 'string' || isSame(answering, sameAs, result.value));
        return { type: 'text', accepted, value: result.ok ? result.value : null };
      },
    };
  },

  parts: (screen, reader) => {
    const bounds = listBounds(screen.accept ?? {});
    reader.text(['text'], screen.text, Object.keys(bounds));
    reader.text(['error'], screen.error, Object.keys(bounds));
    const computed = Object.entries(bounds).filter(([, bound]) => isComputed(bound));
    const rule = screen.accept?.number === undefined ? 'date' : 'number';
    reader.values(['accept', rule], Object.fromEntries(computed), 'bound');
    reader.save(['save'], screen.save);
    reader.set(['set'], screen.set);
    reader.target(['to'], screen.to);
    reader.target(['else'], screen.else);
  },
  rules: [
    {
      code: 'attempts-without-else',
      severity: 'error',
      means: 'an input limits attempts without saying where the last one leads',
      *find(screen, { id, pointer }) {
        if (screen.attempts === undefined || screen.else !== undefined) return;
        const message = `Screen "${id}" allows ${screen.attempts} attempts and does not say where the last one leads.`;
        yield { pointer: pointer('attempts'), message, fix: `Add "else": a screen id, to "${id}".` };
      },
    },
    {
      code: 'else-without-attempts',
      severity: 'warning',
      means: 'an input has an "else" but no limit of attempts',
      *find(screen, { id, pointer }) {
        if (screen.attempts !== undefined || screen.else === undefined) return;
        const message = `Screen "${id}" never goes on to "${screen.else}": it sets no "attempts".`;
        yield { pointer: pointer('else'), message, fix: `Add "attempts": 3 to "${id}", or remove "else".` };
      },
    },
  ],
  // A rule that cannot be compiled does not change its size.
  largest: ({ accept: _, ...screen }) => screen,

  card: ({ text }) => ({ text }),
  steps: ({ to, accept, attempts, else: otherwise }) => [
    { to, event: 'text', label: accept ? 'text [valid]' : 'text', mark: 'to', role: 'on' },
    ...(otherwise === undefined || attempts === undefined
      ? []
      : [{ to: otherwise, event: 'text', label: `text [${attempts} refused]`, mark: 'else', role: 'on' } as const]),
  ],
};

// Texts print the bounds as `min` and `max`, unless a variable has that name.
function readBounds(rule: JsonObject, scope: ScreenScope) {
  const bounds = Object.entries(listBounds(rule)).map(([name, bound]) => {
    const source = isComputed(bound) ? String(bound).slice(1) : bound === 'today' ? 'today()' : undefined;
    const expression = source === undefined ? undefined : scope.expression(source);
    return {
      name,
      names: expression?.names ?? [],
      evaluate: (context: JsonObject) => (expression ? expression.evaluate(context) : bound),
    };
  });
  const evaluate = (context: JsonObject): Bounds =>
    Object.fromEntries(bounds.map(({ name, evaluate: find }) => [name, find(context)]));
  const addTo = (context: JsonObject): JsonObject => {
    let printed = context;
    for (const { name, names, evaluate: find } of bounds)
      if (!Object.hasOwn(context, name)) printed = maskPrintedFrom({ ...printed, [name]: find(context) }, name, names);
    return printed;
  };
  return { evaluate, addTo };
}

const ANYTHING: Pick<Accept, 'check'> = { check: (text: string) => ({ ok: true, value: text as Json }) };
// A PIN is the same in the digits of every script.
const ANY_SECRET: Pick<Accept, 'check'> = { check: (text) => ({ ok: true, value: toAsciiDigits(text) }) };

// Saved values were normalized by a rule (2024-03-05 for 5/3/2024), so compare with what this rule returns. A secret of an
// earlier turn is gone; only the proof in the record remains.
function isSame({ key: text, context, prove }: Answering, name: string, value: Json): boolean {
  const saved = context[name] ?? null;
  if (saved !== null) return saved === value || String(saved) === text;
  const proof = (context.$proofs as JsonObject | undefined)?.[name];
  return proof !== undefined && (proof === prove(String(value)) || proof === prove(text));
}

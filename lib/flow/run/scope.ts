// A flow during compilation, with its texts, expressions and variables ready for use; and its screens by state path.

import type { MenuImplementations } from '../../../machines/menu-types.ts';
import { systemClock } from '../../clock.ts';
import { CALLBACK_PLACE } from '../../engine/conversation.ts';
import { TwinlineError } from '../../errors.ts';
import type { Json, JsonObject } from '../../json/json.ts';
import { type Calendar, findZone } from '../expression/days.ts';
import { compileExpression, type Expression, truthy } from '../expression/expression.ts';
import { compileTemplate } from '../expression/template.ts';
import { findBorder } from '../expression/values.ts';
import { type DefaultWord, ENGLISH, findDefaultWords } from '../format/default-words.ts';
import {
  DEFAULT_KEYS,
  type Flow,
  type Keys,
  type Label,
  listRefusals,
  type Screen,
  type Text,
  type Values,
} from '../format/flow.ts';
import { findText } from '../format/way.ts';
import { CALLBACK_NAME } from '../screens/call.ts';
import type { Behaviour, Phrase, ScreenScope } from '../screens/kind.ts';

/** What the screens of a flow share. */
export interface FlowScope extends ScreenScope {
  readonly flow: Flow;
  readonly langs: readonly string[];
  /** As they are printed; a screen may have others. */
  readonly keys: Keys;
  readonly labels: { readonly [label in Label]: Phrase };
  /** Shown while a call takes longer than a turn may. */
  readonly wait: Phrase;
}

/** @default `calendar` the system clock, in UTC */
export function flowScope(flow: Flow, calendar: Calendar = systemClock): FlowScope {
  const langs = flow.langs?.length ? flow.langs : ['en'];
  const phrase = (text: Text) => compilePhrase(text, { langs, calendar });
  const word = (name: DefaultWord, own: Text | undefined) => phrase(own ?? defaultText(name, langs));
  const refusals = new Map(listRefusals(flow).map(({ name, error }) => [name, phrase(error)]));
  const { wait: _, ...labels } = ENGLISH;
  const names = Object.keys(labels) as Label[];
  return {
    flow,
    langs,
    keys: { ...DEFAULT_KEYS, ...flow.keys },
    labels: Object.fromEntries(names.map((name) => [name, word(name, flow.labels?.[name])])) as FlowScope['labels'],
    wait: word('wait', flow.wait),
    phrase,
    expression: (source) => compileExpression(source, calendar),
    isRefused: (context) => (context.$bad as number) > 0,
    findRefusal: ({ $why }) => (typeof $why === 'string' ? refusals.get($why) : undefined),
    isSecret: (name) => flow.vars?.[name]?.secret === true,
    findLang: (context) => findLang(langs, context),
    findZone: (context) => findZone(context, calendar),
  };
}

/** A label of a flow: in its own words, or in those of its languages. */
export function labelText(name: Label, { flow, langs }: Pick<FlowScope, 'flow' | 'langs'>): Text {
  return flow.labels?.[name] ?? defaultText(name, langs);
}

// In English where a language has no words: lint reports it.
function defaultText(name: DefaultWord, langs: readonly string[]): Text {
  return Object.fromEntries(langs.map((lang) => [lang, (findDefaultWords(lang) ?? ENGLISH)[name]]));
}

/** The caller's language: the variable `lang` if it names one of the flow's, else the first. */
export function chooseLang({ langs }: FlowScope, context: JsonObject): string {
  return findLang(langs, context);
}

function findLang(langs: readonly string[], { lang }: JsonObject): string {
  return typeof lang === 'string' && langs.includes(lang) ? lang : langs[0]!;
}

// A missing translation falls back to the first existing one; lint reports it.
function compilePhrase(
  text: Text,
  { langs, calendar }: { readonly langs: readonly string[]; readonly calendar: Calendar },
): Phrase {
  if (typeof text === 'string') return compileTemplate(text, calendar);
  const written = Object.fromEntries(
    Object.entries(text).map(([lang, source]) => [lang, compileTemplate(source, calendar)]),
  );
  const fallback = langs.map((lang) => written[lang]).find((t) => t !== undefined) ?? compileTemplate('');
  const byLang = new Map(langs.map((lang) => [lang, written[lang] ?? fallback]));
  return { render: (scope, lang) => (byLang.get(lang) ?? fallback).render(scope, lang) };
}

/** Evaluates the values of a flow. */
export interface ValueReader {
  expression(source: string): Expression;
  /** A text in the caller's language. */
  print(text: Text, context: JsonObject): string;
}

/** Compiles what it reads once. */
export function valueReader(scope: Pick<FlowScope, 'expression' | 'phrase' | 'findLang'>): ValueReader {
  const expressions = new Map<string, Expression>();
  const phrases = new Map<Text, Phrase>();
  return {
    expression: (source) => {
      const expression = expressions.get(source) ?? scope.expression(source);
      expressions.set(source, expression);
      return expression;
    },
    print: (text, context) => {
      const phrase = phrases.get(text) ?? scope.phrase(text);
      phrases.set(text, phrase);
      return phrase.render(context, scope.findLang(context));
    },
  };
}

/** By the name of the flow. */
export type ValueReaders = ReadonlyMap<string, ValueReader>;

/** Implements the menu machine's functions over the variables of all flows compiled together. */
export function menuImplementations(flows: ReadonlyMap<string, Flow>, readers: ValueReaders): MenuImplementations {
  // Conditions are the same in all of them.
  const { expression } = [...readers.values()][0]!;
  const fit = (flow: string, name: string, value: Json): Json => {
    const max = flows.get(flow)?.vars?.[name]?.max;
    if (max === undefined) return value;
    if (typeof value === 'string') return value.length <= max ? value : value.slice(0, findBorder(value, max));
    if (Array.isArray(value) && value.length > max) throw listError(flow, name, { max, items: value.length });
    return value;
  };
  return {
    holds: (condition, scope) => truthy(expression(condition).evaluate(scope as JsonObject)),
    evaluate: (values, scope, flow, by = flow) => {
      const reader = readers.get(by)!;
      const out: Record<string, Json> = {};
      for (const name in values) out[name] = fit(flow, name, evaluateValue(values[name]!, scope as JsonObject, reader));
      return out;
    },
    read: (values, scope, flow) => evaluateValues(values, scope as JsonObject, readers.get(flow)!),
    fit: (flow, variable, value) => fit(flow, variable, value as Json),
  };
}

// What is missing from a list cannot be seen, so a longer one is refused: a call of a service fails with it.
function listError(flow: string, name: string, { max, items }: { readonly max: number; readonly items: number }) {
  const problem = `Flow "${flow}": "${name}" keeps at most ${max} items, and got ${items}. Raise its "max", or ask for less.`;
  return new TwinlineError('ERR_EXPRESSION', problem);
}

/** Evaluates the expressions and texts in values, at any depth: the input of a service. */
export function evaluateValues(values: Values, scope: JsonObject, reader: ValueReader): JsonObject {
  const out: Record<string, Json> = {};
  for (const name in values) out[name] = evaluateValue(values[name]!, scope, reader);
  return out;
}

/** A machine config with the inputs of its calls, which JSON cannot express. */
export function withInputs(config: JsonObject, readers: ValueReaders): JsonObject {
  const { invoke, meta, states } = config as {
    invoke?: JsonObject;
    meta?: JsonObject;
    states?: { [id: string]: JsonObject };
  };
  const { with: values = {}, of, answer } = (meta ?? {}) as { with?: Values; of?: string; answer?: string };
  const inner = answer === undefined ? {} : { [CALLBACK_NAME]: CALLBACK_PLACE };
  const input = ({ context }: { context: JsonObject }) =>
    evaluateValues(values, answer === undefined ? context : { ...context, ...inner }, readers.get(of!)!);
  return {
    ...config,
    ...(invoke && { invoke: { ...invoke, input: input as unknown as Json } }),
    ...(states && {
      states: Object.fromEntries(Object.entries(states).map(([id, state]) => [id, withInputs(state, readers)])),
    }),
  };
}

function evaluateValue(value: Json, scope: JsonObject, reader: ValueReader): Json {
  if (typeof value === 'string')
    return value.startsWith('=') ? reader.expression(value.slice(1)).evaluate(scope) : value;
  if (Array.isArray(value)) return value.map((item) => evaluateValue(item, scope, reader));
  if (typeof value !== 'object' || value === null) return value;
  const text = findText(value);
  return text === undefined ? evaluateValues(value as Values, scope, reader) : reader.print(text, scope);
}

/** The variables that these values read. */
export function listRead(value: Json): string[] {
  if (typeof value === 'string') return value.startsWith('=') ? [...compileExpression(value.slice(1)).names] : [];
  if (typeof value !== 'object' || value === null) return [];
  const text = findText(value);
  if (text === undefined) return Object.values(value).flatMap((item) => listRead(item as Json));
  const words = typeof text === 'string' ? [text] : Object.values(text);
  return words.flatMap((source) => compileTemplate(source).paths.map(({ root }) => root));
}

/** An error of the flow `name`, with advice. */
export function flowError(name: string, problem: string): TwinlineError {
  return new TwinlineError('ERR_FLOW_INVALID', `Flow "${name}": ${problem}`);
}

export interface ScreenNode {
  /** Its state: `pin`, or `login.pin` of the called flow `login`. */
  readonly path: string;
  /** What the states of its flow begin with: '', or `login.` of the called flow `login`. */
  readonly prefix: string;
  readonly screen: Screen;
  readonly scope: FlowScope;
  readonly behaviour: Behaviour;
}

/** Whether the saved value of a screen, an answer or a service result, is a secret. */
export function keepsSecret({ screen, scope }: ScreenNode): boolean {
  return 'save' in screen && screen.save !== undefined && scope.flow.vars?.[screen.save]?.secret === true;
}

/** All private variable names of these flows. A name that is private in one is private in all. */
export function listPrivateNames(flows: Iterable<Flow>): Set<string> {
  const names = new Set<string>();
  for (const { vars = {} } of flows) for (const name in vars) if (vars[name]!.private) names.add(name);
  return names;
}

/** Whether the saved value of a screen is private. */
export function keepsPrivate({ screen, scope }: ScreenNode): boolean {
  const name = screen.type === 'list' ? screen.pick?.save : 'save' in screen ? screen.save : undefined;
  return name !== undefined && scope.flow.vars?.[name]?.private === true;
}

/** Whether input on a screen is secret or private, so that no record may contain it. */
export function isAnswerHidden(node: ScreenNode): boolean {
  return node.screen.type === 'input' && (keepsSecret(node) || keepsPrivate(node));
}

/** Whether the answer to a screen is a secret. */
export function asksForSecret(node: ScreenNode | undefined): boolean {
  return node?.screen.type === 'input' && keepsSecret(node);
}

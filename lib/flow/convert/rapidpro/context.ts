// Resolves names in RapidPro's expressions: results, fields and the contact become variables.

import { makeConstant, readMember, type Translated } from '../excellent/made.ts';
import type { Language } from '../excellent/words.ts';
import { makeName } from '../names.ts';
import type { Variables } from '../steps/variables.ts';

/** Variables shared by flows that call each other. */
export type Shared = 'contact' | 'field' | 'global';

export interface RapidProContext extends Language {
  /** The variable of a result of the flow, or of a part of it. */
  result(name: string, part?: 'value' | 'category' | 'category_localized' | 'input' | 'extra'): string;
  /** Languages of the flow, the one that it is written in first. */
  readonly langs: readonly string[];
  nameShared(kind: Shared, key: string): string;
  /** The last answer of the caller. */
  readonly answer: string;
  /** The answer of the last webhook. */
  readonly webhook: string;
  /** The output of the last called flow. */
  readonly child: string;
  /** Results of called flows that are read here, by key. */
  readonly childReads: Set<string>;
  /** Results of the calling flow that are read here: key → variable. */
  readonly parentReads: Map<string, string>;
  /** Shared variables used here: key → name. */
  readonly sharedNames: Map<string, string>;
}

const ROOTS = new Set(
  'contact fields results input urns run child parent webhook legacy_extra globals locals trigger resume node ticket'.split(
    ' ',
  ),
);
const NOT_KEPT = 'Flows know no contacts: the value is kept for one conversation. Call a service to keep it.';

/** The key of a name in RapidPro: `favorite_color` for `Favorite Color`. */
export function makeKey(name: string): string {
  return name
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '_')
    .slice(0, 64);
}

export interface RapidProSurroundings {
  readonly variables: Variables;
  readonly langs: readonly string[];
  readonly onNote: Language['onNote'];
}

export function makeContext({ variables, langs, onNote }: RapidProSurroundings): RapidProContext {
  if (langs.length > 1) variables.declare('lang', { type: 'string', default: langs[0]!, max: 20 });
  const childReads = new Set<string>();
  const parentReads = new Map<string, string>();
  const sharedNames = new Map<string, string>();
  const result: RapidProContext['result'] = (name, part = 'value') => {
    const key = makeKey(name);
    const wish = makeName(key, 'result');
    if (part === 'value') return variables.name(`results ${key}`, wish);
    const type = part === 'extra' ? 'object' : 'string';
    return variables.name(`results ${key} ${part}`, `${wish}_${part}`, { type, isDerived: true });
  };
  const shared: RapidProContext['nameShared'] = (kind, key) => {
    const wish = `${kind === 'global' ? kind : 'contact'}_${makeName(makeKey(key), 'value')}`;
    const name = variables.name(`${kind} ${key}`, wish);
    sharedNames.set(`${kind} ${key}`, name);
    return name;
  };
  const context: RapidProContext = {
    roots: ROOTS,
    langs,
    variables,
    onNote,
    result,
    nameShared: shared,
    childReads,
    parentReads,
    sharedNames,
    get answer() {
      return variables.name('input', 'answer', { isDerived: true });
    },
    get webhook() {
      return variables.name('webhook', 'webhook', { type: 'object' });
    },
    get child() {
      return variables.name('child', 'child', { type: 'object' });
    },
    resolve: ([root = '', ...rest]) =>
      Object.hasOwn(ROOT_TABLE, root) ? ROOT_TABLE[root]!(rest, context) : refusePath(root),
  };
  return context;
}

type Root = (rest: readonly string[], context: RapidProContext) => Translated;

const refusePath = (path: string): Translated => ({ why: `@${path} is nothing that flows know` });

const results: Root = ([key, part = 'value', ...more], context) => {
  if (key === undefined) return refusePath('results');
  const { variables } = context;
  if (part === 'value') return variables.read(context.result(key));
  if (part === 'category' || part === 'category_localized') return variables.read(context.result(key, part));
  if (part === 'input' || part === 'text') return variables.read(context.result(key, 'input'));
  return part === 'extra' ? readMember(context.result(key, 'extra'), more) : refusePath(`results.${key}.${part}`);
};

const fields: Root = ([key], context) =>
  key === undefined ? refusePath('fields') : context.variables.read(context.nameShared('field', key));

const phone: Root = (_, { variables }) => variables.read(variables.declare('phoneNumber', { type: 'string', max: 16 }));

const CONTACT: { readonly [part: string]: Root } = {
  name: (_, context) => context.variables.read(context.nameShared('contact', 'name')),
  first_name: (_, context) => context.variables.read(context.nameShared('contact', 'first_name')),
  language: (_, { variables }) => variables.read(variables.declare('lang', { type: 'string', max: 20 })),
  urn: phone,
  tel: phone,
  tel_e164: phone,
  urns: phone,
  fields,
};

const contact: Root = ([part = 'name', ...more], context) =>
  Object.hasOwn(CONTACT, part) ? CONTACT[part]!(more, context) : refusePath(`contact.${part}`);

const ROOT_TABLE: { readonly [root: string]: Root } = {
  results,
  fields,
  contact,
  urns: ([scheme], context) => (scheme === 'tel' ? phone([], context) : refusePath(`urns.${scheme ?? ''}`)),
  input: ([part = 'text'], { variables, answer }) =>
    part === 'text' ? variables.read(answer) : refusePath(`input.${part}`),
  run: ([part, ...more], context) => {
    if (part === 'results') return results(more, context);
    return part === 'status' ? makeConstant('active') : refusePath(`run.${part ?? ''}`);
  },
  child: ([part, key, value = 'value'], context) => {
    if (part === 'status' || (part === 'run' && key === 'status')) return makeConstant('completed');
    if (part !== 'results' || key === undefined || value !== 'value') return refusePath(`child.${part ?? ''}`);
    context.childReads.add(key);
    return { source: `${context.child}.${makeName(key, 'result')}`, kind: 'unknown', isTight: true };
  },
  parent: ([part, key, value = 'value'], context) => {
    if (part === 'fields' && key !== undefined) return fields([key], context);
    if (part === 'contact') return contact(key === undefined ? [] : [key], context);
    if (part !== 'results' || key === undefined || value !== 'value') return refusePath(`parent.${part ?? ''}`);
    const name = context.variables.name(`parent ${key}`, `parent_${makeName(key, 'result')}`);
    context.parentReads.set(key, name);
    return context.variables.read(name);
  },
  webhook: (steps, { webhook }) => {
    const [part, ...more] = steps;
    if (part === 'status') return { source: `${webhook}.status`, kind: 'number', isTight: true };
    return part === 'headers'
      ? refusePath('webhook.headers')
      : readMember(`${webhook}.body`, part === 'json' ? more : steps);
  },
  legacy_extra: (rest, { webhook }) => readMember(`${webhook}.body`, rest),
  globals: ([key], context) => {
    if (key === undefined) return refusePath('globals');
    const name = context.nameShared('global', key);
    context.onNote('', `@globals.${key}`, `Give the variable "${name}" its value as its "default".`);
    return context.variables.read(name);
  },
  locals: ([key], { variables }) =>
    key === undefined
      ? refusePath('locals')
      : variables.read(variables.name(`local ${key}`, `local_${makeName(key, 'value')}`)),
};

/** Reports that a value of the contact is dropped. */
export function noteContact(context: RapidProContext, node: string, what: string): void {
  context.onNote(node, what, NOT_KEPT);
}

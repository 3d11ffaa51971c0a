// What the names of FLOIP's expressions are in a flow: properties of the contact and results of blocks become variables.

import { makeConstant, readMember, type Translated } from '../excellent/made.ts';
import type { Language } from '../excellent/words.ts';
import { makeName, makeVariableName } from '../names.ts';
import type { Variables } from '../steps/variables.ts';

export interface FloipContext extends Language {
  /** The variable of a property of the contact. */
  property(key: string): string;
  /** The variable of what a block gives. */
  result(block: string): string;
  /** Says that a block gives what this variable holds. */
  alias(block: string, variable: string): void;
  /** The same names at a block, where `block.value` is its own. */
  at(variable: string): FloipContext;
  /** Properties that are used here: key → variable. */
  readonly properties: ReadonlyMap<string, string>;
  /** Results of the flow that was entered which are read here. */
  readonly childReads: Set<string>;
  /** Results of the entering flow that are read here: block → variable. */
  readonly parentReads: Map<string, string>;
  readonly child: string;
  /** Blocks that give an answer of a webhook. */
  readonly webhooks: ReadonlySet<string>;
}

export interface FloipSurroundings {
  readonly variables: Variables;
  readonly langs: readonly string[];
  readonly webhooks: ReadonlySet<string>;
  /** Blocks by the names that expressions of the file have for them, in small letters. */
  readonly blocks?: ReadonlyMap<string, string>;
  /** What results are called, so that properties keep their names. */
  readonly resultName?: (block: string) => string;
  readonly onNote: Language['onNote'];
}

const ROOTS = new Set('contact run parent child results flow block session channel date'.split(' '));
const MODE = 'USSD';

const refusePath = (path: string): Translated => ({ why: `${path} is nothing that flows know` });

export function makeContext({
  variables,
  langs,
  webhooks,
  onNote,
  blocks,
  resultName = (block) => block,
}: FloipSurroundings): FloipContext {
  if (langs.length > 1) variables.declare('lang', { type: 'string', default: langs[0]!, max: 20 });
  const properties = new Map<string, string>();
  const aliases = new Map<string, string>();
  const childReads = new Set<string>();
  const parentReads = new Map<string, string>();
  const property = (key: string): string => {
    const known = key.toLowerCase();
    const named = Object.hasOwn(PROPERTIES, known) ? PROPERTIES[known] : undefined;
    const name = named
      ? variables.declare(named, { type: 'string', max: 20 })
      : variables.name(`contact ${known}`, key);
    properties.set(known, name);
    return name;
  };
  const result = (block: string): string => {
    const written = block.toLowerCase();
    const key = blocks?.get(written)?.toLowerCase() ?? written;
    const type = webhooks.has(key) ? 'object' : 'string';
    return (
      aliases.get(key) ??
      variables.name(`results ${key}`, makeVariableName(resultName(blocks?.get(written) ?? block)), { type })
    );
  };
  const make = (own: string | undefined): FloipContext => {
    const context: FloipContext = {
      isCaseless: true,
      roots: ROOTS,
      variables,
      onNote,
      property,
      result,
      alias: (block, variable) => aliases.set(block.toLowerCase(), variable),
      at: make,
      properties,
      childReads,
      parentReads,
      webhooks,
      get child() {
        return variables.name('child', 'child', { type: 'object' });
      },
      resolve: ([root = '', ...rest]) => {
        if (root === 'block') return readBlockPart(rest, own, variables);
        return Object.hasOwn(ROOT_TABLE, root) ? ROOT_TABLE[root]!(rest, context) : readSingleWord(root, rest);
      },
    };
    return context;
  };
  return make(undefined);
}

/** Properties of the contact that a session has anyway: its language and its phone number. */
const PROPERTIES: { readonly [key: string]: string } = {
  language: 'lang',
  phone: 'phoneNumber',
  preferred_urn: 'phoneNumber',
  active_urn: 'phoneNumber',
  urn: 'phoneNumber',
};

// `block.value = chocolate`: a single word that is no name stands for itself.
function readSingleWord(root: string, rest: readonly string[]): Translated {
  return rest.length === 0 ? makeConstant(root) : refusePath([root, ...rest].join('.'));
}

function readBlockPart(
  [part = 'value', ...more]: readonly string[],
  own: string | undefined,
  variables: Variables,
): Translated {
  if (own === undefined || more.length || (part !== 'value' && part !== 'response')) return refusePath(`block.${part}`);
  return variables.read(own);
}

type Root = (rest: readonly string[], context: FloipContext) => Translated;

const contact: Root = ([part, key, ...more], context) => {
  if (part === undefined) return refusePath('contact');
  if (part === 'groups' || part === 'urns') return refusePath(`contact.${part}`);
  const isNested = part === 'properties' && key !== undefined;
  const name = context.property(isNested ? key : part);
  const steps = (isNested ? more : [key, ...more]).filter(
    (step) => step !== undefined && step !== 'value' && step !== '__value__',
  );
  return steps.length ? readMember(name, steps as string[]) : context.variables.read(name);
};

const results: Root = ([block, part = 'value', ...more], context) => {
  if (block === undefined) return refusePath('results');
  const name = context.result(block);
  if (context.webhooks.has(block)) return readMember(`${name}.body`, part === 'value' ? more : [part, ...more]);
  const isPlain = part === 'value' || part === 'response' || part === '__value__';
  return isPlain ? context.variables.read(name) : refusePath(`results.${block}.${part}`);
};

const ROOT_TABLE: { readonly [root: string]: Root } = {
  contact,
  results,
  session: ([key], context) =>
    key === undefined ? refusePath('session') : context.variables.read(context.property(key)),
  flow: ([part, ...more], context) => {
    if (part === 'language') return context.variables.read(context.property('language'));
    return part === 'mode' ? makeConstant(MODE) : results([part ?? '', ...more], context);
  },
  run: ([part, ...more], context) => {
    if (part === 'language') return context.variables.read(context.property('language'));
    if (part === 'mode') return makeConstant(MODE);
    return part === 'results' ? results(more, context) : refusePath(`run.${part ?? ''}`);
  },
  child: ([part, block, value = 'value'], context) => {
    if (part !== 'results' || block === undefined || value !== 'value') return refusePath(`child.${part ?? ''}`);
    context.childReads.add(block);
    return { source: `${context.child}.${makeName(block, 'result')}`, kind: 'unknown', isTight: true };
  },
  parent: ([part, block, value = 'value'], context) => {
    if (part !== 'results' || block === undefined || value !== 'value') return refusePath(`parent.${part ?? ''}`);
    const name = context.variables.name(`parent ${block}`, `parent_${makeName(block, 'result')}`);
    context.parentReads.set(block, name);
    return context.variables.read(name);
  },
  channel: ([part, ...more]) => (part === 'mode' && !more.length ? makeConstant(MODE) : refusePath('channel')),
  date: () => refusePath('date'),
};

/** The name of the contact's property that a variable stands for. */
export function nameProperty(variable: string): string {
  const known = { lang: 'language', phoneNumber: 'phone' } as const;
  return Object.hasOwn(known, variable) ? known[variable as keyof typeof known] : variable;
}

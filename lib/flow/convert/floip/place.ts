// What is known while the steps of a block are made: the block, its flow, the steps so far; and its exits as ways.

import type { Values } from '../../format/flow.ts';
import { type FlowExpression, toCondition } from '../excellent/made.ts';
import { parseExcellent } from '../excellent/parse.ts';
import { translateTree } from '../excellent/translate.ts';
import { translateValue } from '../excellent/words.ts';
import { asObjects, asText, isObject } from '../source.ts';
import { isSilent, type Next, type Step, type StepWay, type Words } from '../steps/step.ts';
import type { FloipContext } from './context.ts';
import type { FloipBlock, FloipExit, FloipFlow } from './file.ts';

export interface BlockPlace {
  readonly flow: FloipFlow;
  readonly block: FloipBlock;
  readonly context: FloipContext;
  readonly steps: Map<string, Step>;
  /** The step that enters the flow of this uuid; undefined, and reported, where that cannot be. */
  enter(uuid: string, next: Next): Step | undefined;
  note(what: string, reason: string): void;
}

/** The exit that is taken when no test holds: the one that says so, else the last without a test. */
export function findDefault({ exits }: FloipBlock): FloipExit | undefined {
  return exits.find((exit) => exit.isDefault) ?? exits.filter(({ test }) => test === undefined).at(-1);
}

export function listTested({ exits }: FloipBlock): FloipExit[] {
  return exits.filter(({ test, isDefault }) => test !== undefined && !isDefault);
}

/** Translates the expression of a test or a value, with or without an `@` before it. */
export function readExpression(text: string, context: FloipContext): FlowExpression | { readonly why: string } {
  const plain = text.trim().replace(/^@/, '');
  const parsed = parseExcellent(plain);
  return 'why' in parsed ? parsed : translateTree(parsed.root, context);
}

/** The exits with a test as ways, and the default one behind them. */
export function exitWays({ block, context, note }: BlockPlace, lead: (next: Next) => Next): StepWay[] {
  const ways = listTested(block).flatMap(({ test = '', next }): StepWay[] => {
    const made = readExpression(test, context);
    if ('why' in made) {
      note(`test ${test}`, `It has no counterpart: ${made.why}. This way is left out.`);
      return [];
    }
    return [{ when: toCondition(made), next: lead(next) }];
  });
  return [...ways, { next: lead(findDefault(block)?.next) }];
}

/** The properties that a block sets, where `block.value` is its answer. */
export function propertyValues({ block, note }: BlockPlace, context: FloipContext): Values {
  const given = block.config.set_contact_property;
  const list = isObject(given) ? [given] : asObjects(given);
  const entries = list.flatMap((one) => {
    const key = asText(one.property_key);
    const value = one.property_value;
    if (key === undefined) return [];
    const made = typeof value === 'string' ? translateValue(value, block.uuid, context) : undefined;
    if (made === undefined && value !== '') {
      note(`set_contact_property ${key}`, 'Its value has no counterpart; it is left out.');
      return [];
    }
    return [[context.property(key), made === undefined ? '' : made] as const];
  });
  return Object.fromEntries(entries);
}

/** Puts what is set before what comes next. */
export function setBefore({ block, steps }: BlockPlace, values: Values): (next: Next) => Next {
  if (Object.keys(values).length === 0) return (next) => next;
  return (next) => {
    const key = `${block.uuid}/set/${next}`;
    steps.set(key, { kind: 'assign', node: block.uuid, name: `${block.name}_set`.slice(0, 60), values, next });
    return key;
  };
}

/** How a wrong answer leads back to its block, and the text shown for it; undefined where it leads elsewhere. */
export function findAgain({ flow, block }: BlockPlace, next: Next): { readonly error?: Words } | undefined {
  if (next === block.uuid) return {};
  const between = flow.blocks.find(({ uuid }) => uuid === next);
  if (between?.type !== 'MobilePrimitives.Message' || findDefault(between)?.next !== block.uuid) return undefined;
  const words = flow.words(between.config.prompt ?? between.config.message);
  const isPlain = words && !isSilent({ words, values: {} }) && !Object.values(words).some((text) => text.includes('@'));
  return isPlain ? { error: words } : undefined;
}

/** What a block says; reported where it says nothing. */
export function findWords({ flow, block, note }: BlockPlace, keys: readonly string[]): Words {
  for (const key of keys) {
    const words = flow.words(block.config[key]);
    if (words && Object.keys(words).length) return words;
  }
  note(keys[0]!, 'Its resource has no text for phone menus.');
  return {};
}

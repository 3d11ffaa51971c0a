// Routers of RapidPro → ways: cases by their categories and exits, and what a result keeps of them.

import type { Values } from '../../format/flow.ts';
import { type FlowExpression, makeConstant, toText } from '../excellent/made.ts';
import { passesTest, testConditions } from '../excellent/tests.ts';
import { translateTemplate } from '../excellent/words.ts';
import { asObjects, asText, type Foreign } from '../source.ts';
import type { Next, Split, StepWay } from '../steps/step.ts';
import type { RapidProContext } from './context.ts';
import type { ProFlow, ProNode } from './file.ts';

/** A category of a router, and where it leads. */
export interface Category {
  readonly name: string;
  readonly next: Next;
}

export interface ProCase {
  readonly type: string;
  /** In each language that has its own, the written one first. */
  readonly arguments: readonly (readonly string[])[];
  readonly category: Category;
}

export interface ProRouter {
  readonly node: string;
  readonly operand: string;
  readonly cases: readonly ProCase[];
  /** Where it leads when no case holds. */
  readonly otherwise: Category;
  readonly result: string | undefined;
  readonly categories: readonly Category[];
}

export function readRouter(router: Foreign, { uuid, exits }: ProNode, flow: ProFlow): ProRouter {
  const categories = new Map<string, Category>();
  for (const category of asObjects(router.categories))
    categories.set(asText(category.uuid) ?? '', {
      name: asText(category.name) ?? 'Other',
      next: exits.get(asText(category.exit_uuid) ?? ''),
    });
  const nowhere: Category = { name: 'Other', next: undefined };
  const find = (id: unknown): Category => categories.get(asText(id) ?? '') ?? nowhere;
  return {
    node: uuid,
    operand: asText(router.operand) ?? '@input.text',
    cases: asObjects(router.cases).map((one) => ({
      type: (asText(one.type) ?? '').toLowerCase(),
      arguments: flow.lists(one, 'arguments'),
      category: find(one.category_uuid),
    })),
    otherwise: find(router.default_category_uuid),
    result: asText(router.result_name),
    categories: [...categories.values()],
  };
}

/** What a result keeps when a category is taken with this value. */
export function keepResult(
  router: ProRouter,
  category: Category,
  { context, value }: { context: RapidProContext; value: FlowExpression },
): Values {
  if (router.result === undefined) return {};
  const text = value.value !== undefined ? String(value.value ?? '') : `=${toText(value)}`;
  const constant = text.startsWith('=') && value.value !== undefined ? `=${toText(value)}` : text;
  const name = context.result(router.result);
  return {
    ...(constant !== `=str(${name})` && { [name]: constant }),
    [context.result(router.result, 'category')]: category.name,
    [context.result(router.result, 'input')]: constant,
  };
}

/** A router that waits for no answer: its first case that holds is taken. */
export function splitByCases(router: ProRouter, { context, name }: { context: RapidProContext; name: string }): Split {
  const value = translateTemplate(router.operand, router.node, context) ?? makeConstant('');
  const ways = caseWays(router, value, context);
  return { kind: 'split', node: router.node, name, ways };
}

/** The ways of all cases, in their order, and of none at the end. */
export function caseWays(router: ProRouter, value: FlowExpression, context: RapidProContext): StepWay[] {
  const ways: StepWay[] = [];
  for (const one of router.cases) {
    const set = keepResult(router, one.category, { context, value });
    const way = { next: one.category.next, ...(Object.keys(set).length && { set }) };
    const conditions = caseConditions(one, value, { router, context });
    if (conditions === true) return [...ways, way];
    for (const when of conditions) ways.push({ when, ...way });
  }
  const set = keepResult(router, router.otherwise, { context, value });
  return [...ways, { next: router.otherwise.next, ...(Object.keys(set).length && { set }) }];
}

/** Conditions of which any is enough; true where it always holds. */
function caseConditions(
  { type, arguments: lists }: ProCase,
  value: FlowExpression,
  { router, context }: { router: ProRouter; context: RapidProContext },
): true | string[] {
  const conditions: string[] = [];
  for (const list of lists.length ? lists : [[]]) {
    const args = list.map((text) => translateTemplate(text, router.node, context));
    if (args.some((arg) => arg === undefined)) continue;
    const constant = passesConstants(type, value, args as FlowExpression[]);
    if (constant === true) return true;
    if (constant === false) continue;
    const condition = testConditions(type, value, args as FlowExpression[]);
    if ('why' in condition) {
      context.onNote(
        router.node,
        `${type} ${list.join(' ')}`.trim(),
        `It has no counterpart: ${condition.why}. This way is left out.`,
      );
      continue;
    }
    if (condition.differs) context.onNote(router.node, type, condition.differs);
    conditions.push(...condition.conditions);
  }
  return [...new Set(conditions)];
}

function passesConstants(type: string, value: FlowExpression, args: readonly FlowExpression[]): boolean | undefined {
  if (value.value === undefined || args.some((arg) => arg.value === undefined)) return undefined;
  return passesTest(
    type,
    String(value.value ?? ''),
    args.map((arg) => String(arg.value ?? '')),
  );
}

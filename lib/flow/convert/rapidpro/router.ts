// Converts routers of RapidPro to ways: cases with categories and exits, and the saved results.

import type { Values } from '../../format/flow.ts';
import { type FlowExpression, makeConstant, quote, toText } from '../excellent/made.ts';
import { passesTest, testConditions } from '../excellent/tests.ts';
import { translateTemplate } from '../excellent/words.ts';
import { asObjects, asText, type Foreign } from '../source.ts';
import type { Next, Split, StepWay, Words } from '../steps/step.ts';
import type { RapidProContext } from './context.ts';
import type { LangList, ProFlow, ProNode } from './file.ts';

/** A category of a router, and where it leads. */
export interface Category {
  readonly name: string;
  /** In every language. */
  readonly names: Words;
  readonly next: Next;
}

export interface ProCase {
  readonly type: string;
  /** As they are written, then those of the languages that have their own. */
  readonly arguments: readonly LangList[];
  readonly category: Category;
}

export interface ProRouter {
  readonly node: string;
  readonly operand: string;
  readonly cases: readonly ProCase[];
  /** The target if no case matches. */
  readonly otherwise: Category;
  readonly result: string | undefined;
  readonly categories: readonly Category[];
}

export function readRouter(router: Foreign, { uuid, exits }: ProNode, flow: ProFlow): ProRouter {
  const categories = new Map<string, Category>();
  for (const category of asObjects(router.categories))
    categories.set(asText(category.uuid) ?? '', {
      name: asText(category.name) ?? 'Other',
      names: flow.words(category, 'name'),
      next: exits.get(asText(category.exit_uuid) ?? ''),
    });
  const nowhere: Category = { name: 'Other', names: { [flow.langs[0]!]: 'Other' }, next: undefined };
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

/** The result saved for a category and value. */
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
    ...categoryValues(router.result, category, context),
    [context.result(router.result, 'input')]: constant,
  };
}

/** A router that does not wait: takes the first matching case. */
export function splitByCases(router: ProRouter, { context, name }: { context: RapidProContext; name: string }): Split {
  const value = translateTemplate(router.operand, router.node, context) ?? makeConstant('');
  const ways = caseWays(router, value, context);
  return { kind: 'split', node: router.node, name, ways };
}

/** What a result keeps of its category: its name, and its name in the language of the caller. */
export function categoryValues(
  result: string,
  { name, names }: Pick<Category, 'name' | 'names'>,
  context: RapidProContext,
): Values {
  const others = Object.entries(names).filter(([lang, one]) => lang !== context.langs[0] && one !== name);
  const localized = others.reduceRight(
    (rest, [lang, one]) => `lang == ${quote(lang)} ? ${quote(one)} : (${rest})`,
    quote(name),
  );
  return {
    [context.result(result, 'category')]: name,
    [context.result(result, 'category_localized')]: others.length ? `=${localized}` : name,
  };
}

const RESULT = /^@\(?\s*(?:run\.)?results\.(\w+)(?:\.value)?\s*\)?$/;

interface TestedRouter {
  readonly router: ProRouter;
  readonly context: RapidProContext;
}

/** The ways of all cases in order, then the default. */
export function caseWays(router: ProRouter, operand: FlowExpression, context: RapidProContext): StepWay[] {
  const ways: StepWay[] = [];
  const makeWay = (category: Category, value: FlowExpression): StepWay => {
    const set = keepResult(router, category, { context, value });
    return { next: category.next, ...(Object.keys(set).length && { set }) };
  };
  for (const [at, one] of router.cases.entries()) {
    // A category is looked for among those of a result, and its name is what the test finds.
    const result = one.type === 'has_category' ? RESULT.exec(router.operand)?.[1] : undefined;
    const value = result === undefined ? operand : context.variables.read(context.result(result, 'category'));
    const conditions = caseConditions(one, value, { router, context });
    if (conditions === true) {
      noteNever(router, [...router.cases.slice(at + 1).map(({ category }) => category), router.otherwise], {
        taken: one.category,
        operand,
        context,
      });
      return [...ways, makeWay(one.category, value)];
    }
    for (const when of conditions) ways.push({ when, ...makeWay(one.category, value) });
  }
  return [...ways, makeWay(router.otherwise, operand)];
}

/** Reports the ways that cannot be taken, because what the router tests is always the same here. */
function noteNever(
  { node, operand: tested }: ProRouter,
  categories: readonly Category[],
  { taken, operand, context }: { taken?: Category; operand: FlowExpression; context: RapidProContext },
): void {
  const lost = categories.filter(({ next }) => next !== taken?.next || !taken).map(({ name }) => `"${name}"`);
  if (lost.length && tested.includes('@'))
    context.onNote(
      node,
      tested,
      `It is always "${operand.value}" here, so these ways are left out: ${[...new Set(lost)].join(', ')}.`,
    );
}

/** Alternative conditions; true if one always holds. */
function caseConditions(
  { type, arguments: lists, category }: ProCase,
  value: FlowExpression,
  { router, context }: TestedRouter,
): true | string[] {
  const langs = lists.flatMap(({ lang }) => lang ?? []);
  const all: string[] = [];
  for (const { lang, texts } of lists.length ? lists : [{ texts: [] }]) {
    const conditions = listConditions(type, texts, { value, router, context, category });
    if (conditions === true && langs.length === 0) return true;
    if (langs.length === 0) all.push(...(conditions as string[]));
    else if (conditions === true || conditions.length) {
      // The words of a language count for its callers only.
      const isSpoken =
        lang === undefined ? langs.map((one) => `lang != ${quote(one)}`).join(' and ') : `lang == ${quote(lang)}`;
      for (const one of conditions === true ? ['true'] : conditions)
        all.push(one === 'true' ? isSpoken : `${isSpoken} and (${one})`);
    }
  }
  return [...new Set(all)];
}

function listConditions(
  type: string,
  texts: readonly string[],
  { value, router, context, category }: TestedRouter & { readonly value: FlowExpression; readonly category: Category },
): true | string[] {
  const args = texts.map((text) => translateTemplate(text, router.node, context));
  if (args.some((arg) => arg === undefined)) return [];
  const constant = passesConstants(type, value, args as FlowExpression[]);
  if (constant === true) return true;
  if (constant === false) {
    noteNever(router, [category], { operand: value, context });
    return [];
  }
  const condition = testConditions(type, value, args as FlowExpression[]);
  if ('why' in condition) {
    context.onNote(
      router.node,
      `${type} ${texts.join(' ')}`.trim(),
      `It has no counterpart: ${condition.why}. This way is left out.`,
    );
    return [];
  }
  if (condition.differs) context.onNote(router.node, type, condition.differs);
  return [...condition.conditions];
}

function passesConstants(type: string, value: FlowExpression, args: readonly FlowExpression[]): boolean | undefined {
  if (value.value === undefined || args.some((arg) => arg.value === undefined)) return undefined;
  return passesTest(
    type,
    String(value.value ?? ''),
    args.map((arg) => String(arg.value ?? '')),
  );
}

// Flows of FLOIP → flows: blocks become steps, and what containers of ours keep beside them comes back.

import { type Flow, findExitScreen, isName, type Values, type Variable } from '../../format/flow.ts';
import { findCircles } from '../circles.ts';
import { makeName } from '../names.ts';
import { asObject, asText } from '../source.ts';
import { type Assembled, assembleFlow, type ConversionTarget, finishFlows } from '../steps/assemble.ts';
import type { Next, Step } from '../steps/step.ts';
import { makeVariables } from '../steps/variables.ts';
import { addBlock } from './blocks.ts';
import { type FloipContext, makeContext, nameProperty } from './context.ts';
import { type FloipFlow, isOwn } from './file.ts';
import { restoreScreen } from './own.ts';

interface FloipReading {
  readonly flow: FloipFlow;
  readonly context: FloipContext;
  readonly steps: Map<string, Step>;
  readonly entered: Set<string>;
}

interface Whole {
  readonly all: ReadonlyMap<string, FloipReading>;
  readonly circles: ReadonlyMap<string, ReadonlySet<string>>;
}

/** The flows of a container, each of them without an error of lint. */
export function convertFloipFlows(flows: readonly FloipFlow[], target: ConversionTarget): Flow[] {
  return finishFlows(assembleFloipFlows(flows, target), target);
}

/** The same before lint has seen them. */
export function assembleFloipFlows(
  flows: readonly FloipFlow[],
  { report }: Pick<ConversionTarget, 'report'>,
): Assembled[] {
  const all = new Map<string, FloipReading>();
  for (const flow of flows) {
    const context = makeContext({
      variables: makeVariables(),
      langs: flow.langs,
      webhooks: new Set(flow.blocks.flatMap(({ type, name }) => (type === 'Core.Webhook' ? [name.toLowerCase()] : []))),
      blocks: new Map(flow.blocks.map(({ given, name }) => [given.toLowerCase(), name])),
      ...(isOwn(flow) && { resultName: (block: string) => `result_${block}` }),
      onNote: (node, what, reason) => report.add({ flow: flow.name, node, what, reason }),
    });
    claimNames(flow, context);
    all.set(flow.uuid, { flow, context, steps: new Map(), entered: new Set() });
  }
  const whole: Whole = { all, circles: findCircles(new Map(flows.map((flow) => [flow.uuid, listEntered(flow)]))) };
  for (const reading of all.values()) readBlocks(reading, whole);
  const called = new Set([...all.values()].flatMap(({ entered }) => [...entered]));
  return [...all.values()].map((reading) => assemble(reading, { whole, isCalled: called.has(reading.flow.uuid) }));
}

/** Variables of a flow of ours keep their names and types. */
function claimNames({ own }: FloipFlow, { variables }: FloipContext): void {
  for (const [name, variable] of Object.entries(asObject(asObject(own.keys).vars))) {
    const { type } = asObject(variable);
    const isType = ['string', 'number', 'boolean', 'object', 'array'].includes(String(type));
    if (isType && isName(name))
      variables.name(`contact ${nameProperty(name).toLowerCase()}`, name, { type: type as Variable['type'] });
  }
}

function listEntered({ blocks }: FloipFlow): string[] {
  return blocks.flatMap(({ type, config }) => (type === 'Core.RunFlow' ? [asText(config.flow_id) ?? ''] : []));
}

function readBlocks(reading: FloipReading, whole: Whole): void {
  const { flow, context, steps } = reading;
  for (const block of flow.blocks) {
    const note = (what: string, reason: string) => context.onNote(block.uuid, what, reason);
    const enter = (uuid: string, next: Next) => enterStep(uuid, next, { reading, whole, block });
    addBlock({ flow, block, context, steps, note, enter });
    const made = steps.get(block.uuid)!;
    const hasOwn = block.own.screen !== undefined;
    if (hasOwn)
      steps.set(block.uuid, {
        ...made,
        decorate: (screen) => {
          const { screen: restored, stale } = restoreScreen(screen, block);
          for (const key of stale)
            note(key, 'The block was changed elsewhere, and what was kept of this key no longer belongs to it.');
          return restored;
        },
      } as Step);
  }
  const reached = new Set([
    flow.first,
    flow.exit,
    ...flow.blocks.flatMap(({ exits }) => exits.map(({ next }) => next)),
  ]);
  for (const { uuid, type } of flow.blocks)
    if (!reached.has(uuid)) context.onNote(uuid, type, 'No exit leads to this block; it is left out.');
}

function assemble(reading: FloipReading, { whole, isCalled }: { whole: Whole; isCalled: boolean }): Assembled {
  const { flow, context, steps } = reading;
  const graph = {
    flow: flow.name,
    steps,
    start: flow.first,
    roots: flow.exit === undefined || !steps.has(flow.exit) ? [] : [flow.exit],
    langs: flow.langs,
    isCalled,
    onNote: context.onNote,
    get output() {
      return collectOutput(reading, whole);
    },
  };
  const { langs, ...keys } = asObject(flow.own.keys) as Partial<Flow>;
  const isOneLanguage = langs === undefined && flow.langs.length === 1;
  const made = assembleFlow({
    graph,
    variables: context.variables,
    base: { note: `Converted from FLOIP: ${flow.title}`.slice(0, 300) },
    ...(isOwn(flow) && { whole: { ...(!isOneLanguage && { langs: flow.langs }), ...keys } }),
  });
  if (flow.exit !== undefined && findExitScreen(made.flow) === undefined)
    context.onNote(
      flow.exit,
      'exit_block_id',
      'Flows jump nowhere when something fails; the block is kept, and nothing leads to it.',
    );
  return made;
}

interface Entering {
  readonly reading: FloipReading;
  readonly whole: Whole;
  readonly block: { readonly uuid: string; readonly name: string };
}

function enterStep(uuid: string, next: Next, { reading, whole, block }: Entering): Step | undefined {
  const { context, flow, entered } = reading;
  const other = whole.all.get(uuid);
  if (!other) {
    context.onNote(block.uuid, `Core.RunFlow ${uuid}`, 'The flow is not in the file; export it, too. It is left out.');
    return undefined;
  }
  if (whole.circles.get(flow.uuid)?.has(uuid)) {
    context.onNote(
      block.uuid,
      `Core.RunFlow ${other.flow.title}`,
      'It leads back to this flow, and flows cannot call themselves. It is left out.',
    );
    return undefined;
  }
  entered.add(uuid);
  return {
    kind: 'enter',
    node: block.uuid,
    name: block.name,
    flow: other.flow.name,
    get with() {
      return valuesFor(reading, other);
    },
    get save() {
      const isRead = context.childReads.size > 0 || Object.keys(valuesBack(reading, other)).length > 0;
      return isRead ? context.child : undefined;
    },
    get done() {
      const set = valuesBack(reading, other);
      return [{ next, ...(Object.keys(set).length && { set }) }];
    },
  };
}

// The contact is the same in all flows.
function valuesFor({ context, flow }: FloipReading, other: FloipReading): Values {
  const values: Record<string, string> = {};
  if (flow.langs.length > 1 && other.flow.langs.length > 1) values.lang = '=lang';
  for (const [key, name] of other.context.properties) {
    const own = context.properties.get(key);
    if (own !== undefined) values[name] = `=${own}`;
  }
  for (const [block, name] of other.context.parentReads) values[name] = `=${context.result(block)}`;
  return values;
}

function valuesBack({ context }: FloipReading, other: FloipReading): Values {
  const shared = [...other.context.properties].flatMap(([key, name]) => {
    const own = context.properties.get(key);
    return own === undefined || own === 'phoneNumber' ? [] : [[own, `=${context.child}.${name}`] as const];
  });
  return Object.fromEntries(shared);
}

function collectOutput({ flow, context }: FloipReading, { all }: Whole): Values {
  const output: Record<string, string> = {};
  for (const other of all.values()) {
    if (!other.entered.has(flow.uuid)) continue;
    for (const block of other.context.childReads) output[makeName(block, 'result')] = `=${context.result(block)}`;
    for (const [key, name] of context.properties) if (other.context.properties.has(key)) output[name] = `=${name}`;
  }
  return output;
}

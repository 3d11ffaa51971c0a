// Converts flows of RapidPro: actions of nodes become steps, routers become ways.

import type { Flow, Values } from '../../format/flow.ts';
import { findCircles } from '../circles.ts';
import { makeName } from '../names.ts';
import { asObject, asText, type Foreign } from '../source.ts';
import { assembleFlow, type ConversionTarget, finishFlows, tryFlow } from '../steps/assemble.ts';
import type { Step, Words } from '../steps/step.ts';
import { makeVariables } from '../steps/variables.ts';
import { actionStep } from './actions.ts';
import { makeContext, makeKey, type RapidProContext } from './context.ts';
import type { ProFlow, ProNode } from './file.ts';
import { caseWays, type ProRouter, readRouter, splitByCases } from './router.ts';
import { waitStep } from './wait.ts';

interface RapidProReading {
  readonly flow: ProFlow;
  readonly context: RapidProContext;
  readonly steps: Map<string, Step>;
  /** Quick replies of a message, by the key of its step. */
  readonly replies: Map<string, readonly Words[]>;
  readonly all: ReadonlyMap<string, RapidProReading>;
  /** UUIDs of flows that this one must not call, because they lead back to it. */
  readonly circles: ReadonlySet<string>;
  readonly entered: Set<string>;
  /** Number of writers of each result, by key. */
  readonly writers: ReadonlyMap<string, number>;
}

/** The flows of an export, without lint errors. */
export function convertProFlows(flows: readonly ProFlow[], target: ConversionTarget): Flow[] {
  const { report } = target;
  const all = new Map<string, RapidProReading>();
  const circles = findCircles(new Map(flows.map((flow) => [flow.uuid, listEntered(flow)])));
  for (const flow of flows) {
    const onNote: RapidProContext['onNote'] = (node, what, reason) =>
      report.add({ flow: flow.name, node, what, reason });
    const context = makeContext({ variables: makeVariables(), langs: flow.langs, onNote });
    all.set(flow.uuid, {
      flow,
      context,
      steps: new Map(),
      replies: new Map(),
      all,
      circles: circles.get(flow.uuid) ?? new Set(),
      entered: new Set(),
      writers: countWriters(flow),
    });
  }
  for (const reading of all.values()) for (const node of reading.flow.nodes) readNode(node, reading);
  const called = new Set([...all.values()].flatMap(({ entered }) => [...entered]));
  const assembled = [...all.values()].flatMap((reading) => {
    const { flow } = reading;
    return tryFlow(flow.name, report, () => assemble(reading, called.has(flow.uuid))) ?? [];
  });
  return finishFlows(assembled, target);
}

function countWriters(flow: ProFlow): Map<string, number> {
  const writers = new Map<string, number>();
  for (const { actions, router } of flow.nodes) {
    const names = [
      router?.result_name,
      ...actions.flatMap(({ type, name, result_name }) => (type === 'set_run_result' ? [name] : [result_name])),
    ];
    for (const name of names) {
      const key = makeKey(asText(name) ?? '');
      writers.set(key, (writers.get(key) ?? 0) + 1);
    }
  }
  return writers;
}

function listEntered(flow: ProFlow): string[] {
  return flow.nodes.flatMap(({ actions }) =>
    actions.flatMap((action) => (action.type === 'enter_flow' ? [asText(asObject(action.flow).uuid) ?? ''] : [])),
  );
}

function assemble(reading: RapidProReading, isCalled: boolean) {
  const { flow, context, steps } = reading;
  const graph = {
    flow: flow.name,
    steps,
    start: flow.nodes[0]?.uuid,
    langs: flow.langs,
    isCalled,
    onNote: context.onNote,
    get output() {
      return collectOutput(reading);
    },
  };
  return assembleFlow({
    graph,
    variables: context.variables,
    note: `Converted from RapidPro: ${flow.title}`.slice(0, 300),
    minutes: flow.expiresAfter,
  });
}

/** Results that calling flows read from this one. */
function collectOutput({ flow, context, all }: RapidProReading): Values {
  const output: Record<string, string> = {};
  for (const other of all.values()) {
    if (!other.entered.has(flow.uuid)) continue;
    for (const key of other.context.childReads) output[makeName(key, 'result')] = `=${context.result(key)}`;
    for (const [key, name] of context.sharedNames) if (other.context.sharedNames.has(key)) output[name] = `=${name}`;
  }
  return output;
}

function readNode(node: ProNode, reading: RapidProReading): void {
  const { flow, context, steps } = reading;
  const name = nameNode(node, flow);
  const actions = node.actions.map((action, at) => ({ action, key: at === 0 ? node.uuid : `${node.uuid}/${at}` }));
  const routed = `${node.uuid}/router`;
  const after = node.router ? routed : node.firstExit;
  for (const [at, { action, key }] of actions.entries()) {
    const next = actions[at + 1]?.key ?? after;
    const place = {
      flow,
      context,
      node: node.uuid,
      name,
      next,
      enter: (one: Foreign) => enterStep(one, { reading, next, node: node.uuid, name }),
    };
    if (action.type === 'send_msg') reading.replies.set(key, listReplies(action, flow));
    const step = actionStep(action, place);
    steps.set(key, step ?? { kind: 'split', node: node.uuid, name, ways: [{ next }] });
  }
  if (actions.length === 0) steps.set(node.uuid, { kind: 'split', node: node.uuid, name, ways: [{ next: after }] });
  if (node.router) readRouting(node, node.router, { reading, name, key: routed });
}

interface Routing {
  readonly reading: RapidProReading;
  readonly name: string;
  readonly key: string;
}

function readRouting(node: ProNode, file: Foreign, { reading, name, key }: Routing): void {
  const { flow, context, steps } = reading;
  const router = readRouter(file, node, flow);
  const wait = file.wait === undefined || file.wait === null ? undefined : asObject(file.wait);
  if (file.type === 'random' || file.type === 'random_once') {
    context.onNote(node.uuid, `router ${file.type}`, 'Flows do nothing at random; the first way is always taken.');
    steps.set(key, { kind: 'split', node: node.uuid, name, ways: [{ next: router.categories[0]?.next }] });
    return;
  }
  if (!wait) {
    steps.set(key, splitByCases(router, { context, name: `${name}_split`.slice(0, 60) }));
    return;
  }
  if (wait.timeout !== undefined && wait.timeout !== null)
    context.onNote(node.uuid, 'wait.timeout', 'A phone menu ends when nobody answers; this way is left out.');
  if (asText(wait.type) !== 'msg' || wait.hint)
    context.onNote(
      node.uuid,
      `wait ${asText(asObject(wait.hint).type) ?? asText(wait.type) ?? ''}`,
      'The caller types a text instead.',
    );
  const save =
    router.result === undefined
      ? context.variables.name(`answer ${node.uuid}`, 'answer')
      : context.result(router.result);
  const split = `${node.uuid}/split`;
  // Reports about tests apply only if the tests are used; a menu needs none.
  const notes: Parameters<RapidProContext['onNote']>[] = [];
  const quiet: RapidProContext = Object.create(context, {
    onNote: { value: (...note: Parameters<RapidProContext['onNote']>) => notes.push(note) },
  });
  const ways = isInput(router)
    ? caseWays(router, context.variables.read(save), quiet)
    : splitByCases(router, { context: quiet, name }).ways;
  steps.set(split, { kind: 'split', node: node.uuid, name: `${name}_split`.slice(0, 60), ways });
  steps.set(
    key,
    waitStep({
      router,
      context,
      name,
      key,
      split,
      save,
      // A phone shows the quick replies of the last message only.
      replies: (shown) => reading.replies.get(shown.at(-1) ?? '') ?? [],
      mayBeNumber: router.result === undefined || reading.writers.get(makeKey(router.result)) === 1,
      step: (at) => steps.get(at),
      tellSplit: () => {
        for (const note of notes) context.onNote(...note);
      },
    }),
  );
}

const isInput = ({ operand }: ProRouter) => /^@\(?\s*input(?:\.text)?\s*\)?$/.test(operand);

function listReplies(message: Foreign, flow: ProFlow): Words[] {
  const [written, ...translated] = flow.lists(message, 'quick_replies');
  const findReply = (lang: string, at: number) => translated.find((one) => one.lang === lang)?.texts[at];
  return (written?.texts ?? []).map((reply, at) =>
    Object.fromEntries(flow.langs.map((lang) => [lang, findReply(lang, at) ?? reply])),
  );
}

interface Entering {
  readonly reading: RapidProReading;
  readonly next: string | undefined;
  readonly node: string;
  readonly name: string;
}

function enterStep(action: Foreign, { reading, next, node, name }: Entering): Step | undefined {
  const { context, all, circles, entered } = reading;
  const uuid = asText(asObject(action.flow).uuid) ?? '';
  const title = asText(asObject(action.flow).name) ?? uuid;
  const other = all.get(uuid);
  if (!other) {
    context.onNote(node, `enter_flow ${title}`, 'The flow is not in the file; export it, too. It is left out.');
    return undefined;
  }
  if (uuid === reading.flow.uuid && action.terminal === true)
    return { kind: 'split', node, name, ways: [{ next: reading.flow.nodes[0]?.uuid }] };
  if (circles.has(uuid)) {
    context.onNote(
      node,
      `enter_flow ${title}`,
      'It leads back to this flow, and flows cannot call themselves. It is left out.',
    );
    return undefined;
  }
  entered.add(uuid);
  const onward = action.terminal === true ? undefined : next;
  return {
    kind: 'enter',
    node,
    name: `enter_${other.flow.name}`.slice(0, 60),
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
      return [{ next: onward, ...(Object.keys(set).length && { set }) }];
    },
  };
}

/** Variables shared with the called flow, and results of this flow that it reads. */
function valuesFor({ context }: RapidProReading, other: RapidProReading): Values {
  const values: Record<string, string> = {};
  const declared = other.context.variables.all;
  for (const name of ['lang', 'phoneNumber'])
    if (context.variables.all.has(name) && declared.has(name)) values[name] = `=${name}`;
  for (const [key, name] of other.context.sharedNames) {
    const own = context.sharedNames.get(key);
    if (own !== undefined) values[name] = `=${own}`;
  }
  for (const [key, name] of other.context.parentReads) values[name] = `=${context.result(makeKey(key))}`;
  return values;
}

function valuesBack({ context }: RapidProReading, other: RapidProReading): Values {
  const shared = [...other.context.sharedNames].flatMap(([key, name]) => {
    const own = context.sharedNames.get(key);
    return own === undefined ? [] : [[own, `=${context.child}.${name}`] as const];
  });
  return Object.fromEntries(shared);
}

function nameNode({ uuid, actions, router }: ProNode, flow: ProFlow): string {
  const result = asText(router?.result_name);
  const message = actions.find(({ type }) => type === 'send_msg');
  const text = message ? (Object.values(flow.words(message, 'text'))[0] ?? '') : '';
  const words = text
    .replace(/@\([^)]*(?:\)|$)|@[\w.]+|[^\p{L}\p{N}\s]/gu, ' ')
    .split(/\s+/)
    .filter(Boolean)
    .slice(0, 4)
    .join('_');
  const resultName = actions.map((action) => asText(action.result_name)).find(Boolean);
  const wish =
    result ?? resultName ?? (words || (actions[0]?.type ?? asText(router?.operand)?.replace(/\W+/g, '_') ?? 'step'));
  return makeName(String(wish).toLowerCase(), makeName(`n_${uuid}`, 'step')).slice(0, 30);
}

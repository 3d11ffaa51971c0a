// Repairs the lint errors of a converted flow, by error code, and reports them.

import type { Flow, Text } from '../../format/flow.ts';
import type { Problem } from '../../format/problem.ts';
import { parsePointer } from '../../format/source.ts';
import { checkFlow, type LintContext } from '../../lint/lint.ts';
import type { ConversionReport } from '../report.ts';
import { refuseFlow } from '../source.ts';

export interface Repair {
  readonly report: ConversionReport;
  readonly contracts?: LintContext['contracts'];
  readonly others: ReadonlyMap<string, Flow>;
  readonly nodes: ReadonlyMap<string, string>;
}

// biome-ignore lint/suspicious/noExplicitAny: a flow while it is changed, by pointers into its JSON
type Loose = any;

interface FaultyScreen {
  readonly problem: Problem;
  readonly flow: Loose;
  /** The steps of its pointer. */
  readonly steps: readonly string[];
  /** Id of its screen. */
  readonly id: string;
}

const ROUNDS_MAX = 100;

/** The flow without lint errors. Throws ERR_INPUT with the errors that cannot be repaired. */
export function repairFlow(flow: Flow, { report, others, nodes, contracts }: Repair): Flow {
  const changed: Loose = structuredClone(flow);
  for (let round = 0; ; round++) {
    const { problems } = checkFlow(JSON.stringify(changed), `${flow.flow}.flow.json`, { flows: others, contracts });
    const errors = problems.filter(({ severity }) => severity === 'error');
    if (errors.length === 0) {
      reportPages(problems, { flow: flow.flow, nodes, report });
      return changed as Flow;
    }
    const fixes = round < ROUNDS_MAX ? mendErrors(errors, changed) : [];
    if (fixes.length === 0) throw refuseFlow(flow.flow, errors);
    for (const { id, how } of fixes)
      report.add({ flow: flow.flow, node: nodes.get(id) ?? '', what: id ? `screen "${id}"` : 'the flow', reason: how });
  }
}

/** Repairs the first error of each screen, because others may disappear with it. */
function mendErrors(errors: readonly Problem[], flow: Loose): { readonly id: string; readonly how: string }[] {
  const fixes = new Map<string, string>();
  for (const problem of errors) {
    const steps = parsePointer(problem.pointer);
    const id = steps[0] === 'screens' ? steps[1]! : '';
    if (fixes.has(id)) continue;
    const fault = { problem, flow, steps, id };
    const how = MENDS[problem.code]?.(fault) ?? mendPlace(fault);
    if (how !== undefined) fixes.set(id, how);
  }
  return [...fixes].map(([id, how]) => ({ id, how }));
}

function reportPages(
  problems: readonly Problem[],
  { flow, nodes, report }: { flow: string; nodes: ReadonlyMap<string, string>; report: ConversionReport },
): void {
  for (const { code, pointer, message } of problems) {
    const id = parsePointer(pointer)[1] ?? '';
    if (code === 'too-long') report.add({ flow, node: nodes.get(id) ?? '', what: `screen "${id}"`, reason: message });
  }
}

type Mend = (fault: FaultyScreen) => string | undefined;

const EXIT_KEYS = ['*', '#', '00', '0', '99', '##'];

const addExit: Mend = ({ flow, problem }) => {
  const keys = new Set<string>([
    ...Object.values(flow.keys ?? {}).map(String),
    ...Object.values<Loose>(flow.screens).flatMap((screen) =>
      (screen.options ?? []).map((option: Loose, at: number) => option.key ?? String(at + 1)),
    ),
  ]);
  const exit = EXIT_KEYS.find((key) => !keys.has(key));
  if (exit === undefined || flow.keys?.exit) return undefined;
  flow.keys = { ...flow.keys, exit };
  return `${problem.message} The key "${exit}" ends the conversation now.`;
};

const endBranch: Mend = ({ flow, id, problem }) => {
  const { branch } = flow.screens[id] ?? {};
  if (!branch) return undefined;
  for (const way of branch) if (leadsBack(flow, way.to, id)) way.to = addEnd(flow, 'end_here', 'Goodbye.');
  return `${problem.message} The conversation ends there now.`;
};

/** Whether one screen leads to another through branches only. */
function leadsBack(flow: Loose, from: string, to: string): boolean {
  const reached = new Set([from]);
  for (const id of reached) {
    if (id === to) return true;
    const { type, branch } = flow.screens[id] ?? {};
    if (type === 'branch') for (const way of branch) reached.add(way.to);
  }
  return false;
}

const failElsewhere: Mend = ({ flow, id, problem }) => {
  flow.screens[id].fail = addEnd(flow, 'trouble', 'This cannot be done now. Please try again later.');
  return `${problem.message} It ends with an excuse now.`;
};

/** Splits an end that is too long: the last words stay, the rest becomes a menu before it, which can have pages. */
const splitEnd: Mend = ({ flow, id, problem }) => {
  const screen = flow.screens[id];
  if (screen?.type !== 'end' || /_last(?:_\d+)?$/.test(id)) return undefined;
  const to = freeId(flow, `${id.slice(0, 50)}_last`);
  flow.screens[to] = { ...screen, text: mapText(screen.text, cutLastWords) };
  flow.screens[id] = {
    type: 'menu',
    text: mapText(screen.text, cutFirstWords),
    options: [{ id: 'ok', text: 'OK', to }],
  };
  return `${problem.message} It is shown in pages, and the last words of it end the conversation.`;
};

const passBy: Mend = ({ flow, id, problem }) => {
  const screen = flow.screens[id];
  if (screen?.type !== 'flow') return undefined;
  const to = typeof screen.done === 'string' ? screen.done : screen.done.at(-1).to;
  flow.screens[id] = { type: 'branch', branch: [{ to }] };
  return `${problem.message} It is left out.`;
};

const MENDS: { readonly [code: string]: Mend } = {
  'no-end': addExit,
  'dead-end': addExit,
  spin: endBranch,
  'no-failure-path': failElsewhere,
  'too-long': splitEnd,
  'flow-circle': passBy,
  'flow-depth': passBy,
  'unknown-flow': passBy,
};

/** Removes the condition, value or placeholder that an error points to. */
function mendPlace({ flow, steps, problem }: FaultyScreen): string | undefined {
  const at = steps.findLastIndex((step) => step === 'when' || step === 'set' || step === 'with' || step === 'output');
  const why = `${problem.message} It is left out.`;
  if (at >= 0) {
    const owner = readPlace(flow, steps.slice(0, at));
    const place = steps[at]!;
    if (place !== 'when') {
      const name = steps[at + 1];
      if (name === undefined || !Object.hasOwn(owner[place] ?? {}, name)) return undefined;
      delete owner[place][name];
      if (!Object.keys(owner[place]).length && place !== 'with') delete owner[place];
      return why;
    }
    const list = readPlace(flow, steps.slice(0, at - 1));
    if (!Array.isArray(list) || list.length < 2) delete owner.when;
    else list.splice(Number(steps[at - 1]), 1);
    return why;
  }
  const slot = steps.findIndex((step) => step === 'text' || step === 'row' || step === 'error' || step === 'empty');
  if (slot < 0) return steps.includes('accept') ? dropAccept(flow, steps, why) : undefined;
  const owner = readPlace(flow, steps.slice(0, slot));
  const plain = mapText(owner[steps[slot]!], (text) => text.replace(/\{\{[^}]*\}?\}?/g, ''));
  if (JSON.stringify(plain) === JSON.stringify(owner[steps[slot]!])) return undefined;
  owner[steps[slot]!] = plain;
  return why;
}

function dropAccept(flow: Loose, steps: readonly string[], why: string): string {
  delete readPlace(flow, steps.slice(0, 2)).accept;
  return why;
}

function readPlace(flow: Loose, steps: readonly string[]): Loose {
  return steps.reduce((here, step) => here?.[step], flow) ?? {};
}

function addEnd(flow: Loose, wish: string, text: string): string {
  const screen = flow.screens[wish];
  if (screen?.type === 'end' && screen.text === text) return wish;
  const id = freeId(flow, wish);
  flow.screens[id] = { type: 'end', text };
  return id;
}

function freeId(flow: Loose, wish: string): string {
  let id = wish;
  for (let count = 2; Object.hasOwn(flow.screens, id); count++) id = `${wish}_${count}`;
  return id;
}

function mapText(text: Text, change: (text: string) => string): Text {
  if (typeof text === 'string') return change(text);
  return Object.fromEntries(Object.entries(text).map(([lang, one]) => [lang, change(one)]));
}

const LAST_CHARS = 60;

/** The start of the last words: after a line, a sentence or a space, outside `{{ }}`. */
function findLastWords(text: string): number {
  const from = Math.max(1, text.length - LAST_CHARS);
  for (const pattern of [/\n/g, /[.!?]\s/g, /\s/g]) {
    const offsets = [...text.slice(from).matchAll(pattern)].map((one) => from + one.index + one[0].length);
    const place = offsets.find((at) => at < text.length && !/\{\{[^}]*$/.test(text.slice(0, at)));
    if (place !== undefined) return place;
  }
  return from;
}

const cutLastWords = (text: string) => text.slice(findLastWords(text)).trim() || 'Goodbye.';
const cutFirstWords = (text: string) => text.slice(0, findLastWords(text)).trim() || text;

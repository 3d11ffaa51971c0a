// `twinline graph`: exports flows, custom machines and lifecycles as diagrams, as text for documents, or as machines for Stately's tools.

import { statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import pc from 'picocolors';
import { machineConfig } from '../../../lib/diagram/machine-drawing.ts';
import { mermaidText } from '../../../lib/diagram/mermaid.ts';
import { coverageOverlay } from '../../../lib/diagram/svg.ts';
import { makeView } from '../../../lib/diagram/view.ts';
import { suggest } from '../../../lib/flow/expression/suggest.ts';
import { isFlow } from '../../../lib/flow/run/compile.ts';
import type { Coverage } from '../../../lib/flow/testing/coverage.ts';
import { type CheckedMenus, checkMenus } from '../../menus/check.ts';
import { readMachines } from '../../menus/machines.ts';
import { cutFlowName, listRefused } from '../../menus/menus.ts';
import { type Drawable, drawSvg, findDrawing, LIFECYCLES } from '../../web/diagram/drawings.ts';
import { type Layout, layout } from '../../web/diagram/layout.ts';
import { showProgress, writeOutput } from '../terminal.ts';
import { findMenusDir, UsageError, type Verb } from '../verb.ts';

const OPTIONS = {
  svg: { type: 'boolean' },
  mermaid: { type: 'boolean' },
  xstate: { type: 'boolean' },
  out: { type: 'string' },
  focus: { type: 'string' },
  coverage: { type: 'boolean' },
  'menus-dir': { type: 'string' },
} as const;

export const graphVerb: Verb = {
  usage: '[flow, machine or module …] [options]',
  options: {
    '--svg': 'a diagram, light and dark; the default',
    '--mermaid': 'a stateDiagram-v2, for Markdown',
    '--xstate': 'the machine as JSON, as createMachine and the tools of Stately read it',
    '--out <file>':
      'a file, or a folder for several; default is standard output, and for SVG in a terminal a file here',
    '--focus <state>': 'only what is within two steps of a state, or what a state holds',
    '--coverage': 'show what the tests beside the flow never reach',
    '--menus-dir <value>': 'the folder of the flows, default MENUS_DIR, else ./menus',
    '(a module)': 'a path such as ./order.js: the machines that it exports',
    '(no names)': `every flow, and the machines ${Object.keys(LIFECYCLES).join(', ')}`,
  },
  run: async (args, env) => {
    const { values, positionals } = parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
    const form = chooseForm(values);
    const folder = values['menus-dir'] ?? findMenusDir(env);
    const own = await readModules(positionals.filter(isModule));
    const requestedNames = positionals.filter((name) => !isModule(name));
    const isAll = positionals.length === 0;
    const menus =
      isAll || requestedNames.length
        ? await readMenus(folder, { names: requestedNames, covers: values.coverage ?? false })
        : NO_MENUS;
    const choice = isAll || requestedNames.length ? chooseNames(requestedNames, menus) : { names: [], broken: [] };
    const names = [...new Set([...choice.names, ...own.keys()])];
    const drawables = new Map<string, Drawable>([...menus.compiled, ...own]);
    const { focus, out } = values;
    if (focus !== undefined) checkFocus(focus, names, drawables);
    const place = choosePlace(out, { names, isAll, form });
    const errors = listErrors(menus, isAll ? undefined : choice.broken);
    for (const error of errors) console.error(pc.red(error));
    for (const flow of values.coverage ? menus.untested : [])
      console.error(pc.yellow(`${flow}: no ${flow}.test.json beside it`));
    const coverage = new Map(menus.reports.map((report) => [report.flow, report.coverage]));
    await drawAll(names, { form, place, focus, coverage, drawables });
    return errors.length ? 1 : 0;
  },
};

type GraphFlags = { readonly [name in 'svg' | 'mermaid' | 'xstate' | 'coverage']?: boolean } & {
  readonly focus?: string;
};

function chooseForm(values: GraphFlags): FormName {
  const forms = (['svg', 'mermaid', 'xstate'] as const).filter((form) => values[form]);
  if (forms.length > 1) throw new UsageError(`Choose one of ${forms.map((form) => `--${form}`).join(' and ')}.`);
  const form = forms[0] ?? 'svg';
  if (values.coverage && form !== 'svg') throw new UsageError(`--coverage is drawn in SVG only: leave --${form} out.`);
  if (values.focus !== undefined && form === 'xstate')
    throw new UsageError('A machine is exported whole: leave --focus or --xstate out.');
  return form;
}

const NO_MENUS: CheckedMenus = {
  ...{ compiled: new Map(), problems: [], failures: [], files: [], reports: [], untested: [], updated: 0, notRun: 0 },
};

async function readMenus(
  folder: string,
  { names, covers }: { names: readonly string[]; covers: boolean },
): Promise<CheckedMenus> {
  const needsFlows = names.length === 0 || names.some((name) => !Object.hasOwn(LIFECYCLES, name));
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) {
    if (needsFlows) throw new UsageError(`There is no folder ${folder}.`);
    return NO_MENUS;
  }
  return checkMenus({ folder }, { flow: (name) => covers && (names.length === 0 || names.includes(name)) });
}

// Names of flows and machines contain neither character.
const isModule = (name: string): boolean => /[\\/]|\.[cm]?[jt]s$/.test(name);

/** The machines of these modules, by name. Throws ERR_CONFIG if a module exports none. */
async function readModules(modules: readonly string[]): Promise<ReadonlyMap<string, Drawable>> {
  const drawables = new Map<string, Drawable>();
  for (const module of modules) {
    const machines = await readMachines(module, process.cwd());
    for (const { id, source } of machines) drawables.set(id, { id, machine: { source } });
  }
  return drawables;
}

/** What to draw, and the requested flows that have errors. Throws {@link UsageError} for unknown names. */
function chooseNames(
  requestedNames: readonly string[],
  { compiled, files }: CheckedMenus,
): { names: string[]; broken: string[] } {
  const flows = new Set(files.map(cutFlowName));
  const allNames = [...new Set([...compiled.keys(), ...Object.keys(LIFECYCLES)])];
  const all = [...new Set([...flows, ...allNames])];
  const unknown = requestedNames.find((name) => !all.includes(name));
  if (unknown !== undefined)
    throw new UsageError(
      `There is no flow and no machine "${unknown}".${suggest(unknown, all)} There are: ${all.join(', ')}.`,
    );
  const selection = requestedNames.length ? [...new Set(requestedNames)] : allNames;
  return {
    names: selection.filter((name) => allNames.includes(name)),
    broken: selection.filter((name) => !allNames.includes(name)),
  };
}

function listErrors({ problems, failures }: CheckedMenus, only: readonly string[] | undefined): string[] {
  if (only === undefined) return listRefused({ problems, failures });
  const ownProblems = problems.filter(({ file }) => only.includes(cutFlowName(file)));
  return listRefused({ problems: ownProblems, failures: only.length ? failures : [] });
}

function checkFocus(focus: string, names: readonly string[], drawables: ReadonlyMap<string, Drawable>): void {
  if (names.length > 1) throw new UsageError('--focus is about one flow or machine: name which.');
  const [name] = names;
  if (name === undefined) return;
  const states = findDrawing(name, drawables).states.map(({ id }) => id);
  if (!states.includes(focus)) throw new UsageError(`"${name}" has no state "${focus}".${suggest(focus, states)}`);
}

type OutputPath = (name: string) => string | undefined;

/** The file of each name, or undefined for standard output, which is no place for a picture when it is a terminal. Throws {@link UsageError} when several would share one. */
function choosePlace(
  out: string | undefined,
  { names, isAll, form }: { names: readonly string[]; isAll: boolean; form: FormName },
): OutputPath {
  const isMany = isAll || names.length > 1;
  if (out === undefined || out === '-') {
    if (isMany)
      throw new UsageError(`Name one flow or machine, or give --out <folder> for all of: ${names.join(', ')}.`);
    // The source of a picture is not readable.
    const isShown = out === undefined && form === 'svg' && process.stdout.isTTY;
    return (name) => (isShown ? name + FORMS[form].ending : undefined);
  }
  const isFolder = isMany || /[\\/]$/.test(out) || statSync(out, { throwIfNoEntry: false })?.isDirectory() === true;
  return (name) => (isFolder ? join(out, name + FORMS[form].ending) : out);
}

interface DrawingJob {
  readonly form: FormName;
  readonly place: OutputPath;
  readonly focus: string | undefined;
  readonly coverage: ReadonlyMap<string, Coverage>;
  readonly drawables: ReadonlyMap<string, Drawable>;
}

async function drawAll(
  names: readonly string[],
  { form, place, focus, coverage, drawables }: DrawingJob,
): Promise<void> {
  const worker = layout();
  const shown = await showProgress({ total: names.length, stream: process.stderr, unit: 'diagrams' });
  const notices: string[] = [];
  const paths: string[] = [];
  try {
    for (const [at, machine] of names.entries()) {
      const request: DrawingRequest = {
        machine,
        drawables,
        focus,
        coverage: coverage.get(machine),
        layout: worker,
      };
      const { text, notice } = await FORMS[form].make(request);
      const file = place(machine);
      if (file === undefined) console.log(text.trimEnd());
      else {
        writeOutput(file, text);
        paths.push(file);
      }
      if (notice !== undefined) notices.push(notice);
      shown.update(at + 1, { lines: at + 1 });
    }
  } finally {
    shown.stop();
    await worker.close();
  }
  for (const notice of notices) console.error(pc.yellow(notice));
  if (paths.length === 1) console.error(`${paths[0]} written`);
  else if (paths.length) console.error(`${paths.length} files written to ${dirname(paths[0]!)}`);
}

type FormName = 'svg' | 'mermaid' | 'xstate';

interface DrawingRequest {
  readonly machine: string;
  /** Flows and machines by name, besides the lifecycles. */
  readonly drawables: ReadonlyMap<string, Drawable>;
  /** The state around which a part is drawn. */
  readonly focus?: string | undefined;
  readonly coverage?: Coverage | undefined;
  readonly layout: Layout;
}

interface DrawingText {
  readonly text: string;
  /** Printed if only a part is shown without being requested. */
  readonly notice?: string;
}

interface DrawingForm {
  /** Of files. */
  readonly ending: string;
  make(request: DrawingRequest): Promise<DrawingText>;
}

export const FORMS: { readonly [form in FormName]: DrawingForm } = {
  svg: {
    ending: '.svg',
    make: async ({ machine, drawables, focus, coverage, layout }) => {
      const whole = findDrawing(machine, drawables);
      const { drawing, focus: around } = makeView(whole, { focus, narrow: 'always' });
      const overlay = coverage ? coverageOverlay(whole, coverage) : {};
      const text = await drawSvg(drawing, { ...overlay, layout });
      if (around === undefined || focus !== undefined) return { text };
      const shown = `${drawing.states.length} of its ${whole.states.length} states are drawn, around "${around}"`;
      const others = '--focus <state> shows others; --mermaid and --xstate have all of them';
      return { text, notice: `${machine} is large: ${shown}. ${others}.` };
    },
  },
  mermaid: {
    ending: '.mmd',
    make: async ({ machine, drawables, focus }) => {
      const whole = findDrawing(machine, drawables);
      return { text: mermaidText(focus === undefined ? whole : makeView(whole, { focus, narrow: 'always' }).drawing) };
    },
  },
  xstate: {
    ending: '.machine.json',
    make: async ({ machine, drawables }) => {
      const conversation = drawables.get(machine);
      const source = conversation ? conversation.machine.source : LIFECYCLES[machine]!.machine();
      const config = conversation && isFlow(conversation) ? conversation.config : machineConfig(source);
      return { text: `${JSON.stringify(config, null, 2)}\n` };
    },
  },
};

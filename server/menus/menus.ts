// The menus of a folder: read, checked and compiled for a start; and while the server runs, each edit is tested, then served or
// refused, and logged.

import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { watch } from 'chokidar';
import type { Library } from '../../lib/engine/conversation.ts';
import { TwinlineError } from '../../lib/errors.ts';
import type { Flow } from '../../lib/flow/format/flow.ts';
import { invalidFlow, loadFlows } from '../../lib/flow/format/load.ts';
import { FLOW_FILE } from '../../lib/flow/format/parse.ts';
import { type Problem, problemLine } from '../../lib/flow/format/problem.ts';
import { type CompiledFlow, compileFlow } from '../../lib/flow/run/compile.ts';
import { FLOW_TEST_FILE, type ParsedFlowTests, parseFlowTests } from '../../lib/flow/testing/file.ts';
import { failureText, runFlowTests } from '../../lib/flow/testing/run.ts';
import type { Log } from '../health/log.ts';

export interface MenuFolder {
  readonly folder: string;
  /** Names of the services that flows may call; without it, they are not checked. */
  readonly services?: ReadonlySet<string> | undefined;
}

export interface Menus {
  /** The flows that compile, by name. */
  readonly compiled: ReadonlyMap<string, CompiledFlow>;
  readonly problems: readonly Problem[];
  /** Why flows without problems still do not compile. */
  readonly failures: readonly string[];
  /** Flow files that were read. */
  readonly files: readonly string[];
}

/** Reads and compiles the menus of a folder. Throws ERR_CONFIG when the folder cannot be read. */
export async function readMenus({ folder, services }: MenuFolder): Promise<Menus> {
  const { flows, problems, files } = await loadFlows(folder, services ? { services } : {});
  const compiled = new Map<string, CompiledFlow>();
  const failures: string[] = [];
  for (const flow of flows.values()) {
    const result = tryCompile(flow, flows);
    if (typeof result === 'string') failures.push(result);
    else compiled.set(flow.flow, result);
  }
  return { compiled, problems, failures, files };
}

/**
 * The menus for a start: those that are broken are left out, but `needed` must be there. Throws ERR_FLOW_INVALID with
 * all that is wrong with it, or ERR_FLOW_UNKNOWN with the names of those that there are.
 */
export async function loadMenus(folder: MenuFolder, needed: string): Promise<Menus> {
  const menus = await readMenus(folder);
  if (menus.compiled.has(needed)) return menus;
  const file = join(folder.folder, needed + FLOW_FILE);
  const words = `Cannot start: the flow "${needed}" (USSD_FLOW)`;
  if (!menus.files.includes(file)) {
    const names = [...menus.compiled.keys()].join(', ') || 'none';
    throw new TwinlineError('ERR_FLOW_UNKNOWN', `${words} is not in ${folder.folder}. Flows there: ${names}.`);
  }
  const own = menus.problems.filter((problem) => problem.file === file);
  throw invalidFlow([`${words} has errors.`, ...menus.failures].join('\n'), own);
}

export interface MenuWatch {
  /** Resolves once the folder is watched. */
  readonly ready: Promise<void>;
  /** Looks at the folder now, as after an edit. Never rejects. */
  reload(): Promise<void>;
  close(): Promise<void>;
}

export interface WatchOptions {
  readonly menus: MenuFolder;
  readonly library: Library<CompiledFlow>;
  readonly log: Log;
  /** Something was refused. */
  readonly onProblem?: () => void;
  /** Milliseconds of quiet after the last change before the folder is read. @default 100 */
  readonly quietMs?: number;
}

/** Watches a folder of menus. Where the file system sends no events (some network mounts), `reload` does the same. */
export function watchMenus({ menus, library, log, onProblem, quietMs = 100 }: WatchOptions): MenuWatch {
  const watcher = watch(menus.folder, {
    depth: 0,
    ignoreInitial: true,
    ignored: (path, stats) => stats?.isFile() === true && !path.endsWith('.json'),
  });
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();
  let logged = '';

  const reloadOnce = async (): Promise<void> => {
    const { taken, refused, problems, orphans } = await reloadMenus(menus, library);
    for (const { flow, version } of taken) log.info({ flow, version }, 'an edited menu is served from now on');
    const words = [
      ...problems.map(problemLine),
      ...refused,
      ...orphans.map((flow) => `flow "${flow}": its file is gone; the last version is served until the next start`),
    ];
    // One edit changes one file: the problems of the others have been logged before.
    if (words.join('\n') === logged) return;
    logged = words.join('\n');
    for (const line of words) log.warn(line);
    if (!refused.length && !problems.some(({ severity }) => severity === 'error')) return;
    onProblem?.();
    log.warn('menus with errors stay as they were, where they were served');
  };
  const reload = (): Promise<void> => {
    running = running.then(reloadOnce).catch((error) => {
      onProblem?.();
      log.error({ err: error }, 'menus were not reloaded');
    });
    return running;
  };

  watcher.on('all', () => {
    clearTimeout(timer);
    timer = setTimeout(reload, quietMs);
  });
  watcher.on('error', (error) =>
    log.warn({ err: error }, 'edits of menus may go unnoticed: send SIGHUP after an edit'),
  );
  return {
    ready: new Promise((resolve) => watcher.once('ready', resolve)),
    reload,
    close: async () => {
      clearTimeout(timer);
      await watcher.close();
      await running;
    },
  };
}

/** What became of the edits of a folder. */
interface Reloaded {
  readonly taken: readonly { readonly flow: string; readonly version: number }[];
  /** Why others stay as they run; in words, one problem each. */
  readonly refused: readonly string[];
  readonly problems: readonly Problem[];
  /** Running flows whose file is gone. */
  readonly orphans: readonly string[];
}

/**
 * Checks, compiles and tests what has changed in the folder, and adds what passes to the library. A flow that calls a
 * changed one changes with it and is tested again; where the called one is refused, it goes on with the running form.
 */
async function reloadMenus({ folder, services }: MenuFolder, library: Library<CompiledFlow>): Promise<Reloaded> {
  const { flows, problems, files } = await loadFlows(folder, services ? { services } : {});
  const taken: Reloaded['taken'][number][] = [];
  const refused: string[] = [];
  const accepted = new Map(library.ids.map((name) => [name, library.current(name)!.flow]));
  for (const flow of calledFirst(flows)) {
    const before = accepted.get(flow.flow);
    accepted.set(flow.flow, flow);
    const next = tryCompile(flow, accepted);
    if (typeof next !== 'string' && isSame(next, library.current(flow.flow))) continue;
    const reasons = typeof next === 'string' ? [next] : await failedTests(next, folder);
    if (typeof next !== 'string' && reasons.length === 0) {
      library.add(next);
      taken.push({ flow: flow.flow, version: flow.version });
      continue;
    }
    refused.push(...reasons);
    if (before) accepted.set(flow.flow, before);
    else accepted.delete(flow.flow);
  }
  const names = new Set(files.map(cutFlowName));
  return { taken, refused, problems, orphans: library.ids.filter((name) => !names.has(name)) };
}

function isSame(one: CompiledFlow, other: CompiledFlow | undefined): boolean {
  return one.hash === other?.hash && one.version === other.version;
}

async function failedTests(compiled: CompiledFlow, folder: string): Promise<string[]> {
  const tests = await readTests(folder, compiled.id);
  if (!tests) return [];
  if (!tests.file) return tests.problems.map(problemLine);
  const report = await runFlowTests(compiled, tests.file);
  return report.tests.flatMap(({ name, failures }) =>
    failures.map((failure) => `flow "${compiled.id}", test "${name}": ${failureText(failure)}`),
  );
}

// A flow comes after those that it calls; circles were refused by lint.
function calledFirst(flows: ReadonlyMap<string, Flow>): Flow[] {
  const order = new Set<Flow>();
  const visit = (flow: Flow, around: readonly Flow[]): void => {
    if (order.has(flow) || around.includes(flow)) return;
    for (const screen of Object.values(flow.screens)) {
      const called = screen.type === 'flow' ? flows.get(screen.flow) : undefined;
      if (called) visit(called, [...around, flow]);
    }
    order.add(flow);
  };
  for (const flow of flows.values()) visit(flow, []);
  return [...order];
}

/** The tests beside a flow, or undefined when there are none. */
export async function readTests(folder: string, flow: string): Promise<ParsedFlowTests | undefined> {
  const file = join(folder, flow + FLOW_TEST_FILE);
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  return text === undefined ? undefined : parseFlowTests(text, file);
}

/** The flow compiled, or in words why it cannot be. */
export function tryCompile(flow: Flow, flows: ReadonlyMap<string, Flow>): CompiledFlow | string {
  try {
    return compileFlow(flow, { flows });
  } catch (error) {
    if (error instanceof TwinlineError) return `flow "${flow.flow}": ${error.message}`;
    throw error;
  }
}

/** `menus/main.flow.json` → `main` */
export const cutFlowName = (file: string) => basename(file, FLOW_FILE);

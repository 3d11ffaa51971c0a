// While a server runs, each edit of its menus is tested, then served or refused, and logged.

import { watch } from 'chokidar';
import type { Library } from '../../lib/engine/conversation.ts';
import { type Flow, listCalled } from '../../lib/flow/format/flow.ts';
import { loadFlows } from '../../lib/flow/format/load.ts';
import { type Problem, problemLine } from '../../lib/flow/format/problem.ts';
import { type CompiledFlow, flowCompiler, flowsIn } from '../../lib/flow/run/compile.ts';
import { failureText, runFlowTests } from '../../lib/flow/testing/run.ts';
import type { Log } from '../telemetry/log.ts';
import { CONTRACTS } from './contracts.ts';
import { cutFlowName, listRefused, type MenuFolder, readTests, sayTaken, tryCompile } from './menus.ts';

export interface MenuWatch {
  /** Resolves once the folder is watched. */
  readonly ready: Promise<void>;
  /** Flows and tests that stand in the way of what was edited last, in words, one problem each; empty when all is served. */
  refused(): readonly string[];
  /** How many edits were served and how many refused since the start. */
  readonly edits: { readonly served: number; readonly refused: number };
  /** Looks at the folder now, as after an edit. Never rejects. */
  reload(): Promise<void>;
  close(): Promise<void>;
}

export interface WatchOptions {
  readonly menus: MenuFolder;
  readonly library: Library;
  readonly log: Log;
  /** Told of each flow that is served from now on. */
  readonly onServed: (flow: CompiledFlow) => void;
  /** Something was refused. */
  readonly onProblem?: () => void;
  /** Milliseconds of quiet after the last change before the folder is read. @default 100 */
  readonly quietMs?: number;
  /** What was refused at the start. @default nothing */
  readonly refused?: readonly string[];
}

/** Watches a folder of menus. Where the file system sends no events (some network mounts), `reload` does the same. */
export function watchMenus(options: WatchOptions): MenuWatch {
  const { menus, library, log, onServed, onProblem, quietMs = 100 } = options;
  const watcher = watch(menus.folder, {
    depth: 0,
    ignoreInitial: true,
    ignored: (path, stats) => stats?.isFile() === true && !path.endsWith('.json'),
  });
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();
  let logged = '';
  let refusals: readonly string[] = options.refused ?? [];
  const edits = { served: 0, refused: 0 };

  let watched = menus.folder;

  const reloadOnce = async (): Promise<void> => {
    if (watched !== menus.folder) {
      watcher.unwatch(watched);
      watched = menus.folder;
      watcher.add(watched);
    }
    const { taken, refused, problems, orphans } = await reloadMenus(menus, { library, onServed });
    for (const { flow, version } of taken) log.info({ flow, version }, 'an edited menu is served from now on');
    edits.served += taken.length;
    refusals = listRefused({ problems, failures: refused });
    const words = [
      ...problems.map(problemLine),
      ...refused,
      ...orphans.map((flow) => `flow "${flow}": its file is gone; the last version is served until the next start`),
    ];
    // One edit changes one file: the problems of the others have been logged before.
    if (words.join('\n') === logged) return;
    const isMended = words.length === 0;
    logged = words.join('\n');
    if (isMended) log.info('all menus are in order again');
    for (const line of words) log.warn(line);
    if (!refusals.length) return;
    edits.refused++;
    onProblem?.();
    log.warn('menus with errors stay as they were, where they were served');
    if (refused.length) log.warn('if what is shown now is right: npx twinline test --update writes it into the tests');
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
    refused: () => refusals,
    edits,
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
async function reloadMenus(
  { folder, services, rules, doors, clock, machines = new Set() }: MenuFolder,
  { library, onServed }: Pick<WatchOptions, 'library' | 'onServed'>,
): Promise<Reloaded> {
  const { flows, problems, files } = await loadFlows(folder, { services, rules, doors, contracts: CONTRACTS });
  const taken: Reloaded['taken'][number][] = [];
  const refused = files.filter((file) => machines.has(cutFlowName(file))).map(sayTaken);
  const served = flowsIn(library);
  const accepted = new Map([...served].map(([name, { flow }]) => [name, flow]));
  const compile = flowCompiler({ flows: accepted, timezone: doors?.timezone, ...(clock && { clock }) });
  for (const flow of sortCalledFirst(flows)) {
    if (machines.has(flow.flow)) continue;
    const before = accepted.get(flow.flow);
    accepted.set(flow.flow, flow);
    const next = tryCompile(compile, flow);
    if (typeof next !== 'string' && isSame(next, served.get(flow.flow))) continue;
    const reasons = typeof next === 'string' ? [next] : await listFailedTests(next, folder);
    if (typeof next !== 'string' && reasons.length === 0) {
      library.add(next);
      onServed(next);
      taken.push({ flow: flow.flow, version: flow.version });
      continue;
    }
    refused.push(...reasons);
    if (before) accepted.set(flow.flow, before);
    else accepted.delete(flow.flow);
  }
  const names = new Set(files.map(cutFlowName));
  return { taken, refused, problems, orphans: [...served.keys()].filter((name) => !names.has(name)) };
}

function isSame(one: CompiledFlow, other: CompiledFlow | undefined): boolean {
  return one.hash === other?.hash && one.version === other.version;
}

async function listFailedTests(flow: CompiledFlow, folder: string): Promise<string[]> {
  const tests = await readTests(folder, flow.id);
  if (!tests) return [];
  if (!tests.file) return tests.problems.map(problemLine);
  const report = await runFlowTests(flow, tests.file);
  return report.tests.flatMap(({ name, failures }) =>
    failures.map((failure) => `flow "${flow.id}", test "${name}": ${failureText(failure)}`),
  );
}

// A flow comes after those that it calls; circles were refused by lint.
function sortCalledFirst(flows: ReadonlyMap<string, Flow>): Flow[] {
  const order = new Set<Flow>();
  const visit = (flow: Flow, around: readonly Flow[]): void => {
    if (order.has(flow) || around.includes(flow)) return;
    for (const name of listCalled(flow)) {
      const called = flows.get(name);
      if (called) visit(called, [...around, flow]);
    }
    order.add(flow);
  };
  for (const flow of flows.values()) visit(flow, []);
  return [...order];
}

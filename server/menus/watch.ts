// While a server runs, each edit of its menus is tested, then served or refused, and logged.

import { watch } from 'chokidar';
import { systemClock } from '../../lib/clock.ts';
import type { Library } from '../../lib/engine/conversation.ts';
import { TwinlineError } from '../../lib/errors.ts';
import { parseFlow, readFlowFiles } from '../../lib/flow/format/load.ts';
import { problemLine } from '../../lib/flow/format/problem.ts';
import { listFindings } from '../../lib/flow/lint/lint.ts';
import { type CompiledFlow, flowCompiler, flowsIn } from '../../lib/flow/run/compile.ts';
import { type JobErrors, type JobThread, jobThread } from '../config/job-thread.ts';
import { SERVER_LIMITS } from '../config/limits.ts';
import type { Log } from '../telemetry/log.ts';
import { CONTRACTS } from './contracts.ts';
import type { DialChoice } from './dialled.ts';
import type { EditAnswer, EditJob } from './edits.ts';
import { isDraftFile } from './files.ts';
import { cutFlowName, listRefused, type MenuFolder } from './menus.ts';

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
  /** Reads what a dial starts, after each look at the folder. @default it never changes */
  readonly dialled?: Pick<DialChoice, 'follow'>;
  /** Told of each flow that is served from now on. */
  readonly onServed: (flow: CompiledFlow) => void;
  /** Something was refused. */
  readonly onProblem?: () => void;
  /** Milliseconds of quiet after the last change before the folder is read. @default 100 */
  readonly quietMs?: number;
  /** Checks the edits. @default one for all folders of the process, with the limits of the server */
  readonly thread?: EditThread;
  /** What was refused at the start. @default nothing */
  readonly refused?: readonly string[];
}

/** Watches a folder of menus. Where the file system sends no events (some network mounts), `reload` does the same. */
export function watchMenus(options: WatchOptions): MenuWatch {
  const { menus, library, log, onProblem, quietMs = 100 } = options;
  const watcher = watch(menus.folder, {
    depth: 0,
    ignoreInitial: true,
    ignored: (path, stats) => stats?.isFile() === true && (!path.endsWith('.json') || isDraftFile(path)),
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
    const { taken, refused, problems, ...reloaded } = await reloadMenus(menus, options);
    for (const { flow, version } of taken) log.info({ flow, version }, 'an edited menu is served from now on');
    edits.served += taken.length;
    const undialled = options.dialled?.follow(menus.folder, (flow) => library.current(flow) !== undefined);
    const orphans = retireOrphans(menus, options, reloaded.orphans);
    refusals = listRefused({ problems, failures: [...refused, ...(undialled === undefined ? [] : [undialled])] });
    const words = [
      ...problems.map(problemLine),
      ...refused,
      ...(undialled === undefined ? [] : [undialled]),
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

/** Lets nobody begin a flow whose file is gone, but what doors start by name. Returns the flows that go on. */
function retireOrphans(
  { doors }: MenuFolder,
  { library, log }: Pick<WatchOptions, 'library' | 'log'>,
  orphans: readonly string[],
): string[] {
  const needed = [...(doors?.dialled ?? orphans), ...(doors?.chats ?? [])];
  for (const flow of orphans) {
    if (needed.includes(flow)) continue;
    library.retire(flow);
    log.info({ flow }, 'the file of a menu is gone: nobody begins it any more');
  }
  return orphans.filter((flow) => needed.includes(flow));
}

/** What became of the edits of a folder. */
interface Reloaded extends Pick<EditAnswer, 'refused' | 'problems'> {
  readonly taken: readonly { readonly flow: string; readonly version: number }[];
  /** Running flows whose file is gone. */
  readonly orphans: readonly string[];
}

type EditThread = JobThread<EditJob, EditAnswer>;

const failed = (why: string) =>
  new TwinlineError('ERR_FLOW_INVALID', `its edit could not be checked and is not served: ${why}. ${ADVICE}`);
const ADVICE = 'Split the flow, or make its tests shorter.';

const ERRORS: JobErrors = {
  tooSlow: (ms) =>
    new TwinlineError('ERR_TIMEOUT', `its edit was not checked within ${ms} ms and is not served. ${ADVICE}`),
  failed,
  busy: (most) => failed(`${most} edits are waiting`),
  closed: () => failed('the server stops'),
};

/** Checks edits in a thread with these bounds, so that none delays the callers of this process or takes its memory. */
export function editThread(limits: { readonly ms: number; readonly memoryMb: number }): EditThread {
  const module = new URL('./edit-worker.ts', import.meta.url);
  return jobThread({ module, ...limits, most: EDITS_WAITING, errors: ERRORS });
}

const EDITS_WAITING = 64;
/** Of all watched folders of this process. */
const sharedThread = editThread({ ms: SERVER_LIMITS.menuCheckMs, memoryMb: SERVER_LIMITS.menuCheckMemoryMb });

/** Has the folder checked, and adds what passes to the library. */
async function reloadMenus(
  menus: MenuFolder,
  { library, onServed, thread = sharedThread }: Pick<WatchOptions, 'library' | 'onServed' | 'thread'>,
): Promise<Reloaded> {
  const { folder, services, contracts, doors, clock = systemClock, machines = new Set() } = menus;
  const served = flowsIn(library);
  const listOrphans = (files: readonly string[]) => {
    const names = new Set(files.map(cutFlowName));
    return [...served.keys()].filter((name) => !names.has(name));
  };
  const job: EditJob = {
    ...{ folder, doors, contracts, services: services && [...services], machines: [...machines] },
    served: [...served.values()].map(({ flow, hash }) => ({ flow, hash })),
    found: await findByOwnRules(menus),
  };
  let answer: EditAnswer;
  try {
    answer = await thread.run(job);
  } catch (error) {
    const { edited, files } = await listEdited(folder, served);
    const refused = edited.map((name) => `flow "${name}": ${(error as Error).message}`);
    return { taken: [], refused, problems: [], orphans: listOrphans(files) };
  }
  const { flows, refused, problems, files } = answer;
  const accepted = new Map([...served].map(([name, { flow }]) => [name, flow]));
  for (const flow of flows) accepted.set(flow.flow, flow);
  const compile = flowCompiler({ flows: accepted, timezone: doors?.timezone, clock });
  for (const flow of flows) {
    const next = compile(flow);
    library.add(next);
    onServed(next);
  }
  const taken = flows.map(({ flow, version }) => ({ flow, version }));
  return { taken, refused, problems, orphans: listOrphans(files) };
}

/** What the rules of others find: functions of this process, which no thread has. */
async function findByOwnRules({
  folder,
  services,
  contracts = CONTRACTS,
  rules = [],
  doors,
}: MenuFolder): Promise<EditJob['found']> {
  if (!rules.length) return [];
  const texts = await readFlowFiles(folder);
  const parsed = [...texts].flatMap(([file, text]) => (typeof text === 'string' ? [parseFlow(text, file).flow] : []));
  const flows = new Map(parsed.flatMap((flow) => (flow ? [[flow.flow, flow]] : [])));
  const context = { flows, services, doors, contracts };
  return [...flows.values()].flatMap((flow) =>
    listFindings(flow, rules, context).map(({ rule: { code, severity }, finding }) => ({
      flow: flow.flow,
      code,
      severity: finding.severity ?? severity,
      finding,
    })),
  );
}

/** Flows whose file holds another text than is served; all where none does, because then their tests have changed. */
async function listEdited(folder: string, served: ReadonlyMap<string, CompiledFlow>) {
  const texts = await readFlowFiles(folder);
  const files = [...texts.keys()];
  const isEdited = (file: string) => {
    const flow = served.get(cutFlowName(file))?.flow;
    try {
      return JSON.stringify(JSON.parse(texts.get(file) as string)) !== JSON.stringify(flow);
    } catch {
      return true;
    }
  };
  const edited = files.filter(isEdited);
  return { files, edited: (edited.length ? edited : files).map(cutFlowName) };
}

// Menus that change while people dial: an edit is checked and tested before it is served, else the old version stays.

import { type FSWatcher, watch } from 'chokidar';
import type { Library } from '../lib/engine/conversation.ts';
import { problemLine } from '../lib/flow/problem.ts';
import { failureText } from '../lib/flow/test-run.ts';
import type { Log } from './log.ts';
import { type CheckedMenus, checkMenus, flowNameOf } from './menus.ts';

export interface ReloadOptions {
  readonly folder: string;
  readonly library: Library;
  readonly services: ReadonlySet<string>;
  readonly log: Log;
  /** Milliseconds of quiet after the last change before the folder is read. @default 100 */
  readonly quietMs?: number;
}

export interface Reload {
  /** Resolves once the folder is watched. */
  readonly ready: Promise<void>;
  close(): Promise<void>;
}

/** Watches a folder of menus and puts every edit that is fit to serve in place of what is served. */
export function watchMenus(options: ReloadOptions): Reload {
  const { folder, log, quietMs = 100 } = options;
  const watcher: FSWatcher = watch(folder, {
    depth: 0,
    ignoreInitial: true,
    ignored: (path, stats) => !isMenu(path, stats),
  });
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();
  const soon = () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      running = running
        .then(() => reloadOnce(options))
        .catch((error) => log.error({ err: error }, 'menus: not reloaded'));
    }, quietMs);
  };
  watcher.on('all', soon);
  return {
    ready: new Promise((resolve) => watcher.once('ready', resolve)),
    close: async () => {
      clearTimeout(timer);
      await watcher.close();
      await running;
    },
  };
}

const isMenu = (path: string, stats?: { isFile(): boolean }) => !stats?.isFile() || path.endsWith('.json');

async function reloadOnce({ folder, library, services, log }: ReloadOptions): Promise<void> {
  const menus = await checkMenus(folder, services);
  const before = new Map(library.ids.map((id) => [id, library.current(id)!]));
  const changed = menus.fit.filter((flow) => flow.hash !== before.get(flow.id)?.hash);
  for (const flow of changed) {
    library.add(flow);
    log.info({ flow: flow.id, version: flow.version }, before.has(flow.id) ? 'menu reloaded' : 'menu added');
  }
  const kept = menus.files.map(flowNameOf).filter((name) => !menus.fit.some((flow) => flow.id === name));
  if (kept.length) reportTrouble(menus, { log, kept });
  for (const id of before.keys())
    if (!menus.files.some((file) => flowNameOf(file) === id))
      log.warn({ flow: id }, 'menu file is gone; the version in memory is still served');
}

/** Logs everything that keeps flows from being served, one line each. */
export function reportTrouble(menus: CheckedMenus, { log, kept }: { log: Log; kept: readonly string[] }): void {
  for (const problem of menus.problems)
    if (problem.severity === 'error') log.error({ code: problem.code }, problemLine(problem));
  for (const { flow, tests } of menus.reports)
    for (const { name, failures } of tests)
      for (const failure of failures) log.error({ flow, test: name }, failureText(failure));
  log.warn({ flows: kept }, 'the last good version of these menus stays in service, where there is one');
}

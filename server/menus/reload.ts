// Menus that change while people dial: every edit is noticed, checked and tested, then served or refused, and told about.

import { watch } from 'chokidar';
import type { Library } from '../../lib/engine/conversation.ts';
import { problemLine } from '../../lib/flow/format/problem.ts';
import type { Log } from '../health/log.ts';
import type { MenuFolder } from './menus.ts';
import { refreshMenus } from './refresh.ts';

export interface Reload {
  /** Resolves once the folder is watched. */
  readonly ready: Promise<void>;
  /** Looks at the folder now, as after an edit. Never rejects. */
  refresh(): Promise<void>;
  close(): Promise<void>;
}

export interface ReloadOptions {
  readonly menus: MenuFolder;
  readonly library: Library;
  readonly log: Log;
  /** Something was refused. */
  readonly onProblem?: () => void;
  /** Milliseconds of quiet after the last change before the folder is read. @default 100 */
  readonly quietMs?: number;
}

/** Watches a folder of menus. Where the file system sends no events (some network mounts), `refresh` does the same. */
export function watchMenus({ menus, library, log, onProblem, quietMs = 100 }: ReloadOptions): Reload {
  const watcher = watch(menus.folder, {
    depth: 0,
    ignoreInitial: true,
    ignored: (path, stats) => !isMenu(path, stats),
  });
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();
  let told = '';

  const once = async (): Promise<void> => {
    const { taken, refused, problems, orphans } = await refreshMenus(menus, library);
    for (const { flow, version } of taken) log.info({ flow, version }, 'an edited menu is served from now on');
    const words = [
      ...problems.map(problemLine),
      ...refused,
      ...orphans.map((flow) => `flow "${flow}": its file is gone; the last version is served until the next start`),
    ];
    // One edit changes one file: what is wrong with the others was said before.
    const isNews = words.join('\n') !== told;
    told = words.join('\n');
    if (!isNews) return;
    for (const line of words) log.warn(line);
    if (!refused.length && !problems.some(({ severity }) => severity === 'error')) return;
    onProblem?.();
    log.warn('menus with errors stay as they were, where they were served');
  };
  const refresh = (): Promise<void> => {
    running = running.then(once).catch((error) => {
      onProblem?.();
      log.error({ err: error }, 'menus were not reloaded');
    });
    return running;
  };

  watcher.on('all', () => {
    clearTimeout(timer);
    timer = setTimeout(refresh, quietMs);
  });
  watcher.on('error', (error) =>
    log.warn({ err: error }, 'edits of menus may go unnoticed: send SIGHUP after an edit'),
  );
  return {
    ready: new Promise((resolve) => watcher.once('ready', resolve)),
    refresh,
    close: async () => {
      clearTimeout(timer);
      await watcher.close();
      await running;
    },
  };
}

const isMenu = (path: string, stats?: { isFile(): boolean }) => !stats?.isFile() || path.endsWith('.json');

// Files that somebody edits while a command runs.

import { watch } from 'chokidar';

/** Editors write a file in several steps. */
const QUIET_MS = 100;

/** Does `work` after every edit of a file or a folder of these, one time after the other; resolves once it watches. */
export async function onEdits(places: readonly string[], work: () => Promise<unknown>): Promise<void> {
  const watcher = watch([...places], { ignoreInitial: true, depth: 2, ignored: /[\\/]node_modules[\\/]/ });
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<unknown> = Promise.resolve();
  watcher.on('all', () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      running = running.then(work).catch((error: Error) => console.error(error.message));
    }, QUIET_MS);
  });
  await new Promise((resolve) => watcher.once('ready', () => resolve(undefined)));
}

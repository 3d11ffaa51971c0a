// Watch mode: reruns tests after edits, and restarts a server when files change that it loads only once, such as services, plugins and
// settings.

import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { watch } from 'chokidar';

/** Debounce: editors write a file in several steps. */
const QUIET_MS = 100;

/** Runs `work` after every change of these files or folders, never twice at a time. Resolves once the watcher is ready. */
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

const FILES = ['API_KEYS_FILE', 'GOVERNANCE_FILE', 'GATEWAY_FILE', 'MCP_SERVERS'] as const;
const MODULES = ['SERVICES', 'PLUGINS', 'ADAPTERS', 'LINT_RULES'] as const;

/** Files and module folders that a server reads only at startup. It reloads menus by itself. */
export function findRestartPlaces(env: NodeJS.ProcessEnv, envFiles: readonly string[]): string[] {
  const files = [...FILES.map((name) => env[name]?.trim()), ...envFiles];
  const modules = MODULES.flatMap((name) => (env[name] ?? '').split(',').map((module) => module.trim()));
  const folders = modules.filter(Boolean).map((module) => {
    const folder = dirname(resolve(module));
    // The working folder may hold data that changes all the time, so only the module itself is watched there.
    return folder === process.cwd() ? module : folder;
  });
  const places = [...files, ...folders].flatMap((place) => (place ? [resolve(place)] : []));
  return [...new Set(places)].filter((place) => existsSync(place));
}

/** Runs `twinline start` with these arguments as a child process, and restarts it after every change, until a signal. */
export async function supervise(args: readonly string[], places: readonly string[]): Promise<void> {
  let child: ChildProcess | undefined;
  let restarting = false;
  let stopping = false;
  const begin = () => {
    const started = spawn(process.execPath, [...process.execArgv, process.argv[1]!, 'start', ...args], {
      stdio: 'inherit',
    });
    child = started;
    started.once('exit', (code, signal) => {
      if (child === started) child = undefined;
      if (restarting) return;
      if (code === 0 || signal !== null) process.exit(code ?? 1);
      console.error(`The server has ended with ${code}; the next edit starts it again.`);
    });
  };
  const restart = async () => {
    console.error('Something was edited: the server starts again.');
    restarting = true;
    await stopChild(child);
    if (stopping) process.exit(0);
    restarting = false;
    begin();
  };
  const stop = (signal: NodeJS.Signals) => {
    stopping = true;
    if (!child) process.exit(0);
    child.kill(signal);
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  process.on('SIGHUP', () => child?.kill('SIGHUP'));
  begin();
  await onEdits(places, restart);
}

async function stopChild(child: ChildProcess | undefined): Promise<void> {
  if (!child) return;
  const exit = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  await exit;
}

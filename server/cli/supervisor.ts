// A server that is started again after every edit of what it loads only once: services, plugins, files of settings.

import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { onEdits } from './edits.ts';

const FILES = ['API_KEYS_FILE', 'GOVERNANCE_FILE', 'GATEWAY_FILE'] as const;
const MODULES = ['SERVICES', 'PLUGINS'] as const;

/** Files, and folders of modules, that a server reads at its start and never again. Menus it reloads by itself. */
export function readOnce(env: NodeJS.ProcessEnv, envFiles: readonly string[]): string[] {
  const files = [...FILES.map((name) => env[name]?.trim()), ...envFiles];
  const modules = MODULES.flatMap((name) => (env[name] ?? '').split(',').map((module) => module.trim()));
  const folders = modules.filter(Boolean).map((module) => {
    const folder = dirname(resolve(module));
    // Next to a module in the working folder may be data, which changes all the time.
    return folder === process.cwd() ? module : folder;
  });
  const places = [...files, ...folders].flatMap((place) => (place ? [resolve(place)] : []));
  return [...new Set(places)].filter((place) => existsSync(place));
}

/** Runs `twinline start` with these arguments in a process of its own, anew after every edit, until a signal. */
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
    await ended(child);
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

async function ended(child: ChildProcess | undefined): Promise<void> {
  if (!child) return;
  const exit = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  await exit;
}

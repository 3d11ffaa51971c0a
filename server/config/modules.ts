// What settings name: files of JSON, and modules such as services and plugins, found by path or package name; and the version of
// this package.

import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { isAbsolute, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { type Clock, systemClock } from '../../lib/clock.ts';
import { TwinlineError } from '../../lib/errors.ts';
import { SERVER_LIMITS } from './limits.ts';
import type { SettingName } from './settings.ts';

/** The text of the file that a setting names. Throws ERR_CONFIG. */
export function readSettingFile(setting: SettingName, file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    const words = `${setting} ${file} cannot be read (${code}). Set the path of a JSON file.`;
    throw new TwinlineError('ERR_CONFIG', words, { cause });
  }
}

/** What a module exports, or why it cannot be loaded, as the end of a sentence. */
export type Imported<T = unknown> =
  | { readonly kind: 'loaded'; readonly value: T }
  | { readonly kind: 'broken'; readonly why: string };

// The end of a sentence, for a module and where it was looked for.
const missing = (path: string) => `is not there. ${path} was looked for: check the path or install the package.`;
const WHY_BROKEN: { readonly [code: string]: (path: string) => string } = {
  ERR_MODULE_NOT_FOUND: missing,
  MODULE_NOT_FOUND: missing,
  ERR_UNKNOWN_FILE_EXTENSION: () =>
    "cannot be loaded: Node loads no files of this kind. Compile TypeScript and name the .js file, or install tsx and set NODE_OPTIONS='--import tsx'.",
};

/** What a module exports by default; as {@link importModule}. */
export async function importDefault(module: string, folder: string, clock?: StartClock): Promise<Imported> {
  const imported = await importModule(module, folder, clock);
  return imported.kind === 'loaded' ? { kind: 'loaded', value: imported.value.default } : imported;
}

/** Loads a module by its path, absolute or from `folder`, or by the name of a package. Never rejects. */
export async function importModule(
  module: string,
  folder: string,
  clock: StartClock = systemClock,
): Promise<Imported<{ readonly [name: string]: unknown }>> {
  try {
    return { kind: 'loaded', value: await startInTime(clock, import(locate(module, folder))) };
  } catch (error) {
    const { code, message } = error instanceof Error ? (error as NodeJS.ErrnoException) : { message: String(error) };
    const path = resolve(folder, module);
    const isThere = code === 'ERR_MODULE_NOT_FOUND' && existsSync(path);
    return { kind: 'broken', why: (!isThere && WHY_BROKEN[code ?? '']?.(path)) || `cannot be loaded: ${message}` };
  }
}

type StartClock = Pick<Clock, 'wait'>;

/** What `work` gives; rejects when that takes longer than a start may wait for code from outside. */
export async function startInTime<T>(clock: StartClock, work: Promise<T> | T): Promise<T> {
  const over = new AbortController();
  const late = clock.wait(SERVER_LIMITS.moduleStartMs, over.signal).then(() => {
    throw new Error(`it has not ended after ${SERVER_LIMITS.moduleStartMs / 1_000} s`);
  });
  late.catch(() => {});
  try {
    return await Promise.race([work, late]);
  } finally {
    over.abort();
  }
}

/** Plugins by what the places of their code begin with. */
const plugins = new Map<string, string>();

/** Notes whose code a module is, for {@link findPlugin}. */
export function notePlugin(module: string, folder: string, plugin: string): void {
  const url = locate(module, folder);
  // All of a package is its own; of files by path only the one that is named.
  const [place] = /^.*\/node_modules\/(@[^/]+\/)?[^/]+\//.exec(url) ?? [url];
  plugins.set(place!, plugin);
  if (place!.startsWith('file:')) plugins.set(fileURLToPath(place!), plugin);
}

/** The name of the plugin whose code threw this, by the places of its stack; undefined when it is none's. */
export function findPlugin(error: unknown): string | undefined {
  const stack = error instanceof Error ? String(error.stack) : '';
  return [...plugins].find(([place]) => stack.includes(place))?.[1];
}

function locate(module: string, folder: string): string {
  const path = resolve(folder, module);
  if (isAbsolute(module) || module.startsWith('.') || existsSync(path)) return pathToFileURL(path).href;
  try {
    return pathToFileURL(createRequire(join(folder, 'module')).resolve(module)).href;
  } catch {
    // Packages that can only be imported are looked for beside this one.
    return module;
  }
}

/** The folder of this package. It is one step further away from what was built than from the source. */
export function packageFolder(): string | undefined {
  const folders = ['../..', '../../..'].map((path) => fileURLToPath(new URL(path, import.meta.url)));
  return folders.find((folder) => existsSync(join(folder, 'package.json')));
}

/** Such as `0.1.0`. */
export function readVersion(): string {
  const folder = packageFolder();
  if (folder === undefined) return 'unknown';
  return (JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string }).version;
}

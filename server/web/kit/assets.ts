// Scripts and style sheets of pages, bundled with their imports: into files at build time, in memory on demand when the
// server runs from source.

import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { keepMade } from '../../../lib/retry.ts';

/** Entry points, relative to the folder of pages. */
const ENTRIES = {
  'chat.css': 'chat.css',
  'chat.js': 'browser/chat/chat.ts',
  'docs.css': '../docs/docs.css',
  'guide.js': 'browser/guide.ts',
  'header.js': 'browser/header.ts',
  'home.css': 'home.css',
  'inspector.css': 'inspector/inspector.css',
  'inspector.js': 'browser/inspector/inspector.ts',
  'page.css': 'kit/page.css',
  'preview.css': 'preview/preview.css',
  'preview.js': 'browser/preview/preview.ts',
  'reference.js': 'browser/reference.ts',
  'registry.css': 'registry/registry.css',
  'registry.js': 'browser/registry/registry.ts',
  'sign-in.js': 'browser/sign-in.ts',
  'simulator.css': 'simulator/simulator.css',
  'simulator.js': 'browser/phone/simulator.ts',
  'studio.css': 'studio/studio.css',
  'studio.js': 'browser/studio/studio.ts',
  'stately.js': 'browser/inspector/stately.ts',
  'swagger.css': '../docs/swagger.css',
  'swagger.js': 'browser/swagger.ts',
} as const;

export type AssetName = keyof typeof ENTRIES;
export type ScriptName = Extract<AssetName, `${string}.js`>;
export type StyleName = Extract<AssetName, `${string}.css`>;

export interface Asset {
  readonly text: string;
  /** Of the text. */
  readonly hash: string;
}

const PAGES = new URL('../', import.meta.url);
const IS_BUILT = import.meta.url.endsWith('.js');
export const ASSET_NAMES = Object.keys(ENTRIES) as readonly AssetName[];

export function isAsset(name: string): name is AssetName {
  return Object.hasOwn(ENTRIES, name);
}

/** Reads or bundles an asset. Rejects with errors of esbuild or the file system. */
export function readAsset(name: AssetName): Promise<Asset> {
  return IS_BUILT ? readBuilt(name) : bundleAsset(name);
}

/** The path of an asset, with its hash, so that browsers may cache it forever. */
export async function assetAddress(name: AssetName): Promise<string> {
  return `/pages/${name}?v=${(await readAsset(name)).hash}`;
}

/** Writes all assets into a folder of built pages, `dist/server/web`. Resolves to the paths of their source files. */
export async function writeAssets(folder: string): Promise<string[]> {
  mkdirSync(join(folder, 'assets'), { recursive: true });
  const write = async (name: AssetName) => {
    const { text, inputs } = await bundle(name);
    writeFileSync(join(folder, 'assets', name), text);
    return inputs;
  };
  return (await Promise.all(ASSET_NAMES.map(write))).flat();
}

const built = new Map<string, Promise<Asset>>();

function readBuilt(name: AssetName): Promise<Asset> {
  return keepMade(built, name, async () => makeAsset(await readFile(new URL(`assets/${name}`, PAGES), 'utf8')));
}

interface Bundle {
  readonly text: string;
  /** Source files, and a hash of their contents. */
  readonly inputs: readonly string[];
  readonly key: string;
}

const bundles = new Map<AssetName, Promise<Bundle>>();

// Bundles again only after a source file has changed.
async function bundleAsset(name: AssetName): Promise<Asset> {
  const last = await bundles.get(name)?.catch(() => undefined);
  if (last && (await hashFiles(last.inputs).catch(() => '')) === last.key) return makeAsset(last.text);
  const next = bundle(name);
  bundles.set(name, next);
  return makeAsset((await next).text);
}

// Only builds and servers that run from source bundle; an installed package does not need esbuild.
async function bundle(name: AssetName): Promise<Bundle> {
  const { build } = await import('esbuild');
  const { outputFiles, metafile } = await build({
    entryPoints: [fileURLToPath(new URL(ENTRIES[name], PAGES))],
    absWorkingDir: fileURLToPath(PAGES),
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    charset: 'utf8',
    legalComments: 'none',
    logLevel: 'silent',
    metafile: true,
    write: false,
  });
  const inputs = Object.keys(metafile.inputs).map((path) => fileURLToPath(new URL(path, PAGES)));
  return { text: outputFiles[0]!.text, inputs, key: await hashFiles(inputs) };
}

async function hashFiles(paths: readonly string[]): Promise<string> {
  return hashText((await Promise.all(paths.map((path) => readFile(path, 'utf8')))).join('\0'));
}

function makeAsset(text: string): Asset {
  return { text, hash: hashText(text) };
}

function hashText(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 16);
}

// Walks a guide as its reader would: in an empty folder, block by block, with the commands of this source.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ROOT } from '../package/manifest.ts';
import { builtPackage } from '../support/build.ts';
import { programsOf, skipWithout } from '../support/on-path.ts';
import { freePort } from '../support/ports.ts';
import { killed, withFolder } from '../support/process.ts';
import { type Block, notPrinted } from './blocks.ts';

const STANDARD_PORT = '3000';
const RUN = new Set<Block['kind']>(['run', 'serve']);

/** Does what the blocks say; rejects with the first one that does not go as the guide shows. Skips what this machine cannot run. */
export async function walk(blocks: readonly Block[]): Promise<void> {
  skipWithout(programsOf(blocks.flatMap(({ kind, text }) => (RUN.has(kind) ? [text] : [])).join('\n')));
  const built = await builtPackage();
  await withFolder(async (folder) => {
    const port = String(await freePort());
    const path = `${commands(folder, built)}:${process.env.PATH}`;
    const place: Place = {
      folder: join(folder, 'home'),
      text: (text) => text.replaceAll(`127.0.0.1:${STANDARD_PORT}`, `127.0.0.1:${port}`),
      env: { PATH: path, HOME: folder, PORT: port, NO_COLOR: '1', RATE_LIMIT_MAX: '100000' },
      ends: [],
    };
    installed(folder, built);
    mkdirSync(place.folder);
    try {
      for (const block of blocks) await STEPS[block.kind](place, block as never);
    } finally {
      for (const end of place.ends) await end();
    }
  });
}

interface Place {
  /** Where the reader is; commands may lead elsewhere. */
  folder: string;
  /** Guides name the standard port; tests use another one. */
  readonly text: (text: string) => string;
  readonly env: Readonly<Record<string, string>>;
  readonly ends: (() => Promise<void>)[];
}

type Step<Kind> = (place: Place, block: Extract<Block, { kind: Kind }>) => Promise<void>;
type Kinds = 'run' | 'serve' | 'elsewhere' | 'write';

const STEPS: { readonly [Kind in Kinds]: Step<Kind> } = {
  async run(place, { text, prints }) {
    const marker = join(place.env.HOME!, 'folder');
    const script = `cd "${place.folder}"\n${place.text(text)}\npwd > "${marker}"`;
    const printed = await output(spawn('sh', ['-c', script], { env: { ...place.env } }));
    if (existsSync(marker)) place.folder = readFileSync(marker, 'utf8').trim();
    shown(place, { text, prints, printed });
  },

  async serve(place, { text, prints }) {
    const child = spawn('sh', ['-c', `cd "${place.folder}"\nexec env ${place.text(text)}`], { env: { ...place.env } });
    place.ends.unshift(() => killed(child));
    let printed = '';
    const ready = new Promise<void>((resolve, reject) => {
      const listen = (chunk: Buffer) => {
        printed += chunk;
        if (/curl /.test(printed)) resolve();
      };
      child.stdout.on('data', listen);
      child.stderr.on('data', listen);
      child.on('exit', (code) => reject(new Error(`${text} ended with ${code}:\n${printed}`)));
    });
    await ready;
    child.removeAllListeners('exit');
    shown(place, { text, prints, printed });
  },

  async elsewhere() {},

  async write(place, { file, pointer, text: named }) {
    const path = join(place.folder, file);
    const text = place.text(named);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, pointer === '' ? `${text}\n` : withPart(readFileSync(path, 'utf8'), pointer, JSON.parse(text)));
  },
};

function shown(place: Place, { text, prints, printed }: { text: string; prints?: string; printed: string }): void {
  const missing = prints === undefined ? undefined : notPrinted(place.text(prints), printed);
  if (missing !== undefined) throw new Error(`$ ${text}\ndoes not print "${missing}" there. It prints:\n${printed}`);
}

async function output(child: ReturnType<typeof spawn>): Promise<string> {
  let printed = '';
  child.stdout!.on('data', (chunk) => {
    printed += chunk;
  });
  child.stderr!.on('data', (chunk) => {
    printed += chunk;
  });
  await once(child, 'close');
  return printed;
}

function withPart(json: string, pointer: string, part: unknown): string {
  const whole = JSON.parse(json) as Record<string, unknown>;
  const steps = pointer.split('/').slice(1);
  const last = steps.pop()!;
  let here = whole;
  for (const step of steps) here = here[step] as Record<string, unknown>;
  here[last] = part;
  return `${JSON.stringify(whole, null, 2)}\n`;
}

// `npx twinline` is the command of this source.
function commands(folder: string, built: string): string {
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  writeFileSync(
    join(bin, 'npx'),
    `#!/bin/sh\nshift\nexec "${process.execPath}" "${built}/dist/server/cli/main.js" "$@"\n`,
  );
  chmodSync(join(bin, 'npx'), 0o755);
  return bin;
}

// The package as npm would put it there.
function installed(folder: string, built: string): void {
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(built, join(folder, 'node_modules/twinline'));
  symlinkSync(join(ROOT, 'node_modules/xstate'), join(folder, 'node_modules/xstate'));
}

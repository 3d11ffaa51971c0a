// The scripts of pages as browsers load them: modules of ours without their types, each under one flat name.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';

/** Where each is, from here and without its ending; together they are all that a page may load. */
const MODULES = {
  'chat.js': '../browser/chat/chat',
  'chat-cards.js': '../browser/chat/chat-cards',
  'chat-frames.js': '../browser/chat/chat-frames',
  'chat-reply.js': '../browser/chat/chat-reply',
  'chat-service.js': '../browser/chat/chat-service',
  'chat-side.js': '../browser/chat/chat-side',
  'chat-thread.js': '../browser/chat/chat-thread',
  'element.js': '../browser/element',
  'gsm7.js': '../../../lib/flow/run/gsm7',
  'inspector.js': '../browser/inspector/inspector',
  'inspector-detail.js': '../browser/inspector/inspector-detail',
  'inspector-drawing.js': '../browser/inspector/inspector-drawing',
  'inspector-keys.js': '../browser/inspector/inspector-keys',
  'inspector-lists.js': '../browser/inspector/inspector-lists',
  'inspector-place.js': '../browser/inspector/inspector-place',
  'inspector-stately.js': '../browser/inspector/inspector-stately',
  'inspector-store.js': '../browser/inspector/inspector-store',
  'inspector-stream.js': '../browser/inspector/inspector-stream',
  'inspector-time.js': '../browser/inspector/inspector-time',
  'inspector-ways.js': '../browser/inspector/inspector-ways',
  'limits.js': '../../../lib/flow/limits',
  'numbered.js': '../browser/chat/numbered',
  'phone.js': '../browser/phone/phone',
  'phone-answer.js': '../browser/phone/phone-answer',
  'phone-device.js': '../browser/phone/phone-device',
  'phone-dialler.js': '../browser/phone/phone-dialler',
  'phone-faults.js': '../browser/phone/phone-faults',
  'phone-line.js': '../browser/phone/phone-line',
  'phone-log.js': '../browser/phone/phone-log',
  'phone-screen.js': '../browser/phone/phone-screen',
  'phone-typed.js': '../browser/phone/phone-typed',
  'sign-in.js': '../browser/sign-in',
  'simulator.js': '../browser/phone/simulator',
} as const;

export type PageModule = keyof typeof MODULES;

const IS_BUILT = import.meta.url.endsWith('.js');
/** Scripts by their source: an edited one is another. */
const scripts = new Map<string, Promise<string>>();

/** Whether a page may load this name. */
export function isPageModule(name: string): name is PageModule {
  return Object.hasOwn(MODULES, name);
}

/** Where a page finds a module: at another address in each version of the server, for those of two do not fit together. */
export function moduleAddress(name: PageModule): string {
  return `/pages/${name}?v=${version()}`;
}

/** How long browsers may keep a module that was asked for as one of this version. */
export function moduleCaching(asked: unknown): string {
  return IS_BUILT && asked === version() ? 'public, max-age=31536000, immutable' : 'no-cache';
}

/** The text of a module. */
export async function pageModule(name: PageModule): Promise<string> {
  const source = await readFile(fileOf(name), 'utf8');
  const known = scripts.get(source);
  if (known) return known;
  const script = scriptOf(source);
  scripts.set(source, script);
  return script;
}

const fileOf = (name: PageModule) => new URL(`${MODULES[name]}.${IS_BUILT ? 'js' : 'ts'}`, import.meta.url);

let known: string | undefined;

function version(): string {
  const hash = createHash('sha256');
  if (known === undefined)
    for (const name of Object.keys(MODULES)) hash.update(readFileSync(fileOf(name as PageModule)));
  known ??= hash.digest('base64url').slice(0, 12);
  return known;
}

async function scriptOf(source: string): Promise<string> {
  const script = IS_BUILT ? source.replace(/\n\/\/# sourceMappingURL=.*/, '') : await withoutTypes(source);
  return script.replace(/(from ['"])\.[^'"]*?([\w-]+)\.[jt]s(['"])/g, `$1./$2.js?v=${version()}$3`);
}

// Only where the source runs as it is, and then it is there: what runs it needs it, too.
async function withoutTypes(source: string): Promise<string> {
  const { transform } = await import('esbuild');
  const tsconfigRaw = { compilerOptions: { verbatimModuleSyntax: true } };
  return (await transform(source, { loader: 'ts', tsconfigRaw })).code;
}

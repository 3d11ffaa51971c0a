// The guides that are served below /docs/guides: which there are, and what they say.

import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { html } from '../../lib/markup.ts';
import type { PageContent } from '../web/kit/frame.ts';
import { renderGuide } from './markdown.ts';

/** A page to read. */
export interface DocsPage extends PageContent {
  /** Its parts, by their anchors. @default none */
  readonly sections?: readonly { readonly id: string; readonly title: string }[];
}

/** Guides by name, which is that of their file too, in the order in which they are offered. */
export const GUIDES = {
  'first-menu': ['Your first menu in ten minutes', 'from an empty folder to a dialled menu with a test and a diagram'],
  menus: ['Writing menus', 'screens, texts, languages, answers, calls, secrets, pages, versions and tests'],
  operators: ['Running a server', 'settings, stores, keys, proxies, health, metrics, updates and backups'],
  moving: ['Moving, restoring, rotating', 'from one machine to many and back, copies, exports, new keys, restarts'],
  cli: ['The command line', 'every verb and its options'],
  engine: ['Using the engine', 'your own machines, stores, services and doors, imported from npm'],
  stacks: ['In your stack', 'runtimes, bundlers, test runners and frameworks that import the engine'],
  api: ['Every name', 'what each import of the package gives, with its types and what they mean'],
  twins: ['Twins and votes', 'protocols, domains, proposals, credits'],
  client: ['A client for TypeScript', 'chats, twins and their events from browsers and Node'],
  agent: ['The agent service', 'chats, streams, sockets, models, tools'],
  plugins: ['Writing plugins', 'routes, tools, gates and events of the agent service'],
  extending: ['Extending a server', 'telecom dialects, stores, responders and lint rules of your own'],
  versions: ['Versions', 'what a new version may change, what it keeps, and how to go from one to the next'],
  queries: ['Chain queries over HTTP', 'a node’s gRPC methods as HTTP routes'],
  guarantees: ['What Twinline guarantees', 'each promise with the tests that prove it'],
  performance: ['How fast', 'each number beside its floor, from the same run'],
  architecture: ['Architecture', 'rooms, words, and where to change what'],
} as const satisfies Readonly<Record<string, readonly [title: string, about: string]>>;

export type GuideName = keyof typeof GUIDES;

export function isGuide(name: string): name is GuideName {
  return Object.hasOwn(GUIDES, name);
}

/** The Markdown of a guide. The build writes "Every name"; a server that runs from the source without a build says so. */
export async function guideText(name: GuideName): Promise<string> {
  try {
    return await readFile(fileURLToPath(import.meta.resolve(`#guides/${name}.md`)), 'utf8');
  } catch (error) {
    if (name !== 'api') throw error;
    return `# ${GUIDES.api[0]}\n\nThis guide is not built. Run \`npm run build\`.\n`;
  }
}

/** A guide as a page; its headings can be linked to. */
export async function guidePage(name: GuideName): Promise<DocsPage> {
  const [title] = GUIDES[name];
  const { body, sections } = await renderGuide(await guideText(name));
  return {
    title: `${title} · Twinline`,
    script: 'guide.js',
    sections,
    body: html`<article class="card guide">${body}</article>`,
  };
}

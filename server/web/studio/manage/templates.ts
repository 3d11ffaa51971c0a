// What new flows begin with: a few screens to build on, and the menus that are shipped, each with its tests.

import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { FLOW_FILE } from '../../../../lib/flow/format/parse.ts';
import { FLOW_TEST_FILE } from '../../../../lib/flow/testing/file.ts';
import type { Drafts } from '../drafts.ts';
import { STARTERS, writeStarter } from '../starters.ts';
import type { VersionTexts } from '../versions.ts';
import { nameFlow } from './renaming.ts';

export interface FlowTemplate {
  readonly name: string;
  /** Description for authors. */
  readonly summary: string;
}

/** Shipped menus, by the name of the template. */
const SHIPPED: { readonly [name: string]: { readonly flow: string; readonly summary: string } } = {
  account: { flow: 'main', summary: 'information, and an account that is opened by a PIN' },
  wallet: { flow: 'wallet', summary: 'a wallet in two languages: balance, history, payments over HTTP' },
  chat: { flow: 'assistant', summary: 'answers to free words, for chats' },
};

export function listTemplates(): FlowTemplate[] {
  return [...Object.entries(STARTERS), ...Object.entries(SHIPPED)].map(([name, { summary }]) => ({ name, summary }));
}

/** The texts of a template for a flow of this name; undefined if there is no such template. */
export async function readTemplate(template: string, flow: string): Promise<VersionTexts | undefined> {
  if (Object.hasOwn(STARTERS, template)) {
    const { flow: text, tests } = writeStarter(flow, STARTERS[template]!);
    return { text, tests };
  }
  if (!Object.hasOwn(SHIPPED, template)) return undefined;
  const read = async (ending: string) =>
    nameFlow(
      await readFile(fileURLToPath(import.meta.resolve(`#menus/${SHIPPED[template]!.flow}${ending}`)), 'utf8'),
      flow,
    );
  return { text: await read(FLOW_FILE), tests: await read(FLOW_TEST_FILE) };
}

/** The texts of a template, and its first screens. */
export async function showTemplate(
  template: string,
  drafts: Drafts,
): Promise<(VersionTexts & { screens: readonly string[] }) | undefined> {
  const texts = await readTemplate(template, template);
  if (!texts) return undefined;
  const screens = await drafts.ask('look', { flow: template, text: texts.text }, { tests: texts.tests });
  return { ...texts, screens };
}

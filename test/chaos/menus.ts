// The menus that are walked: the shipped ones, and a small one in front of them that counts and leads to both.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { flowFixture } from '../support/flow-fixture.ts';

const SHIPPED = fileURLToPath(new URL('../../menus/', import.meta.url));

/** Says who called and how often: a lost, doubled or mixed turn cannot hide. */
export const FRONT = 'front';

interface Shipped {
  readonly vars: { readonly [name: string]: { default?: unknown } };
  readonly screens: { readonly [id: string]: { readonly text?: string | { readonly en: string } } };
}

const read = (flow: string) => JSON.parse(readFileSync(join(SHIPPED, `${flow}.flow.json`), 'utf8')) as Shipped;

/** Writes them into the folder; the wallet's service is the one at `api`, which is all that is changed in it. */
export function writeMenus(folder: string, api: string): void {
  const wallet = read('wallet');
  wallet.vars.api!.default = api;
  for (const [flow, content] of Object.entries({ front: flowFixture(FRONT), main: read('main'), wallet }))
    writeFileSync(join(folder, `${flow}.flow.json`), JSON.stringify(content));
}

const TROUBLES = { main: ['accountTrouble'], wallet: ['loginTrouble', 'unsure', 'unavailable'] };

/** The first lines of screens that say that something could not be finished: a call whose process or store died. */
export function troubleTexts(): readonly string[] {
  return Object.entries(TROUBLES).flatMap(([flow, ids]) => {
    const { screens } = read(flow);
    return ids.map((id) => {
      const { text } = screens[id]!;
      return typeof text === 'object' ? text.en : text!;
    });
  });
}

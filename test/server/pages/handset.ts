// A simulated phone as a test holds it: presses its buttons and reads its screen, in a real browser; and runs the flow tests that it saves.

import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import * as assert from 'uvu/assert';
import { checkMenus } from '../../../server/menus/check.ts';
import { withFolder } from '../../support/process.ts';

export interface Handset {
  readonly whole: Locator;
  /** Presses a button by its name. */
  press(name: string): Promise<void>;
  /** Types an answer and sends it. */
  say(text: string): Promise<void>;
  /** Waits until the screen has these words and takes an answer, or has come to an end; all that it says. */
  shows(words: string | RegExp): Promise<string>;
  /** What is said of the room that the screen takes. */
  room(): Promise<string>;
  /** What the log says was sent, the newest first. */
  sent(): Promise<string[]>;
}

/** The first phone of the page. */
export function handset(page: Page): Handset {
  const whole = page.getByRole('region', { name: 'Phone 1', exact: true });
  const screen = whole.locator('.screen');
  const line = whole.getByLabel('Your answer, Phone 1');
  return {
    whole,
    press: (name) => whole.getByRole('button', { name, exact: true }).click(),
    async say(text) {
      await line.fill(text);
      await line.press('Enter');
    },
    async shows(words) {
      await whole.locator('.screen:not(.busy)', { hasText: words }).waitFor();
      return (await screen.textContent()) ?? '';
    },
    room: async () => (await whole.locator('.count').textContent()) ?? '',
    sent: () => whole.locator('.log summary code').allTextContents(),
  };
}

/** A file of flow tests that a page made. */
export interface Saved {
  readonly name: string;
  readonly text: string;
}

/** Runs it beside its flow, from the shipped menus or another folder, as `twinline test` does; what failed. */
export function runSaved({ name, text }: Saved, menus = 'menus'): Promise<string[]> {
  const flow = name.replace('.test.json', '.flow.json');
  return withFolder(async (folder) => {
    copyFileSync(join(menus, flow), join(folder, flow));
    writeFileSync(join(folder, name), text);
    const { reports, problems } = await checkMenus({ folder });
    assert.is(reports.length, 1, JSON.stringify(problems));
    return reports[0]!.tests.flatMap(({ failures }) => failures.map(({ message }) => message));
  });
}

// A real browser for pages: Chromium of this machine, with everything that it complains of or asks others for.

import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import type { Test } from 'uvu';
import { skipped } from '../../support/skip.ts';
import { waitingFor } from '../../support/until.ts';

/** The first that is there. Without its windows, which nobody sees, Chromium takes half of the processor's time. */
const NAMES = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

/** A page that was opened, and what it did besides. */
export interface Visit {
  readonly page: Page;
  /** Breaches of the policy of content, errors of scripts, and what could not be loaded. */
  readonly complaints: readonly string[];
  /** Addresses of other origins that were asked. */
  readonly strangers: readonly string[];
}

const ELSEWHERE = 'elsewhere.test';

/** The same page as another machine sees it over plain HTTP, where browsers give scripts less than on this one. */
export const fromElsewhere = (url: string) => url.replace('127.0.0.1', ELSEWHERE);

export type Open = (url: string, options?: BrowserContextOptions) => Promise<Visit>;

/** One browser for all tests of a suite, which closes the pages of each test after it; the suite is skipped where there is none. */
export function browser(test: Pick<Test, 'before' | 'after'>): Open {
  let running: Browser | undefined;
  const contexts: BrowserContext[] = [];
  test.before(async () => {
    const executablePath = installed();
    if (!executablePath) skipped('no Chromium here: apt-get install chromium-headless-shell, or put one on PATH');
    // Root may not use the sandbox, and the pages are our own.
    running = await chromium.launch({
      executablePath,
      timeout: 0,
      args: ['--no-sandbox', '--disable-dev-shm-usage', `--host-resolver-rules=MAP ${ELSEWHERE} 127.0.0.1`],
    });
  });
  test.after.each(async () => {
    for (const context of contexts.splice(0)) await context.close();
  });
  test.after(async () => running?.close());

  return async (url, options = {}) => {
    const context = await running!.newContext(options);
    contexts.push(context);
    context.on('close', waitingFor(`the page ${url}`));
    // The runner ends what hangs.
    context.setDefaultTimeout(0);
    const page = await context.newPage();
    const complaints: string[] = [];
    const strangers: string[] = [];
    const { origin } = new URL(url);
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning')
        complaints.push(`${message.text()} ${message.location().url}`);
    });
    page.on('pageerror', (error) => complaints.push(String(error)));
    page.on('dialog', (dialog) => {
      complaints.push(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    page.on('request', (request) => {
      const asked = request.url();
      if (!asked.startsWith(`${origin}/`) && !asked.startsWith('data:')) strangers.push(asked);
    });
    await page.goto(url);
    return { page, complaints, strangers };
  };
}

function installed(): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter);
  return folders.flatMap((folder) => NAMES.map((name) => join(folder, name))).find(isProgram);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

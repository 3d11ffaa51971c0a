// What every page must be: in nobody's way who reads with other eyes or hands, light, and alone with its server.

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import type { Page } from 'playwright-core';
import * as assert from 'uvu/assert';
import type { Visit } from '../support/browser.ts';
import { ask } from '../support/serve.ts';

const AXE = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

interface Violation {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
}

/** Fails when axe-core finds anything serious, or when something sticks out of the window. */
export async function assertReadable(page: Page): Promise<void> {
  // Colours that are still changing are neither of the two.
  await page.evaluate(
    'Promise.allSettled(document.getAnimations().map((one) => one.effect.getComputedTiming().endTime < 2000 && one.finished))',
  );
  // As the tools of a browser put it there: the policy of the page lets nothing in.
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(AXE);
  const violations = await page.evaluate<Violation[]>(
    'axe.run({ resultTypes: ["violations"] }).then(({ violations }) => violations)',
  );
  const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
  assert.equal(
    serious.map(
      ({ id, nodes }) => `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`).join('\n')}`,
    ),
    [],
  );
  const [wide, window] = await page.evaluate<[number, number]>('[document.documentElement.scrollWidth, innerWidth]');
  assert.ok(wide <= window, `${wide} of ${window} px`);
}

/** Fails when the page has broken its policy, met an error, or asked anybody else. */
export function assertQuiet({ complaints, strangers }: Visit): void {
  assert.equal([complaints, strangers], [[], []]);
}

interface Loaded {
  readonly name: string;
  /** On the wire. */
  readonly bytes: number;
}

/** Parts that others have made: Swagger UI, and the editor that the script of the studio holds. */
const VENDORED = /\/(?:swagger-ui[^/]*|studio\.js)$/;

/** Fails when a browser has loaded more than three files of ours for the page, or more than 100 kB as they were sent. */
export async function assertLight(page: Page): Promise<void> {
  const loaded = await page.evaluate<Loaded[]>(
    `[...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]
      .filter(({ initiatorType }) => !['fetch', 'xmlhttprequest', 'beacon'].includes(initiatorType))
      .map(({ name, encodedBodySize }) => ({ name: new URL(name).pathname, bytes: encodedBodySize }))`,
  );
  const own = loaded.filter(({ name }) => !VENDORED.test(name));
  const words = own.map(({ name, bytes }) => `${name} ${bytes}`).join(', ');
  assert.ok(own.length <= 3, words);
  const bytes = own.reduce((sum, one) => sum + one.bytes, 0);
  assert.ok(bytes > 0 && bytes <= 100_000, `${bytes}: ${words}`);
}

/** Bytes of a page, compressed, with all scripts and sheets that it loads. */
export async function weightOf(url: string): Promise<number> {
  const seen = new Map<string, number>();
  const load = async (address: string): Promise<void> => {
    if (seen.has(address)) return;
    seen.set(address, 0);
    const { status, text } = await ask(address, { headers: { accept: 'text/html, */*' } });
    assert.is(status, 200, address);
    seen.set(address, gzipSync(text).length);
    for (const [, path] of text.matchAll(/(?:src|href)="(\/pages\/[^"]+)"/g)) await load(new URL(path!, address).href);
  };
  await load(url);
  assert.is(seen.size, 3, 'the page, its script and its style sheet');
  return [...seen.values()].reduce((sum, bytes) => sum + bytes);
}

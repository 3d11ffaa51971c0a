// What every page must be: in nobody's way who reads with other eyes or hands, and alone with its server.

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import * as assert from 'uvu/assert';
import type { Visit } from '../support/browser.ts';

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

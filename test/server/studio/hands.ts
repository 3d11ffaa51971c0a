// What hands do in the studio, and what eyes see of it.

import type { Page } from 'playwright-core';

/** Replaces the whole text of the editor by a paste. */
export async function paste(page: Page, text: string): Promise<void> {
  await page.locator('#editor .cm-content').click();
  await page.keyboard.press('Control+a');
  await pasteHere(page, text);
}

/**
 * Pastes at the cursor. `keyboard.insertText` is no paste: the browser changes the page, the editor guesses the edit from it, and loses a
 * line end now and then when the cursor has just moved. Keys and pastes of people come as events.
 */
export const pasteHere = (page: Page, text: string): Promise<void> =>
  page.evaluate(`{
    const clipboardData = new DataTransfer();
    clipboardData.setData('text/plain', ${JSON.stringify(text)});
    const paste = new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true });
    document.querySelector('#editor').shadowRoot.querySelector('.cm-content').dispatchEvent(paste);
  }`);

/** The lines of the list of problems. */
export const problems = (page: Page): Promise<string[]> => page.locator('#problems li').allInnerTexts();

/** Opens a part of the page, such as `phone`. */
export const part = (page: Page, name: string): Promise<void> => page.locator(`.tabs [data-part="${name}"]`).click();

/** The whole text in the editor, of which only a part is in the page. */
export const text = (page: Page): Promise<string> =>
  page.evaluate<string>(
    `document.querySelector('#editor').shadowRoot.querySelector('.cm-content').cmTile?.view?.state.doc.toString() ?? document.querySelector('#editor').shadowRoot.querySelector('.cm-content').cmView.view.state.doc.toString()`,
  );

/** Types one answer after the other into the phone of the studio, and waits for what it shows. */
export async function dial(page: Page, steps: readonly (readonly [typed: string, shows: string])[]): Promise<void> {
  for (const [typed, shows] of steps) {
    await page.locator('#device .answer input').fill(typed);
    await page.locator('#device .answer .primary').click();
    await page.locator('#device .screen', { hasText: shows }).waitFor();
  }
}

/** Holds back the requests that go there from now on, until the function that it resolves with is called. */
export async function hold(page: Page, url: string): Promise<() => void> {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route(url, async (route) => {
    await released;
    await route.continue();
  });
  return release;
}

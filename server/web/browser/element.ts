// Making elements: what is put into one is text, unless it is an element itself; and values of variables as trees, in which
// what is large is closed until it is opened.

import { type Markup, markupText } from '../../../lib/markup.ts';

type Child = Node | string | false | undefined;

interface Shape {
  readonly class?: string;
  readonly text?: string;
  /** Attributes; `false` and what is undefined is left out, `true` has no value. */
  readonly is?: { readonly [attribute: string]: string | number | boolean | undefined };
  readonly on?: { readonly [event: string]: (event: never) => void };
}

/** A new element with everything that it has from its beginning. */
export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  { class: names, text, is = {}, on = {} }: Shape = {},
  children: readonly Child[] = [],
): HTMLElementTagNameMap[Tag] {
  const made = document.createElement(tag);
  if (names !== undefined) made.className = names;
  if (text !== undefined) made.textContent = text;
  for (const [name, value] of Object.entries(is))
    if (value !== undefined && value !== false) made.setAttribute(name, value === true ? '' : String(value));
  for (const [name, listen] of Object.entries(on)) made.addEventListener(name, listen as EventListener);
  made.append(...children.filter((child) => child !== false && child !== undefined));
  return made;
}

/** The elements of a template, which escapes the text in it. */
export function markupElements(markup: Markup): Element[] {
  const template = document.createElement('template');
  template.innerHTML = markupText(markup);
  return [...template.content.children];
}

/** A button that does something. */
export function button(
  label: string,
  press: () => void,
  { class: names = '', is = {} }: Shape = {},
): HTMLButtonElement {
  return element('button', { class: names, text: label, is: { type: 'button', ...is }, on: { click: press } });
}

const COPIED_MS = 1_500;

/** A button that copies a text, and says for a moment whether it could. */
export function copyButton(readText: () => string, names = ''): HTMLButtonElement {
  const copy = button('Copy', () => void press(), { class: names });
  async function press(): Promise<void> {
    copy.textContent = (await copyText(readText())) ? 'Copied' : 'Not allowed';
    setTimeout(() => {
      copy.textContent = 'Copy';
    }, COPIED_MS);
  }
  return copy;
}

/** Whether a text could be copied: pages over plain HTTP have no clipboard, and users may refuse it. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

/** Has the browser save something as a file. */
export function download(content: Blob, name: string): void {
  const href = URL.createObjectURL(content);
  element('a', { is: { href, download: name } }).click();
  setTimeout(() => URL.revokeObjectURL(href), 60_000);
}

/** An element that the server has put into the page. Throws when it has not: then page and script do not fit. */
export function findElement<Kind extends HTMLElement = HTMLElement>(id: string): Kind {
  const element = document.getElementById(id);
  if (element) return element as Kind;
  throw new Error(`The page has no #${id}.`);
}

/** Parts that are open from the beginning. */
const OPEN_PARTS = 4;

/** A value as text, or as a tree of its parts. */
export function valueTree(value: unknown, depth = 0): Node {
  if (value === null || typeof value !== 'object')
    return document.createTextNode(typeof value === 'string' && depth === 0 ? value : JSON.stringify(value));
  const parts: readonly (readonly [string, unknown])[] = Array.isArray(value)
    ? value.map((part, at) => [String(at + 1), part])
    : Object.entries(value);
  if (parts.length === 0) return document.createTextNode(Array.isArray(value) ? 'an empty list' : 'empty');
  const count = `${parts.length} ${Array.isArray(value) ? (parts.length === 1 ? 'item' : 'items') : parts.length === 1 ? 'field' : 'fields'}`;
  const lines = parts.map(([name, part]) =>
    element('li', {}, [element('span', { class: 'name', text: `${name}: ` }), valueTree(part, depth + 1)]),
  );
  return element('details', { class: 'tree', is: { open: depth === 0 && parts.length <= OPEN_PARTS } }, [
    element('summary', { text: count }),
    element('ul', {}, lines),
  ]);
}

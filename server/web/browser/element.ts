// Creates elements. Strings become text, never markup.

import { type Markup, markupText } from '../../../lib/markup.ts';

type Child = Node | string | false | undefined;

interface Shape {
  readonly class?: string;
  readonly text?: string;
  /** Attributes; `false` and undefined are left out, `true` has no value. */
  readonly is?: { readonly [attribute: string]: string | number | boolean | undefined };
  readonly on?: { readonly [event: string]: (event: never) => void };
}

/** Creates an element. */
export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  { class: names, text, is = {}, on = {} }: Shape = {},
  children: readonly Child[] = [],
): HTMLElementTagNameMap[Tag] {
  const node = document.createElement(tag);
  if (names !== undefined) node.className = names;
  if (text !== undefined) node.textContent = text;
  for (const [name, value] of Object.entries(is))
    if (value !== undefined && value !== false) node.setAttribute(name, value === true ? '' : String(value));
  for (const [name, listen] of Object.entries(on)) node.addEventListener(name, listen as EventListener);
  node.append(...children.filter((child) => child !== false && child !== undefined));
  return node;
}

/** The elements of a template, which escapes the text in it. */
export function markupElements(markup: Markup): Element[] {
  const template = document.createElement('template');
  template.innerHTML = markupText(markup);
  return [...template.content.children];
}

/** Creates a button. */
export function button(
  label: string,
  press: () => void,
  { class: names = '', is = {} }: Shape = {},
): HTMLButtonElement {
  return element('button', { class: names, text: label, is: { type: 'button', ...is }, on: { click: press } });
}

const COPIED_MS = 1_500;

/** A button that copies a text and briefly shows whether it could. */
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

/** Resolves to whether the text was copied. Pages over plain HTTP have no clipboard, and users may deny access. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

/** Downloads content as a file. */
export function download(content: Blob, name: string): void {
  const href = URL.createObjectURL(content);
  element('a', { is: { href, download: name } }).click();
  setTimeout(() => URL.revokeObjectURL(href), 60_000);
}

/** Finds an element of the page by id. Throws if the page does not match its script. */
export function findElement<Kind extends HTMLElement = HTMLElement>(id: string): Kind {
  const element = document.getElementById(id);
  if (element) return element as Kind;
  throw new Error(`The page has no #${id}.`);
}

/** Trees with at most this many parts are open at first. */
const OPEN_PARTS = 4;

/** Shows a value as text, or as a tree of its parts; `link` may show a text as something else. */
export function valueTree(value: unknown, link?: (text: string) => Node | undefined, depth = 0): Node {
  const linked = typeof value === 'string' && link?.(value);
  if (linked) return linked;
  if (value === null || typeof value !== 'object')
    return document.createTextNode(typeof value === 'string' && depth === 0 ? value : JSON.stringify(value));
  const parts: readonly (readonly [string, unknown])[] = Array.isArray(value)
    ? value.map((part, at) => [String(at + 1), part])
    : Object.entries(value);
  if (parts.length === 0) return document.createTextNode(Array.isArray(value) ? 'an empty list' : 'empty');
  const count = `${parts.length} ${Array.isArray(value) ? (parts.length === 1 ? 'item' : 'items') : parts.length === 1 ? 'field' : 'fields'}`;
  const lines = parts.map(([name, part]) =>
    element('li', {}, [element('span', { class: 'name', text: `${name}: ` }), valueTree(part, link, depth + 1)]),
  );
  return element('details', { class: 'tree', is: { open: depth === 0 && parts.length <= OPEN_PARTS } }, [
    element('summary', { text: count }),
    element('ul', {}, lines),
  ]);
}

// An SCXML file as a tree of elements in document order.

import { readFileSync } from 'node:fs';
import { parseXml, XmlCdata, XmlElement, XmlText } from '@rgrove/parse-xml';

export interface Element {
  readonly name: string;
  readonly attributes: { readonly [name: string]: string };
  readonly children: readonly Element[];
  readonly text: string;
}

/** Reads a file; throws when it is not well-formed. */
export function readDocument(path: string): Element {
  const { root } = parseXml(readFileSync(path, 'utf8'));
  if (!root) throw new Error(`${path} holds no element`);
  return elementOf(root);
}

/** The children with one of these names. */
export function childrenOf(element: Element, ...names: readonly string[]): Element[] {
  return element.children.filter((child) => names.includes(child.name));
}

function elementOf({ name, attributes, children }: XmlElement): Element {
  const isText = (node: unknown) => node instanceof XmlText || node instanceof XmlCdata;
  return {
    name,
    attributes,
    children: children.flatMap((child) => (child instanceof XmlElement ? [elementOf(child)] : [])),
    text: children.map((child) => (isText(child) ? (child as XmlText).text : '')).join(''),
  };
}

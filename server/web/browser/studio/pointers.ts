// Finds the value at a JSON pointer in the text of an editor, even while the text is not valid JSON.

import { ensureSyntaxTree, syntaxTree } from '@codemirror/language';
import type { EditorState } from '@codemirror/state';
import type { SyntaxNode } from '@lezer/common';

const PARSE_MS = 300;

/** Its range; undefined if there is none. */
export function findValue(state: EditorState, pointer: string): { from: number; to: number } | undefined {
  const steps = pointer
    .split('/')
    .slice(1)
    .map((step) => step.replace(/~1/g, '/').replace(/~0/g, '~'));
  const tree = ensureSyntaxTree(state, state.doc.length, PARSE_MS) ?? syntaxTree(state);
  let node: SyntaxNode | null = tree.topNode.firstChild;
  for (const step of steps) node = node && findChild(state, node, step);
  return node ? { from: node.from, to: node.to } : undefined;
}

function findChild(state: EditorState, node: SyntaxNode, step: string): SyntaxNode | null {
  if (node.name === 'Array')
    return listChildren(node).filter(({ name }) => !/^[[\],]$/.test(name))[Number(step)] ?? null;
  const property = listChildren(node).find((one) => {
    const name = one.getChild('PropertyName');
    return name && readName(state.sliceDoc(name.from, name.to)) === step;
  });
  return property?.lastChild ?? null;
}

function listChildren({ firstChild }: SyntaxNode): SyntaxNode[] {
  const found: SyntaxNode[] = [];
  for (let child = firstChild; child; child = child.nextSibling) found.push(child);
  return found;
}

function readName(source: string): string | undefined {
  try {
    return JSON.parse(source) as string;
  } catch {
    return undefined;
  }
}

// The text editor: JSON with proposals, explanations and problems of the server. It stands in a shadow tree, where its styles are
// allowed by the policy of the page.

import { acceptCompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { ensureSyntaxTree, foldKeymap, syntaxTree } from '@codemirror/language';
import { type Diagnostic, lintGutter, lintKeymap, setDiagnostics } from '@codemirror/lint';
import { highlightSelectionMatches, searchKeymap } from '@codemirror/search';
import { EditorState, type Extension, type Text } from '@codemirror/state';
import { EditorView, keymap } from '@codemirror/view';
import type { SyntaxNode } from '@lezer/common';
import { explanations, proposals } from './help.ts';
import { LOOK, shadowOf } from './look.ts';
import type { Problem } from './requests.ts';

export type EditedDocument = 'flow' | 'tests';

export interface EditorOptions {
  readonly host: HTMLElement;
  /** The name of the flow. */
  readonly flow: () => string;
  readonly onChange: (document: EditedDocument) => void;
  /** The cursor is in another place of the flow. */
  readonly onMove: (offset: number) => void;
  readonly onSave: () => void;
}

export interface Editor {
  readonly open: EditedDocument;
  text(document: EditedDocument): string;
  /** Another text, without a way back to the one before. */
  load(document: EditedDocument, text: string): void;
  /** Another text, as an edit that can be taken back. */
  change(document: EditedDocument, text: string): void;
  show(document: EditedDocument): void;
  problems(document: EditedDocument, problems: readonly Problem[]): void;
  /** Moves the cursor there and shows the place. */
  reveal(document: EditedDocument, offset: number): void;
  /** Of a line and a column, both 1-based. */
  offsetOf(document: EditedDocument, line: number, column: number): number;
  /** The offsets of the value at a JSON pointer; undefined where there is none. */
  find(document: EditedDocument, pointer: string): { readonly from: number; readonly to: number } | undefined;
  replace(document: EditedDocument, range: { readonly from: number; readonly to: number }, insert: string): void;
}

export function openEditor({ host, flow, onChange, onMove, onSave }: EditorOptions): Editor {
  const root = shadowOf(host);
  let open: EditedDocument = 'flow';
  const save = () => {
    onSave();
    return true;
  };
  const keys = keymap.of([
    { key: 'Mod-s', run: save, preventDefault: true },
    { key: 'Tab', run: acceptCompletion },
    ...closeBracketsKeymap,
    ...defaultKeymap,
    ...searchKeymap,
    ...historyKeymap,
    ...foldKeymap,
    ...completionKeymap,
    ...lintKeymap,
  ]);
  const heard = EditorView.updateListener.of((update) => {
    if (update.docChanged) onChange(open);
    if ((update.selectionSet || update.docChanged) && open === 'flow') onMove(update.state.selection.main.head);
  });
  const shared = [...LOOK, history(), closeBrackets(), highlightSelectionMatches(), keys, heard, lintGutter()];
  const label = (name: string) => EditorView.contentAttributes.of({ 'aria-label': name, tabindex: '0' });
  const extensions: { readonly [document in EditedDocument]: Extension } = {
    flow: [...shared, label('The flow as JSON'), proposals(flow), explanations(flow)],
    tests: [...shared, label('The tests as JSON')],
  };
  const make = (document: EditedDocument, doc: string) => EditorState.create({ doc, extensions: extensions[document] });
  const kept = { flow: make('flow', ''), tests: make('tests', '') };
  const view = new EditorView({ state: kept.flow, parent: root, root });
  const stateOf = (document: EditedDocument) => (document === open ? view.state : kept[document]);
  const setState = (document: EditedDocument, state: EditorState) => {
    kept[document] = state;
    if (document === open) view.setState(state);
  };
  const show = (document: EditedDocument) => {
    if (document === open) return;
    kept[open] = view.state;
    open = document;
    view.setState(kept[document]);
  };
  const replace: Editor['replace'] = (document, { from, to }, insert) => {
    const change = { changes: { from, to, insert } };
    if (document === open) view.dispatch(change);
    else {
      kept[document] = kept[document].update(change).state;
      onChange(document);
    }
  };

  return {
    get open() {
      return open;
    },
    text: (document) => stateOf(document).doc.toString(),
    load: (document, text) => setState(document, make(document, text)),
    change(document, text) {
      const before = stateOf(document).doc.toString();
      const { head, tail } = sameEnds(before, text);
      replace(document, { from: head, to: before.length - tail }, text.slice(head, text.length - tail));
    },
    show,
    problems(document, problems) {
      const { doc } = stateOf(document);
      const found = problems.map((problem) => toDiagnostic(stateOf(document), doc, problem));
      const state = stateOf(document).update(setDiagnostics(stateOf(document), found));
      if (document === open) view.dispatch(setDiagnostics(view.state, found));
      else kept[document] = state.state;
    },
    reveal(document, offset) {
      show(document);
      const anchor = Math.min(offset, view.state.doc.length);
      view.dispatch({ selection: { anchor }, effects: EditorView.scrollIntoView(anchor, { y: 'center' }) });
      view.focus();
    },
    offsetOf: (document, line, column) => offsetAt(stateOf(document).doc, line, column),
    find: (document, pointer) => findValue(stateOf(document), pointer),
    replace,
  };
}

function sameEnds(before: string, after: string): { head: number; tail: number } {
  const most = Math.min(before.length, after.length);
  let head = 0;
  while (head < most && before[head] === after[head]) head++;
  let tail = 0;
  while (tail < most - head && before.at(-1 - tail) === after.at(-1 - tail)) tail++;
  return { head, tail };
}

function offsetAt(doc: Text, line: number, column: number): number {
  const found = doc.line(Math.min(Math.max(line, 1), doc.lines));
  return Math.min(found.from + column - 1, found.to);
}

function toDiagnostic(state: EditorState, doc: Text, problem: Problem): Diagnostic {
  const { line, column, severity, code, message, fix, edit } = problem;
  const from = offsetAt(doc, line, column);
  const node = syntaxTree(state).resolveInner(from, 1);
  const isToken = node.from >= from - 1 && node.to > from && node.to - node.from < 500 && node.firstChild === null;
  const to = isToken ? node.to : Math.min(from + 1, doc.length);
  const actions = edit ? [{ name: 'Mend', apply: (view: EditorView) => view.dispatch({ changes: edit }) }] : [];
  return { from, to, severity, source: code, message: `${message}\n${fix}`, actions };
}

const PARSE_MS = 300;

function findValue(state: EditorState, pointer: string): { from: number; to: number } | undefined {
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

// The text editor: JSON with completions, explanations and problems of the server. In a shadow tree, where the content
// security policy allows its styles.

import { acceptCompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { ensureSyntaxTree, foldKeymap, syntaxTree } from '@codemirror/language';
import { type Diagnostic, lintGutter, lintKeymap, setDiagnostics } from '@codemirror/lint';
import { highlightSelectionMatches, searchKeymap } from '@codemirror/search';
import { EditorState, type Extension, Text } from '@codemirror/state';
import { EditorView, keymap } from '@codemirror/view';
import type { SyntaxNode } from '@lezer/common';
import type { Problem, TextEdit } from '../../../../lib/flow/format/problem.ts';
import { followText, type SentText } from './followed.ts';
import { type DescribeDraft, explanations, proposals } from './help.ts';
import { LOOK, openShadow } from './look.ts';

export type EditedDocument = 'flow' | 'tests';

export interface EditorOptions {
  readonly host: HTMLElement;
  /** The name of the flow. */
  readonly flow: () => string;
  readonly onChange: (document: EditedDocument) => void;
  /** The cursor has moved. */
  readonly onMove: (offset: number) => void;
  readonly onSave: () => void;
  /** A fix was not applied because the text has changed. */
  readonly onMissed: () => void;
}

export interface SentEdit {
  readonly edit: TextEdit;
  /** The checked text. */
  readonly sent: SentText;
}

export interface Editor {
  readonly open: EditedDocument;
  text(document: EditedDocument): string;
  /** The text to send, which maps positions of the answer to current ones. */
  send(document: EditedDocument): SentText;
  /** Replaces the text without undo. */
  load(document: EditedDocument, text: string): void;
  /** Replaces the text as an edit with undo. */
  change(document: EditedDocument, text: string): void;
  show(document: EditedDocument): void;
  /** Marks the problems of a sent text. */
  problems(document: EditedDocument, problems: readonly Problem[], sent: SentText): void;
  /** Applies a fix to a sent text, unless its place has changed. */
  mend(document: EditedDocument, change: SentEdit): void;
  /** Whether the text is the same, apart from line endings. */
  isSame(document: EditedDocument, text: string): boolean;
  /** Moves the cursor and scrolls there. */
  reveal(document: EditedDocument, offset: number): void;
  /** Range of the value at a JSON pointer, or undefined. */
  find(document: EditedDocument, pointer: string): { readonly from: number; readonly to: number } | undefined;
  replace(document: EditedDocument, edit: TextEdit): void;
}

export function openEditor({ host, flow, onChange, onMove, onSave, onMissed }: EditorOptions): Editor {
  const root = openShadow(host);
  let open: EditedDocument = 'flow';
  const onUpdate = EditorView.updateListener.of((update) => {
    if (update.docChanged) {
      followed[open].note(update.changes);
      onChange(open);
    }
    if ((update.selectionSet || update.docChanged) && open === 'flow') onMove(update.state.selection.main.head);
  });
  const extensions = editorExtensions({ flow, flowText: () => readState('flow').doc.toString(), onUpdate, onSave });
  const make = (document: EditedDocument, doc: string) => EditorState.create({ doc, extensions: extensions[document] });
  const states = { flow: make('flow', ''), tests: make('tests', '') };
  const followed = { flow: followText(), tests: followText() };
  const view = new EditorView({ state: states.flow, parent: root, root });
  const readState = (document: EditedDocument) => (document === open ? view.state : states[document]);
  const setState = (document: EditedDocument, state: EditorState) => {
    states[document] = state;
    followed[document].restart();
    if (document === open) view.setState(state);
  };
  const show = (document: EditedDocument) => {
    if (document === open) return;
    states[open] = view.state;
    open = document;
    view.setState(states[document]);
  };
  const replace: Editor['replace'] = (document, changes) => {
    if (document === open) view.dispatch({ changes });
    else {
      const update = states[document].update({ changes });
      states[document] = update.state;
      followed[document].note(update.changes);
      onChange(document);
    }
  };
  const mend: Editor['mend'] = (document, { edit, sent }) => {
    const current = sent.findEdit(edit);
    if (current) replace(document, current);
    else onMissed();
  };
  const compared = { flow: readText(''), tests: readText('') };

  return {
    get open() {
      return open;
    },
    text: (document) => readState(document).doc.toString(),
    send: (document) => followed[document].send(readState(document).doc),
    load: (document, text) => setState(document, make(document, text)),
    change(document, text) {
      const before = readState(document).doc.toString();
      const { head, tail } = sameEnds(before, text);
      const insert = text.slice(head, text.length - tail);
      replace(document, { from: head, to: before.length - tail, insert });
    },
    show,
    problems(document, problems, sent) {
      const state = readState(document);
      const apply = (edit: TextEdit) => mend(document, { edit, sent });
      const marks = problems.flatMap((problem) => makeDiagnostic(problem, { state, sent, apply }));
      const change = setDiagnostics(state, marks);
      if (document === open) view.dispatch(change);
      else states[document] = state.update(change).state;
    },
    reveal(document, offset) {
      show(document);
      const anchor = Math.min(offset, view.state.doc.length);
      view.dispatch({ selection: { anchor }, effects: EditorView.scrollIntoView(anchor, { y: 'center' }) });
      view.focus();
    },
    find: (document, pointer) => findValue(readState(document), pointer),
    mend,
    isSame(document, text) {
      if (compared[document].text !== text) compared[document] = readText(text);
      return readState(document).doc.eq(compared[document].doc);
    },
    replace,
  };
}

interface ExtensionOptions extends Pick<EditorOptions, 'flow' | 'onSave'> {
  readonly flowText: () => string;
  readonly onUpdate: Extension;
}

function editorExtensions({ flow, flowText, onUpdate, onSave }: ExtensionOptions) {
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
  const shared = [...LOOK, history(), closeBrackets(), highlightSelectionMatches(), keys, onUpdate, lintGutter()];
  const make = (name: string, describe: DescribeDraft): Extension => [
    ...shared,
    EditorView.contentAttributes.of({ 'aria-label': name, tabindex: '0' }),
    proposals(describe),
    explanations(describe),
  ];
  return {
    flow: make('The flow as JSON', (text) => ({ flow: flow(), text })),
    tests: make('The tests as JSON', (tests) => ({ flow: flow(), text: flowText(), tests })),
  } satisfies { readonly [document in EditedDocument]: Extension };
}

/** A text as a document of the editor, for comparison without copying. */
function readText(text: string): { readonly text: string; readonly doc: Text } {
  return { text, doc: Text.of(text.split(/\r\n?|\n/)) };
}

function sameEnds(before: string, after: string): { head: number; tail: number } {
  const most = Math.min(before.length, after.length);
  let head = 0;
  while (head < most && before[head] === after[head]) head++;
  let tail = 0;
  while (tail < most - head && before.at(-1 - tail) === after.at(-1 - tail)) tail++;
  return { head, tail };
}

interface DiagnosticPlace {
  readonly state: EditorState;
  readonly sent: SentText;
  readonly apply: (edit: TextEdit) => void;
}

/** Empty if the place is gone. */
function makeDiagnostic(problem: Problem, { state, sent, apply }: DiagnosticPlace): Diagnostic[] {
  const { line, column, severity, code, message, fix, edit } = problem;
  const from = sent.findPlace(line, column);
  if (from === undefined) return [];
  const node = syntaxTree(state).resolveInner(from, 1);
  const isToken = node.from >= from - 1 && node.to > from && node.to - node.from < 500 && node.firstChild === null;
  const to = isToken ? node.to : Math.min(from + 1, state.doc.length);
  const actions = edit ? [{ name: 'Mend', apply: () => apply(edit) }] : [];
  return [{ from, to, severity, source: code, message: `${message}\n${fix}`, actions }];
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

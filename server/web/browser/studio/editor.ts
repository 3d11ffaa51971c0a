// The text editor: JSON with completions, explanations and problems of the server. In a shadow tree, where the content
// security policy allows its styles.

import { acceptCompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from '@codemirror/autocomplete';
import {
  defaultKeymap,
  history,
  historyKeymap,
  isolateHistory,
  redo,
  redoDepth,
  undo,
  undoDepth,
} from '@codemirror/commands';
import { foldKeymap, syntaxTree } from '@codemirror/language';
import { type Diagnostic, lintGutter, lintKeymap, setDiagnostics } from '@codemirror/lint';
import { highlightSelectionMatches, searchKeymap } from '@codemirror/search';
import {
  ChangeSet,
  EditorState,
  type Extension,
  type StateCommand,
  Text,
  type Transaction,
  type TransactionSpec,
} from '@codemirror/state';
import { EditorView, keymap } from '@codemirror/view';
import type { Problem, TextEdit } from '../../../../lib/flow/format/problem.ts';
import { BESIDE, besideUndo, findEdits, followText, type SentEdits, type SentText } from './followed.ts';
import { type DescribeDraft, explanations, proposals } from './help.ts';
import { LOOK, openShadow } from './look.ts';
import { findValue } from './pointers.ts';

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
  /** Applies edits of both sent texts as one step of undo. Returns false, and changes nothing, where a place has changed. */
  apply(edits: { readonly [document in EditedDocument]: SentEdits }): boolean;
  /** Moves the cursor to a place of the flow, if it is open, without the focus. */
  look(offset: number): void;
  /** Takes back the last edit of the flow, or makes it again. */
  undo(): void;
  redo(): void;
  canUndo(): boolean;
  canRedo(): boolean;
}

export function openEditor(options: EditorOptions): Editor {
  const { host, flow, onChange, onMove, onSave, onMissed } = options;
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

  function dispatch(document: EditedDocument, change: Transaction | TransactionSpec): void {
    const update = 'state' in change ? change : readState(document).update(change);
    if (document === open) view.dispatch(update);
    else {
      states[document] = update.state;
      if (update.docChanged) followed[document].note(update.changes);
      if (update.docChanged) onChange(document);
    }
    // What an edit of the flow changed in the tests is taken back with it, while they are as it left them.
    for (const { value } of update.effects.filter((effect) => effect.is(BESIDE)))
      if (value.changes.length === readState('tests').doc.length) dispatch('tests', { changes: value.changes });
  }

  const show = (document: EditedDocument) => {
    if (document === open) return;
    states[open] = view.state;
    open = document;
    view.setState(states[document]);
  };
  const edits = editActions({ readState, dispatch, onMissed });
  const compared = { flow: readText(''), tests: readText('') };

  return {
    ...edits,
    get open() {
      return open;
    },
    text: (document) => readState(document).doc.toString(),
    send: (document) => followed[document].send(readState(document).doc),
    load(document, text) {
      states[document] = make(document, text);
      followed[document].restart();
      if (document === open) view.setState(states[document]);
    },
    show,
    problems(document, problems, sent) {
      const state = readState(document);
      const apply = (edit: TextEdit) => edits.mend(document, { edit, sent });
      const marks = problems.flatMap((problem) => makeDiagnostic(problem, { state, sent, apply }));
      dispatch(document, setDiagnostics(state, marks));
    },
    reveal(document, offset) {
      show(document);
      moveCursor(view, offset, 'center');
      view.focus();
    },
    look(offset) {
      if (open === 'flow') moveCursor(view, offset, 'nearest');
    },
    find: (document, pointer) => findValue(readState(document), pointer),
    isSame(document, text) {
      if (compared[document].text !== text) compared[document] = readText(text);
      return readState(document).doc.eq(compared[document].doc);
    },
    canUndo: () => undoDepth(readState('flow')) > 0,
    canRedo: () => redoDepth(readState('flow')) > 0,
  };
}

function moveCursor(view: EditorView, offset: number, y: 'center' | 'nearest'): void {
  const anchor = Math.min(offset, view.state.doc.length);
  const scroll = EditorView.scrollIntoView(anchor, { y, ...(y === 'nearest' && { yMargin: LOOK_MARGIN }) });
  view.dispatch({ selection: { anchor }, effects: scroll });
}

/** Pixels above and below a place that is looked at. */
const LOOK_MARGIN = 60;

interface EditHost extends Pick<EditorOptions, 'onMissed'> {
  readonly readState: (document: EditedDocument) => EditorState;
  readonly dispatch: (document: EditedDocument, change: Transaction | TransactionSpec) => void;
}

function editActions({
  readState,
  dispatch,
  onMissed,
}: EditHost): Pick<Editor, 'replace' | 'change' | 'mend' | 'apply' | 'undo' | 'redo'> {
  const replace: Editor['replace'] = (document, changes) => dispatch(document, { changes });
  const step = (command: StateCommand) => () =>
    void command({ state: readState('flow'), dispatch: (update) => dispatch('flow', update) });
  return {
    replace,
    undo: step(undo),
    redo: step(redo),
    change(document, text) {
      const before = readState(document).doc.toString();
      const { head, tail } = sameEnds(before, text);
      const insert = text.slice(head, text.length - tail);
      replace(document, { from: head, to: before.length - tail, insert });
    },
    mend(document, { edit, sent }) {
      const current = sent.findEdit(edit);
      if (current) replace(document, current);
      else onMissed();
    },
    apply({ flow, tests }) {
      const changes = findEdits(flow);
      const beside = findEdits(tests);
      if (!changes || !beside) return false;
      const { doc } = readState('tests');
      const set = ChangeSet.of(beside, doc.length);
      const effects = set.empty ? [] : [BESIDE.of({ changes: set, inverse: set.invert(doc) })];
      if (changes.length) dispatch('flow', { changes, effects, annotations: isolateHistory.of('full') });
      return true;
    },
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
  const shared = [
    ...LOOK,
    history(),
    besideUndo,
    closeBrackets(),
    highlightSelectionMatches(),
    keys,
    onUpdate,
    lintGutter(),
  ];
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

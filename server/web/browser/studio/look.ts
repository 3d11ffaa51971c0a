// Theme of the editors: the colors of the page, in a shadow tree, where the content security policy allows their styles.

import { json } from '@codemirror/lang-json';
import { bracketMatching, foldGutter, HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { unifiedMergeView } from '@codemirror/merge';
import { EditorState, type Extension } from '@codemirror/state';
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  lineNumbers,
} from '@codemirror/view';
import { tags } from '@lezer/highlight';

const THEME = EditorView.theme({
  '&': { height: '100%', color: 'var(--ink)', backgroundColor: 'var(--card)', fontSize: '13.5px' },
  '.cm-scroller': {
    fontFamily: 'var(--mono)',
    lineHeight: '1.5',
  },
  '.cm-gutters': { backgroundColor: 'var(--card)', color: 'var(--soft)', border: 'none' },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'var(--active-line)' },
  '&.cm-focused': { outline: 'none' },
  '.cm-cursor': { borderLeftColor: 'var(--ink)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'var(--selection)',
  },
  '.cm-tooltip': {
    backgroundColor: 'var(--card)',
    color: 'var(--ink)',
    border: '1px solid var(--line)',
    borderRadius: '8px',
    overflow: 'hidden',
    maxWidth: '34rem',
  },
  '.cm-tooltip-autocomplete ul li[aria-selected]': { backgroundColor: 'var(--accent)', color: 'var(--card)' },
  '.cm-completionDetail': { fontStyle: 'normal', opacity: '0.75', marginLeft: '0.75em' },
  '.cm-completionInfo': { whiteSpace: 'pre-wrap', padding: '6px 10px' },
  '.cm-matchingBracket': { backgroundColor: 'var(--selection)', outline: '1px solid var(--line)' },
  '.cm-panels': { backgroundColor: 'var(--quote)', color: 'var(--ink)' },
  '.cm-panel input, .cm-panel button': { font: 'inherit' },
  '.cm-textfield, .cm-button': {
    backgroundColor: 'var(--card)',
    backgroundImage: 'none',
    border: '1px solid var(--line)',
    color: 'var(--ink)',
  },
  '.cm-diagnostic-error': { borderLeftColor: 'var(--no)' },
  '.cm-diagnostic-warning': { borderLeftColor: 'var(--wait)' },
  '.cm-diagnostic': { whiteSpace: 'pre-wrap' },
  '.cm-foldPlaceholder': { backgroundColor: 'var(--quote)', color: 'var(--soft)', border: '1px solid var(--edge)' },
  '.explained': { padding: '8px 12px', whiteSpace: 'pre-wrap' },
  '.explained strong': { display: 'block' },
  '.cm-collapsedLines': { background: 'var(--quote)', color: 'var(--soft)' },
  '.cm-collapsedLines::before, .cm-collapsedLines::after': { content: '"…"' },
  '.cm-deletedChunk': { backgroundColor: 'var(--removed)' },
  '.cm-changedLine': { backgroundColor: 'var(--added) !important' },
  '.cm-changedText, .cm-deletedChunk .cm-deletedText': { background: 'none', textDecoration: 'underline' },
});

const COLOURS = HighlightStyle.define([
  { tag: tags.propertyName, color: 'var(--code-key)' },
  { tag: tags.string, color: 'var(--code-text)' },
  { tag: tags.number, color: 'var(--code-number)' },
  { tag: [tags.bool, tags.null], color: 'var(--code-word)' },
]);

/** Extensions of every editor. */
export const LOOK: readonly Extension[] = [
  lineNumbers(),
  foldGutter(),
  drawSelection(),
  highlightActiveLine(),
  highlightActiveLineGutter(),
  bracketMatching(),
  json(),
  syntaxHighlighting(COLOURS),
  EditorView.lineWrapping,
  EditorState.tabSize.of(2),
  THEME,
];

/** The shadow tree of an element. */
export function openShadow(host: HTMLElement): ShadowRoot {
  return host.shadowRoot ?? host.attachShadow({ mode: 'open' });
}

/** Shows the difference of two texts in an element. */
export function showDifference(host: HTMLElement, original: string, doc: string): void {
  const root = openShadow(host);
  root.replaceChildren();
  const difference = unifiedMergeView({ original, mergeControls: false, collapseUnchanged: { margin: 2, minSize: 4 } });
  const extensions = [
    ...[lineNumbers(), json(), syntaxHighlighting(COLOURS), THEME, EditorView.lineWrapping],
    ...[EditorState.readOnly.of(true), EditorView.editable.of(false), difference],
    EditorView.contentAttributes.of({ 'aria-label': 'Differences', tabindex: '0' }),
  ];
  new EditorView({ doc, extensions, parent: root, root });
}

// Completions and hover explanations from the server.

import {
  autocompletion,
  type CompletionContext,
  type CompletionResult,
  startCompletion,
} from '@codemirror/autocomplete';
import type { Extension } from '@codemirror/state';
import { type EditorView, hoverTooltip } from '@codemirror/view';
import type { Completion } from '../../../../lib/flow/editing/proposals.ts';
import { element } from '../element.ts';
import { post } from './requests.ts';

const TYPES: { readonly [kind: string]: string } = {
  key: 'property',
  value: 'enum',
  screen: 'class',
  variable: 'variable',
  field: 'property',
  function: 'function',
  filter: 'function',
  service: 'interface',
  flow: 'namespace',
};

/** A draft; `tests` if the editor shows its tests. */
export interface HelpedDraft {
  readonly flow: string;
  readonly text: string;
  readonly tests?: string;
}

/** Makes the draft of the text in the editor. */
export type DescribeDraft = (text: string) => HelpedDraft;

/** Completions for a draft. */
export function proposals(describe: DescribeDraft): Extension {
  const source = async (context: CompletionContext): Promise<CompletionResult | null> => {
    const before = context.state.sliceDoc(Math.max(0, context.pos - 2), context.pos);
    if (!context.explicit && !/[\w"{|.=]$/.test(before)) return null;
    const body = { ...describe(context.state.doc.toString()), offset: context.pos };
    const found = await post<{ from: number; to: number; items: Completion[] }>('/complete', body).catch(
      () => undefined,
    );
    if (!found?.items.length || context.aborted) return null;
    return {
      from: found.from,
      options: found.items.map((item) => toOption(item, found.to - context.pos)),
      validFor: /^\w*$/,
    };
  };
  return autocompletion({ override: [source], icons: false, activateOnTyping: true });
}

// `behind`: number of characters after the cursor to replace.
function toOption({ label, kind, detail, info, insert, caret }: Completion, behind: number) {
  return {
    label,
    type: TYPES[kind] ?? 'text',
    ...(detail !== undefined && { detail }),
    ...(info && { info }),
    apply: (view: EditorView, _: unknown, from: number, to: number) => {
      const end = Math.min(to + behind, view.state.doc.length);
      view.dispatch({ changes: { from, to: end, insert }, selection: { anchor: from + (caret ?? insert.length) } });
      if (caret !== undefined) startCompletion(view);
    },
  };
}

/** Explanations under the pointer. */
export function explanations(describe: DescribeDraft): Extension {
  return hoverTooltip(async (view, offset) => {
    const body = { ...describe(view.state.doc.toString()), offset };
    const asked = post<{ found: { from: number; to: number; title: string; words: string } | null }>('/explain', body);
    const found = (await asked.catch(() => undefined))?.found;
    if (!found) return null;
    const { from, to, title, words } = found;
    const create = () => ({
      dom: element('div', { class: 'explained' }, [element('strong', { text: title }), words]),
    });
    return { pos: from, end: to, above: true, create };
  });
}

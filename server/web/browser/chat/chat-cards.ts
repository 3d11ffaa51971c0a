// Cards in a reply: calls of tools and actions, and components, as tables that people can read.

import { element } from '../element.ts';

/** What a card tells; fields that are not given stay as they were. */
export interface CardFacts {
  readonly kind: 'tool' | 'action' | 'browser tool' | 'component';
  readonly name: string;
  readonly status?: string | undefined;
  readonly input?: unknown;
  readonly output?: unknown;
  readonly error?: string | undefined;
}

const STATUS: { readonly [status: string]: string } = { isRunning: 'running', done: 'done', error: 'failed' };

/** A card for a call or a component. */
export function card({ kind, name, status, input, output, error }: CardFacts): HTMLElement {
  const state = error !== undefined ? 'error' : status;
  return element('section', { class: `event ${state ?? ''}`, is: { 'aria-label': `${kind} ${name}` } }, [
    element('header', {}, [
      element('span', { class: 'kind', text: kind }),
      element('code', { text: name }),
      state !== undefined && element('span', { class: 'status', text: STATUS[state] ?? state }),
    ]),
    hasContent(input) && element('div', {}, [table(input)]),
    error !== undefined && element('p', { class: 'fault', text: error }),
    output !== undefined && element('details', {}, [element('summary', { text: 'Result' }), table(parsed(output))]),
  ]);
}

const hasContent = (value: unknown) =>
  value !== undefined && value !== null && (typeof value !== 'object' || Object.keys(value).length > 0);

// Outputs come as JSON in a text.
function parsed(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}

const DEEPEST = 4;

function table(value: unknown, depth = 0): HTMLElement {
  if (value === null || typeof value !== 'object' || depth === DEEPEST)
    return element('span', { class: 'value', text: typeof value === 'string' ? value : (JSON.stringify(value) ?? '') });
  const entries = Object.entries(value);
  if (entries.length === 0) return element('span', { class: 'value', text: Array.isArray(value) ? 'none' : 'nothing' });
  return element(
    'dl',
    { class: 'facts' },
    entries.flatMap(([key, part]) => [
      element('dt', { text: Array.isArray(value) ? String(Number(key) + 1) : key }),
      element('dd', {}, [table(part, depth + 1)]),
    ]),
  );
}

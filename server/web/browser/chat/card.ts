// A card of a reply: a call of a tool or an action with its arguments and result, or a component.

import { element } from '../element.ts';

/** Contents of a card; an update leaves out the fields that stay as they are. */
export interface CardFacts {
  readonly kind: 'tool' | 'action' | 'browser tool' | 'component';
  readonly name: string;
  readonly status?: string | undefined;
  readonly input?: unknown;
  readonly output?: unknown;
  readonly error?: string | undefined;
}

const STATUS: { readonly [status: string]: string } = { isRunning: 'running', done: 'done', error: 'failed' };

/** The card of a call or a component. */
export function cardElement({ kind, name, status, input, output, error }: CardFacts): HTMLElement {
  const state = error !== undefined ? 'error' : status;
  return element('section', { class: `event stack ${state ?? ''}`, is: { 'aria-label': `${kind} ${name}` } }, [
    element('header', { class: 'row' }, [
      element('span', { class: 'soft', text: kind }),
      element('code', { text: name }),
      state !== undefined && element('span', { class: 'status soft', text: STATUS[state] ?? state }),
    ]),
    hasContent(input) && element('div', {}, [table(input)]),
    error !== undefined && element('p', { class: 'bad', text: error }),
    output !== undefined &&
      element('details', {}, [element('summary', { text: 'Result' }), table(parseIfText(output))]),
  ]);
}

const hasContent = (value: unknown) =>
  value !== undefined && value !== null && (typeof value !== 'object' || Object.keys(value).length > 0);

// Outputs are JSON as text.
function parseIfText(value: unknown): unknown {
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
    {},
    entries.flatMap(([key, part]) => [
      element('dt', { text: Array.isArray(value) ? String(Number(key) + 1) : key }),
      element('dd', {}, [table(part, depth + 1)]),
    ]),
  );
}

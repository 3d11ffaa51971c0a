// One reply while it comes, with its cards: frames change what is shown of it, in the order in which they were written.

import type { FrameData, FrameName } from '../../../../lib/agent/run/frames.ts';
import { button, copyButton, element } from '../element.ts';
import { textParts } from './choices.ts';
import { markdownElements } from './markdown.ts';
import type { ReceivedFrame } from './service.ts';

export interface ReplyView {
  readonly element: HTMLElement;
  /** Shows what a frame says. */
  take(frame: ReceivedFrame): void;
  addText(text: string): void;
  addReasoning(text: string): void;
  addCard(id: string, facts: CardFacts): void;
  /** Nothing more comes; how it has ended is shown unless it has `finished`. */
  end(status: string): void;
  /** Its choices can be pressed no longer. */
  close(): void;
}

const THINKING = 'Thinking…';
const ENDINGS: { readonly [status: string]: string } = {
  aborted: 'Stopped.',
  interrupted: 'Interrupted: the server that wrote this has gone away.',
  failed: 'The reply has failed.',
};

export interface ReplyOptions {
  /** A flow writes lines and choices, a model Markdown. */
  readonly writer: 'flow' | 'model';
  /** Answers with the key of a choice of a flow. */
  readonly choose: (key: string) => void;
  /** Says the same once more, after a reply that was not made. */
  readonly retry: () => void;
}

/** Between two looks at a text of a model that is growing. */
const REDRAW_MS = 120;

/** A reply without anything in it. */
export function replyView({ writer, choose, retry }: ReplyOptions): ReplyView {
  const summary = element('summary', { text: THINKING });
  const thoughts = element('p');
  const reasoning = element('details', { class: 'reasoning', is: { hidden: true } }, [summary, thoughts]);
  const cards = element('div', { class: 'events stack' });
  const text = element('div', { class: 'text' });
  const notes = element('div', { class: 'notes' });
  const copy = copyButton(() => said);
  const again = button('Try again', retry, { is: { hidden: true } });
  const actions = element('div', { class: 'row small quiet', is: { hidden: true } }, [copy, again]);
  const whole = element('article', { class: 'message ai stack', is: { 'aria-label': 'Reply', 'aria-busy': true } }, [
    reasoning,
    cards,
    text,
    notes,
    actions,
  ]);
  const facts = new Map<string, { readonly facts: CardFacts; readonly shown: HTMLElement }>();
  let said = '';
  let redraw: ReturnType<typeof setTimeout> | undefined;

  const setText = (next: string) => {
    said = next;
    if (writer === 'flow') text.textContent = said;
    else redraw ??= setTimeout(drawMarkdown, REDRAW_MS);
  };

  function drawMarkdown(): void {
    clearTimeout(redraw);
    redraw = undefined;
    text.replaceChildren(...markdownElements(said));
  }

  const note = (words: string, kind: string) => notes.append(element('p', { class: kind, text: words }));

  function addCard(id: string, next: CardFacts): void {
    const known = facts.get(id);
    const merged = {
      ...known?.facts,
      ...Object.fromEntries(Object.entries(next).filter(([, value]) => value !== undefined)),
    };
    const shown = card(merged as CardFacts);
    if (known) known.shown.replaceWith(shown);
    else cards.append(shown);
    facts.set(id, { facts: merged as CardFacts, shown });
  }

  function addReasoning(words: string): void {
    reasoning.hidden = false;
    if (words !== THINKING) thoughts.append(words);
  }

  function end(status: string): void {
    whole.removeAttribute('aria-busy');
    summary.textContent = 'Thoughts';
    reasoning.hidden = thoughts.textContent === '';
    const ending = ENDINGS[status];
    if (ending !== undefined) note(ending, 'soft');
    actions.hidden = false;
    copy.hidden = said === '';
    again.hidden = status === 'finished';
    if (writer === 'model') {
      drawMarkdown();
      return;
    }
    const parts = textParts(said).map((part) =>
      'lines' in part
        ? element('p', { text: part.lines })
        : element(
            'div',
            { class: 'choices stack' },
            part.choices.map(({ key, label }) =>
              element('button', { is: { type: 'button' }, on: { click: () => choose(key) } }, [
                element('kbd', { text: key }),
                label,
              ]),
            ),
          ),
    );
    text.replaceChildren(...parts);
  }

  const takers: { readonly [name in FrameName]?: (data: FrameData[name]) => void } & {
    readonly browser_tool_call?: (data: { toolCallId: string; toolName: string; args?: object }) => void;
  } = {
    run: ({ resumed, partialLength }) => {
      if (resumed && partialLength !== undefined) setText(said.slice(0, partialLength));
    },
    reasoning: ({ reasoning: words }) => addReasoning(words),
    message: ({ content }) => addText(content),
    tool_call: ({ eventId, toolName: name, args: input, status, output }) =>
      addCard(eventId, { kind: 'tool', name, status, input: withoutName(input), output }),
    action_call: ({ toolCallId, toolName: name, args: input, status, output, error }) =>
      addCard(toolCallId, { kind: 'action', name, status, input, output, error }),
    browser_tool_call: ({ toolCallId, toolName: name, args: input }) =>
      addCard(toolCallId, { kind: 'browser tool', name, status: 'isRunning', input }),
    render_component: ({ eventId, componentName: name, args: input, status }) =>
      addCard(eventId ?? `component ${facts.size}`, { kind: 'component', name, status, input }),
    'router.update': ({ step }) => note(`Step: ${step}`, 'soft'),
    error: ({ error, detail }) => note([error, detail].filter(Boolean).join(' '), 'bad'),
    done: ({ status, partialText }) => {
      if (status !== 'finished' && partialText !== undefined) setText(partialText);
      end(status);
    },
  };

  function addText(more: string): void {
    setText(said + more);
  }

  return {
    element: whole,
    take: ({ event, data }) =>
      (takers[event as FrameName] as ((data: unknown) => void) | undefined)?.(JSON.parse(data)),
    addText,
    addReasoning,
    addCard,
    end,
    close: () => {
      for (const one of text.querySelectorAll('button')) one.disabled = true;
      again.hidden = true;
    },
  };
}

// Clients of the service find the name among the arguments, too.
function withoutName(args: object): object {
  return Object.fromEntries(Object.entries(args).filter(([key]) => key !== 'toolName'));
}

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

// Outputs come as JSON in a text.
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

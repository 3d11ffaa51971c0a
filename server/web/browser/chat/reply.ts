// One reply as it arrives: text, reasoning, cards of calls and notes, changed by frames in the order they were written.

import type { FrameData, FrameName } from '../../../../lib/agent/run/frame-data.ts';
import type { ReplyFrame } from '../../../../lib/client/agent.ts';
import { button, copyButton, element } from '../element.ts';
import { type CardFacts, cardElement } from './card.ts';
import { type TextPart, textParts } from './choices.ts';
import { markdownElements } from './markdown.ts';

const THINKING = 'Thinking…';
const ENDINGS: { readonly [status: string]: string } = {
  aborted: 'Stopped.',
  interrupted: 'Interrupted: the server that was writing this reply went away.',
  failed: 'The reply failed.',
};

export interface ReplyOptions {
  /** A flow writes lines and choices, a model Markdown. */
  readonly writer: 'flow' | 'model';
  /** Answers with the key of a choice of a flow. */
  readonly choose: (key: string) => void;
  /** Sends the message of a failed reply again. */
  readonly retry: () => void;
}

/** Interval between redraws of growing Markdown. */
const REDRAW_MS = 120;

type FrameHandlers = { readonly [name in FrameName]?: (data: FrameData[name]) => void } & {
  readonly browser_tool_call?: (data: { toolCallId: string; toolName: string; args?: object }) => void;
};

export class ReplyView {
  readonly element: HTMLElement;
  readonly #options: ReplyOptions;
  readonly #summary = element('summary', { text: THINKING });
  readonly #thoughts = element('p');
  readonly #reasoning = element('details', { class: 'reasoning', is: { hidden: true } }, [
    this.#summary,
    this.#thoughts,
  ]);
  readonly #cards = element('div', { class: 'events stack' });
  readonly #text = element('div', { class: 'text' });
  readonly #notes = element('div', { class: 'notes' });
  readonly #copy = copyButton(() => this.#source);
  readonly #retry: HTMLButtonElement;
  readonly #actions: HTMLElement;
  readonly #calls = new Map<string, { readonly facts: CardFacts; readonly card: HTMLElement }>();
  /** The text as it was written. */
  #source = '';
  #redraw: ReturnType<typeof setTimeout> | undefined;

  constructor(options: ReplyOptions) {
    this.#options = options;
    this.#retry = button('Try again', options.retry, { is: { hidden: true } });
    this.#actions = element('div', { class: 'row small quiet', is: { hidden: true } }, [this.#copy, this.#retry]);
    const is = { 'aria-label': 'Reply', 'aria-busy': true };
    this.element = element('article', { class: 'message ai stack', is }, [
      this.#reasoning,
      this.#cards,
      this.#text,
      this.#notes,
      this.#actions,
    ]);
  }

  /** Applies a frame. */
  take({ event, data }: ReplyFrame): void {
    (this.#handlers[event] as ((data: unknown) => void) | undefined)?.(data);
  }

  readonly #handlers: FrameHandlers = {
    run: ({ resumed, partialLength }) => {
      if (resumed && partialLength !== undefined) this.#setText(this.#source.slice(0, partialLength));
    },
    reasoning: ({ reasoning }) => this.addReasoning(reasoning),
    message: ({ content }) => this.addText(content),
    tool_call: ({ eventId, toolName: name, args, status, output }) =>
      this.addCard(eventId, { kind: 'tool', name, status, input: withoutName(args), output }),
    action_call: ({ toolCallId, toolName: name, args: input, status, output, error }) =>
      this.addCard(toolCallId, { kind: 'action', name, status, input, output, error }),
    browser_tool_call: ({ toolCallId, toolName: name, args: input }) =>
      this.addCard(toolCallId, { kind: 'browser tool', name, status: 'isRunning', input }),
    render_component: ({ eventId, componentName: name, args: input, status }) =>
      this.addCard(eventId ?? `component ${this.#calls.size}`, { kind: 'component', name, status, input }),
    'router.update': ({ step }) => this.#note(`Step: ${step}`, 'soft'),
    error: ({ error, detail }) => this.#note([error, detail].filter(Boolean).join(' '), 'bad'),
    done: ({ status, partialText }) => {
      if (status !== 'finished' && partialText !== undefined) this.#setText(partialText);
      this.end(status);
    },
  };

  addText(text: string): void {
    this.#setText(this.#source + text);
  }

  addReasoning(text: string): void {
    this.#reasoning.hidden = false;
    if (text !== THINKING) this.#thoughts.append(text);
  }

  /** Adds the card of a call, or updates it. */
  addCard(id: string, update: CardFacts): void {
    const last = this.#calls.get(id);
    const changes = Object.fromEntries(Object.entries(update).filter(([, value]) => value !== undefined));
    const facts = { ...last?.facts, ...changes } as CardFacts;
    const card = cardElement(facts);
    if (last) last.card.replaceWith(card);
    else this.#cards.append(card);
    this.#calls.set(id, { facts, card });
  }

  /** Closes the reply; shows the status unless it is `finished`. */
  end(status: string): void {
    this.element.removeAttribute('aria-busy');
    this.#summary.textContent = 'Thoughts';
    this.#reasoning.hidden = this.#thoughts.textContent === '';
    const ending = ENDINGS[status];
    if (ending !== undefined) this.#note(ending, 'soft');
    this.#actions.hidden = false;
    this.#copy.hidden = this.#source === '';
    this.#retry.hidden = status === 'finished';
    if (this.#options.writer === 'model') this.#drawMarkdown();
    else this.#text.replaceChildren(...textParts(this.#source).map((part) => this.#drawPart(part)));
  }

  /** Disables the choices. */
  close(): void {
    for (const choice of this.#text.querySelectorAll('button')) choice.disabled = true;
    this.#retry.hidden = true;
  }

  #setText(text: string): void {
    this.#source = text;
    if (this.#options.writer === 'flow') this.#text.textContent = text;
    else this.#redraw ??= setTimeout(() => this.#drawMarkdown(), REDRAW_MS);
  }

  #drawMarkdown(): void {
    clearTimeout(this.#redraw);
    this.#redraw = undefined;
    this.#text.replaceChildren(...markdownElements(this.#source));
  }

  #drawPart(part: TextPart): HTMLElement {
    if ('lines' in part) return element('p', { text: part.lines });
    const buttons = part.choices.map(({ key, label }) =>
      element('button', { is: { type: 'button' }, on: { click: () => this.#options.choose(key) } }, [
        element('kbd', { text: key }),
        label,
      ]),
    );
    return element('div', { class: 'choices stack' }, buttons);
  }

  #note(text: string, kind: 'soft' | 'bad'): void {
    this.#notes.append(element('p', { class: kind, text }));
  }
}

// The arguments repeat the name for older clients of the service.
function withoutName(args: object): object {
  return Object.fromEntries(Object.entries(args).filter(([key]) => key !== 'toolName'));
}

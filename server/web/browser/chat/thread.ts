// The messages of a chat: the transcript and the reply in progress.

import type { Message } from '../../../../lib/agent/session/message.ts';
import { button, element } from '../element.ts';
import { type ReplyOptions, ReplyView } from './reply.ts';

export interface Thread {
  /** Removes all messages and shows a placeholder. */
  clear(words: string): void;
  /** Adds older messages at the top. */
  prepend(messages: readonly Message[]): void;
  addMessage(text: string): void;
  /** Appends a new reply. */
  reply(): ReplyView;
  /** Shows a button that loads older messages; undefined removes it. */
  older(load: (() => void) | undefined): void;
  /** Runs work that makes messages longer; keeps the end visible if it was. */
  growing(work: () => void): void;
}

const NEAR_END_PX = 120;

export function thread(place: HTMLElement, options: ReplyOptions): Thread {
  let last: ReplyView | undefined;
  const isAtEnd = () => place.scrollHeight - place.scrollTop - place.clientHeight < NEAR_END_PX;
  const toEnd = () => place.scrollTo({ top: place.scrollHeight });

  function newReply(): ReplyView {
    last?.close();
    last = new ReplyView(options);
    return last;
  }
  function append(elements: HTMLElement): void {
    place.querySelector('.empty')?.remove();
    place.append(elements);
    toEnd();
  }

  return {
    clear(words) {
      last = undefined;
      place.replaceChildren(element('p', { class: 'empty soft', text: words }));
    },
    prepend(messages) {
      if (messages.length === 0) return;
      place.querySelector('.empty')?.remove();
      const isFirst = last === undefined && place.querySelector('.message') === null;
      const elements = messages.map((message, at) => {
        if (message.type === 'human') return human(message.content);
        const view = new ReplyView(options);
        tell(view, message);
        // Only the last message can be answered.
        if (isFirst && at === messages.length - 1) last = view;
        else view.close();
        return view.element;
      });
      const anchor = place.querySelector('.message');
      const before = place.scrollHeight;
      if (anchor) anchor.before(...elements);
      else place.append(...elements);
      if (isFirst) toEnd();
      else place.scrollTop += place.scrollHeight - before;
    },
    addMessage(text) {
      last?.close();
      append(human(text));
    },
    reply() {
      const view = newReply();
      append(view.element);
      return view;
    },
    older(load) {
      place.querySelector('.older')?.remove();
      if (load) place.prepend(button('Earlier messages', load, { class: 'older' }));
    },
    growing(work) {
      const wasAtEnd = isAtEnd();
      work();
      if (wasAtEnd) toEnd();
    },
  };
}

function human(text: string): HTMLElement {
  return element('article', { class: 'message human', text, is: { 'aria-label': 'You' } });
}

function tell(view: ReplyView, { content, reasoning, toolCalls = [] }: Message): void {
  if (reasoning) view.addReasoning(reasoning);
  for (const { id, name, args: input, status = 'done', output } of toolCalls)
    view.addCard(id, { kind: 'tool', name, status, input, output });
  view.addText(content);
  view.end('finished');
}

// The messages of one chat: those of the transcript, and the reply that is being written.

import type { Message } from '../../../../lib/agent/session/message.ts';
import { button, element } from '../element.ts';
import { type ReplyOptions, ReplyView } from './reply.ts';

export interface Thread {
  /** Shows nothing, with words in its place. */
  clear(words: string): void;
  /** Puts messages above all that are shown. */
  prepend(messages: readonly Message[]): void;
  addMessage(text: string): void;
  /** A new reply at the end. */
  reply(): ReplyView;
  /** Offers what is older; undefined: there is nothing. */
  older(load: (() => void) | undefined): void;
  /** Does something that makes messages longer, and keeps the end in sight if it was. */
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
  function append(made: HTMLElement): void {
    place.querySelector('.empty')?.remove();
    place.append(made);
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
      const made = messages.map((message, at) => {
        if (message.type === 'human') return human(message.content);
        const view = new ReplyView(options);
        tell(view, message);
        // Only what was said last can be answered.
        if (isFirst && at === messages.length - 1) last = view;
        else view.close();
        return view.element;
      });
      const anchor = place.querySelector('.message');
      const before = place.scrollHeight;
      if (anchor) anchor.before(...made);
      else place.append(...made);
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

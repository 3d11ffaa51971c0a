// The stream of the inspector: what comes in, and in words whether it does.

import { element, found } from '../element.ts';
import type { Message } from './inspector-wire.ts';

export interface StreamEnds {
  /** It begins, and tells from its beginning what it knows. */
  readonly onStart: () => void;
  readonly onMessage: (message: Message) => void;
}

const AGAIN_MS = 2_000;

/** Listens for as long as the page is open; a stream that broke is opened again. */
export function stream({ onStart, onMessage }: StreamEnds): void {
  const source = new EventSource('/inspector/stream');
  source.onopen = () => {
    say('live', 'Live');
    onStart();
  };
  source.onmessage = ({ data }: MessageEvent<string>) => onMessage(JSON.parse(data) as Message);
  source.onerror = () => {
    say('gone', 'Not connected; trying again …');
    if (source.readyState !== EventSource.CLOSED) return;
    setTimeout(() => stream({ onStart, onMessage }), AGAIN_MS);
  };
  addEventListener('pagehide', () => source.close(), { once: true });
}

function say(state: 'live' | 'gone', words: string): void {
  found('state').replaceChildren(element('span', { class: `dot ${state}` }), words);
}

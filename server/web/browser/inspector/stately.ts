// Sends the stream of the inspector to Stately's page in a frame, on request.

import { element, findElement } from '../element.ts';

const ORIGIN = 'https://stately.ai';
const READY = '@statelyai.connected';
const KEPT = 2_000;

findElement('send').addEventListener('click', () => {
  findElement('hand-off').hidden = true;
  findElement('notice').textContent = `Shown by ${ORIGIN}. Close this page, and nothing more is handed over.`;
  const frame = element('iframe', {
    is: { src: `${ORIGIN}/inspect`, title: 'Stately inspector', referrerpolicy: 'no-referrer' },
  });
  const waiting: unknown[] = [];
  let isReady = false;
  const hand = (message: unknown) => frame.contentWindow?.postMessage(message, ORIGIN);
  addEventListener('message', ({ origin, source, data }: MessageEvent) => {
    if (origin !== ORIGIN || source !== frame.contentWindow || (data as { type?: string } | null)?.type !== READY)
      return;
    isReady = true;
    for (const message of waiting.splice(0)) hand(message);
  });
  new EventSource('/inspector/stream?definitions=always').onmessage = ({ data }: MessageEvent<string>) => {
    const { twinline: _, ...message } = JSON.parse(data) as { twinline?: unknown };
    if (isReady) hand(message);
    else if (waiting.push(message) > KEPT) waiting.shift();
  };
  findElement('frame').replaceChildren(frame);
});

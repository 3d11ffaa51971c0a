// Sessions in which something failed, with their last turns, as the server remembers them.

import type { ToldTurn, TroubledSession } from '../../../telemetry/trouble.ts';
import { element, findElement } from '../element.ts';

const READ_AGAIN_MS = 5_000;

/** Shows them, and reads them again while the page is seen. The function shows only those of a caller, or all again. */
export function troubleList(): (ofCaller: readonly TroubledSession[] | undefined) => void {
  const list = findElement('trouble');
  let only: readonly TroubledSession[] | undefined;
  let shown = '';
  const show = (sessions: readonly TroubledSession[]) => {
    const key = JSON.stringify(sessions);
    // Redrawn only if there is something new: what was opened stays open.
    if (key === shown) return;
    shown = key;
    const opened = new Set([...list.querySelectorAll('details[open]')].map(({ id }) => id));
    list.replaceChildren(...sessions.map((one) => troubleEntry(one, opened.has(`trouble-${one.session}`))));
    if (!sessions.length) list.append(element('li', { class: 'quiet', text: 'Nothing has failed.' }));
  };
  const read = async () => {
    if (only !== undefined || document.hidden) return;
    const answer = await fetch('/inspector/trouble').catch(() => undefined);
    if (answer?.ok && only === undefined) show(((await answer.json()) as { sessions: TroubledSession[] }).sessions);
  };
  void read();
  setInterval(() => void read(), READ_AGAIN_MS);
  return (ofCaller) => {
    only = ofCaller;
    if (ofCaller) show(ofCaller);
    else void read();
  };
}

function troubleEntry({ session, at, reason, turns }: TroubledSession, isOpen: boolean): HTMLElement {
  const details = element('details', { is: { id: `trouble-${session}`, open: isOpen } }, [
    element('summary', { text: `${formatTime(at)} ${reason}` }),
    element('p', { class: 'soft', text: `session ${session}${turns[0] ? `, caller ${turns[0].caller}` : ''}` }),
    element('ol', { class: 'events' }, turns.map(turnLine)),
  ]);
  return element('li', {}, [details]);
}

function turnLine({ at, turn, from, to, outcome, reason, requestId }: ToldTurn): HTMLElement {
  const way = turn === null ? 'not taken' : `${turn} ${from ?? 'dial'} → ${to}`;
  const parts = [formatTime(at), way, outcome === 'end' && 'end', reason, requestId];
  return element('li', { text: parts.filter(Boolean).join(' · ') });
}

const formatTime = (at: number) => new Date(at).toTimeString().slice(0, 8);

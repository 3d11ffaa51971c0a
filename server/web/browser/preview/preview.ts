// The page of a preview: opens the link behind the # of the address, and lets its phone dial.

import { element, findElement } from '../element.ts';
import { Phone, type PhoneLink } from '../phone/phone.ts';
import type { PhoneAnswer, PhoneSessionState } from '../phone/requests.ts';
import { answerPart, screenPart } from '../phone/screen.ts';

const token = location.hash.slice(1);
const about = findElement('about');
const dial = findElement<HTMLButtonElement>('dial');

async function post<T>(path: string, body: object): Promise<T> {
  const headers = { 'Content-Type': 'application/json' };
  const answer = await fetch(`/preview${path}`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ token, ...body }),
  }).catch(() => undefined);
  const result = (await answer?.json().catch(() => undefined)) as (T & { error?: string }) | undefined;
  if (answer?.ok && result) return result;
  throw new Error(result?.error ?? 'The server did not answer. Try again.');
}

interface PreviewScreen {
  readonly kind: 'continue' | 'end';
  readonly text: string;
  readonly state: PhoneSessionState | null;
}

let state: PhoneSessionState | undefined;
const link: PhoneLink = {
  async send({ sessionId }): Promise<PhoneAnswer> {
    const typed = phone.state.session?.typed ?? [];
    try {
      const reply = await post<PreviewScreen>('/dial', {
        session: sessionId,
        inputs: ['', ...typed.map(({ text }) => text)],
      });
      state = reply.state ?? undefined;
      return { kind: reply.kind, text: reply.text, raw: reply.text };
    } catch (error) {
      return { kind: 'trouble', text: (error as Error).message, raw: '' };
    }
  },
  readState: async () => state,
};

const phone: Phone = new Phone(
  { number: '', code: '', delay: 0, log: [] },
  { mode: 'cumulative', changed: () => show(), link },
);
const deps = { nameControl: (what: string) => what, textChars: 0 };
const parts = [screenPart(phone, deps), answerPart(phone, deps)];
const show = () => {
  for (const part of parts) part.show();
};
findElement('device').replaceChildren(
  element(
    'div',
    {},
    parts.flatMap(({ elements }) => elements),
  ),
);
show();
dial.addEventListener('click', () => void phone.dial());
addEventListener('hashchange', () => location.reload());

try {
  const { flow, at, until } = await post<{ flow: string; at: string; until: string }>('/open', {});
  const say = (time: string) => new Date(time).toLocaleString([], { dateStyle: 'medium', timeStyle: 'short' });
  findElement('title').textContent = `Preview of “${flow}”`;
  about.textContent = `A draft as it was on ${say(at)}. This link ends on ${say(until)}.`;
  dial.disabled = false;
  await phone.dial();
} catch (error) {
  about.textContent = (error as Error).message;
  about.classList.add('bad');
}

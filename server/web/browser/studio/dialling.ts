// A phone that dials the draft and records dialogues as tests.

import type { FlowCode } from '../../../../lib/ussd/codes.ts';
import type { TurnReasons } from '../../studio/reasons.ts';
import { element, findElement } from '../element.ts';
import { Phone, type PhoneLink } from '../phone/phone.ts';
import { type PhoneAnswer, replaceSecrets } from '../phone/requests.ts';
import { answerPart, screenPart } from '../phone/screen.ts';
import { showReasons } from './form/reasons.ts';
import { get, post } from './requests.ts';

export interface DialledDraft {
  readonly flow: string;
  readonly text: string;
}

export interface DiallingOptions {
  readonly draft: () => DialledDraft;
  readonly tests: () => string;
  /** A dialogue was added to the tests. */
  readonly onRecorded: (tests: string) => void;
  /** The path of a screen was selected. */
  readonly onPick: (path: string) => void;
  readonly tell: (words: string) => void;
}

interface DialReply {
  readonly kind: 'continue' | 'end';
  readonly text: string;
  readonly why?: TurnReasons;
}

const NUMBER = '+260971230001';
/** Of a flow without a code of its own. */
const ANY_CODE = '*2233#';
const TEXT_CHARS = 0;

export function dialling({ draft, tests, onRecorded, onPick, tell }: DiallingOptions): void {
  const box = findElement('device');
  const name = findElement<HTMLInputElement>('test-name');
  const nameControl = (what: string) => `${what}, phone of the studio`;
  const link: PhoneLink = {
    async send({ sessionId, phoneNumber, serviceCode, text: typed }): Promise<PhoneAnswer> {
      try {
        const dialled = { ...draft(), sessionId, phoneNumber, serviceCode, typed };
        const { kind, text, why } = await post<DialReply>('/dial', dialled);
        showReasons(why, onPick);
        return { kind, text, raw: text };
      } catch (error) {
        return { kind: 'trouble', text: (error as Error).message, raw: '' };
      }
    },
    readState: (sessionId) =>
      get<{ screen: string; secret: boolean; keys: string[] }>(`/phones/${encodeURIComponent(sessionId)}`).catch(
        () => undefined,
      ),
  };
  const codes = JSON.parse(findElement('studio').dataset.codes!) as readonly FlowCode[];
  const phone: Phone = new Phone(
    { number: NUMBER, code: ANY_CODE, delay: 0, log: [] },
    { mode: 'cumulative', changed: () => show(), link },
  );
  const parts = [
    screenPart(phone, { nameControl, textChars: TEXT_CHARS }),
    answerPart(phone, { nameControl, textChars: TEXT_CHARS }),
  ];
  const form = findElement<HTMLFormElement>('record');
  const show = () => {
    for (const part of parts) part.show();
    form.hidden = !phone.state.session?.screen;
  };
  box.replaceChildren(
    element(
      'div',
      {},
      parts.flatMap(({ elements }) => elements),
    ),
  );
  findElement('dial').addEventListener('click', () => {
    const own = codes.find(({ flow }) => flow === draft().flow);
    phone.set({ code: own?.code ?? ANY_CODE });
    void phone.dial();
  });
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const { session } = phone.state;
    if (!session) return;
    const dialogue = {
      ...{ sessionId: session.id, phoneNumber: NUMBER, tests: tests() },
      name: name.value.trim(),
      inputs: ['', ...replaceSecrets(session.typed)],
    };
    post<{ tests: string }>('/record', { ...draft(), ...dialogue }).then(
      ({ tests: text }) => {
        name.value = '';
        onRecorded(text);
      },
      (error: Error) => tell(`No test was recorded: ${error.message}`),
    );
  });
  show();
}

// The screen of a phone with its fill level, and its inputs: input line, keypad, keyboard.

import { room } from '../../../../lib/flow/run/render.ts';
import { button, element } from '../element.ts';
import type { Phone } from './phone.ts';
import { requestText } from './requests.ts';

/** A part of a drawn phone. */
export interface DevicePart {
  readonly elements: readonly HTMLElement[];
  /** Updates the part. */
  show(): void;
}

/** Dependencies of the parts of a phone. */
export interface PartDeps {
  /** Makes a label that is unique among phones: `Screen, Phone 2`. */
  readonly nameControl: (what: string) => string;
  /** Longest cumulative `text` that the server accepts; 0 in other modes. */
  readonly textChars: number;
}

const UNITS = {
  gsm7: ['characters', 'In GSM-7; signs such as € and [ count twice'],
  ucs2: ['characters', 'In UCS-2, as a sign of it is not in GSM-7: it has less room'],
} as const;

export function screenPart(phone: Phone, { nameControl, textChars }: PartDeps): DevicePart {
  const screen = element('pre', { is: { role: 'status', 'aria-label': nameControl('Screen'), tabindex: 0 } });
  const meter = element('progress', { is: { 'aria-label': nameControl('Room on the screen') } });
  const fill = element('span');
  const sent = element('span');

  function show(): void {
    const { state, busy } = phone;
    const { session } = state;
    const shown = busy ? undefined : session?.screen;
    screen.textContent = busy ? 'USSD code running…' : (shown?.text ?? 'Dial a code.');
    screen.className = `screen ${busy ? 'busy' : (shown?.kind ?? 'idle')}`;
    const { encoding, used, limit } = room(shown === undefined || shown.kind === 'trouble' ? '' : shown.text);
    meter.max = limit;
    meter.value = Math.min(used, limit);
    meter.classList.toggle('over', used > limit);
    const [unit, hint] = UNITS[encoding];
    fill.textContent = `${used}/${limit} ${unit}${encoding === 'ucs2' ? ' (UCS-2)' : ''}${shown?.kind === 'end' ? ' · end' : ''}`;
    fill.title = hint;
    sent.textContent =
      textChars > 0 ? `text ${requestText(session?.typed ?? [], 'cumulative').length}/${textChars}` : '';
  }
  return { elements: [screen, meter, element('p', { class: 'count row apart' }, [fill, sent])], show };
}

const KEYS = ['1', '2', '3', '4', '5', '6', '7', '8', '9', '*', '0', '#'];
const NAMES: { readonly [key: string]: string } = { '*': 'star', '#': 'hash' };

export interface AnswerPart extends DevicePart {
  focus(): void;
  /** Handles a key of the keyboard, except in inputs. */
  type(event: KeyboardEvent): void;
}

export function answerPart(phone: Phone, { nameControl }: PartDeps): AnswerPart {
  const line = element('input', {
    class: 'grow',
    is: {
      'aria-label': nameControl('Your answer'),
      placeholder: 'Your answer',
      autocomplete: 'off',
      spellcheck: 'false',
    },
  });
  const send = element('button', { class: 'primary', text: 'Send', is: { type: 'submit' } });
  const press = (key: string) => {
    if (phone.isOpen && !phone.busy) line.value += key;
  };
  const keys = KEYS.map((key) =>
    button(key, () => press(key), { is: { 'aria-label': nameControl(`Key ${NAMES[key] ?? key}`) } }),
  );
  const clear = button('⌫', () => erase(), { is: { 'aria-label': nameControl('Erase the last character') } });
  const erase = () => {
    line.value = [...line.value].slice(0, -1).join('');
  };
  const answer = (event: Event) => {
    event.preventDefault();
    if (!phone.isOpen || phone.busy) return;
    const text = line.value;
    line.value = '';
    void phone.answer(text).then(() => line.focus());
  };
  const form = element('form', { class: 'answer row', on: { submit: answer } }, [line, clear, send]);

  return {
    elements: [
      form,
      element('div', { class: 'keypad', is: { role: 'group', 'aria-label': nameControl('Keypad') } }, keys),
    ],
    focus: () => line.focus(),
    type: ({ key, target, ctrlKey, metaKey, altKey }) => {
      if ((target as Element).matches('input') || ctrlKey || metaKey || altKey) return;
      if (KEYS.includes(key)) press(key);
      else if (key === 'Backspace') erase();
    },
    show: () => {
      for (const one of [line, send, clear, ...keys]) one.disabled = !phone.isOpen || phone.busy;
      line.classList.toggle('secret', phone.asksForSecret);
    },
  };
}

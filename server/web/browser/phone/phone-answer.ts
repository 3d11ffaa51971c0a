// Answering on a phone: a line to type in, the keypad, and the keyboard of the machine as a keypad.

import { button, element } from '../element.ts';
import type { Phone } from './phone.ts';
import type { DevicePart, PartDeps } from './phone-screen.ts';

const KEYS = ['1', '2', '3', '4', '5', '6', '7', '8', '9', '*', '0', '#'];
const NAMES: { readonly [key: string]: string } = { '*': 'star', '#': 'hash' };

export interface AnswerPart extends DevicePart {
  focus(): void;
  /** Takes a key of the machine's keyboard, unless it has a meaning where it was pressed. */
  type(event: KeyboardEvent): void;
}

export function answerPart(phone: Phone, { named }: PartDeps): AnswerPart {
  const line = element('input', {
    is: { 'aria-label': named('Your answer'), placeholder: 'Your answer', autocomplete: 'off', spellcheck: 'false' },
  });
  const send = element('button', { class: 'primary', text: 'Send', is: { type: 'submit' } });
  const press = (key: string) => {
    if (phone.isOpen && !phone.busy) line.value += key;
  };
  const keys = KEYS.map((key) =>
    button(key, () => press(key), { is: { 'aria-label': named(`Key ${NAMES[key] ?? key}`) } }),
  );
  const clear = button('⌫', () => erase(), { is: { 'aria-label': named('Erase the last character') } });
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
  const form = element('form', { class: 'answer', on: { submit: answer } }, [line, clear, send]);

  return {
    elements: [form, element('div', { class: 'keypad', is: { role: 'group', 'aria-label': named('Keypad') } }, keys)],
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

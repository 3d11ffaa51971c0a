// Dialling on a phone: its number and the code. Each dial is a new session.

import { element } from '../element.ts';
import type { Phone } from './phone.ts';
import type { DevicePart } from './phone-screen.ts';

interface Field {
  readonly label: string;
  readonly value: string;
  readonly pattern: string;
  readonly title: string;
}

export function diallerPart(phone: Phone, onDialled: () => void): DevicePart {
  const [number, numberLabel] = field({
    label: 'Number',
    value: phone.state.number,
    pattern: String.raw`\+[1-9][0-9]{6,14}`,
    title: 'With + and the country, such as +260971230001',
  });
  const [code, codeLabel] = field({
    label: 'Code',
    value: phone.state.code,
    pattern: String.raw`\*[0-9]+(\*[0-9]+)*#`,
    title: 'Such as *2233#',
  });
  const dial = element('button', {
    class: 'primary',
    text: 'Dial',
    is: { type: 'submit', title: 'Begins a new session' },
  });
  const begin = (event: Event) => {
    event.preventDefault();
    phone.set({ number: number.value, code: code.value });
    void phone.dial().then(onDialled);
  };
  return {
    elements: [element('form', { class: 'dialler', on: { submit: begin } }, [numberLabel, codeLabel, dial])],
    show: () => {
      dial.disabled = phone.busy;
    },
  };
}

function field({ label, ...is }: Field): [HTMLInputElement, HTMLLabelElement] {
  const input = element('input', { is: { ...is, required: true, autocomplete: 'off', spellcheck: 'false' } });
  return [input, element('label', {}, [label, input])];
}

// What a network may do to a phone: repeat, double, lose, delay and forget, each at the press of a button.

import { button, element } from '../element.ts';
import type { Fault, Phone } from './phone.ts';
import type { DevicePart, PartDeps } from './phone-screen.ts';

const DELAY_MS = { min: 0, max: 10_000, step: 250 } as const;

export function faultsPart(phone: Phone, { named }: PartDeps): DevicePart {
  const retry = button('Retry', () => void phone.retry(), { is: { title: 'Sends the last request once more' } });
  const expire = button('Time out', () => void phone.expire(), {
    is: { title: 'The network says that the session is over, and the phone does not know' },
  });
  const anew = button('New session', () => void phone.dial(), {
    is: { title: 'Dials again under another session id' },
  });
  const toggle = (label: string, fault: Fault, title: string) =>
    button(label, () => phone.setFault(phone.fault === fault ? 'none' : fault), { is: { title } });
  const twice = toggle('Send twice', 'twice', 'The next request leaves two times at once');
  const drop = toggle('Lose answer', 'drop', 'The answer to the next request is thrown away');
  const delay = element('input', { is: { type: 'range', ...DELAY_MS, value: phone.state.delay } });
  delay.addEventListener('input', () => phone.set({ delay: Number(delay.value) }));
  const seconds = element('output');
  const group = { role: 'group', 'aria-label': named('What goes wrong') };

  return {
    elements: [
      element('div', { class: 'faults', is: group }, [retry, twice, drop, expire, anew]),
      element('label', { class: 'delay' }, ['Delay', delay, seconds]),
    ],
    show: () => {
      const { state, busy, fault } = phone;
      for (const one of [retry, expire, anew]) one.disabled = !state.session || busy;
      twice.setAttribute('aria-pressed', String(fault === 'twice'));
      drop.setAttribute('aria-pressed', String(fault === 'drop'));
      seconds.textContent = `${state.delay / 1_000} s`;
    },
  };
}

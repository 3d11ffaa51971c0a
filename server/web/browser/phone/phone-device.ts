// A phone as it is seen and touched, put together from its parts.

import { button, element } from '../element.ts';
import type { Phone } from './phone.ts';
import { answerPart } from './phone-answer.ts';
import { diallerPart } from './phone-dialler.ts';
import { faultsPart } from './phone-faults.ts';
import { showLog } from './phone-log.ts';
import { type PartDeps, screenPart } from './phone-screen.ts';

export interface DeviceDeps extends Pick<PartDeps, 'textChars'> {
  readonly name: string;
  readonly save: (phone: Phone) => Promise<void>;
  readonly remove: () => void;
}

export interface Device {
  readonly element: HTMLElement;
  /** Shows the phone as it is now. */
  update(): void;
}

/** Draws a phone. */
export function device(phone: Phone, { name, textChars, save, remove }: DeviceDeps): Device {
  const deps = { textChars, named: (what: string) => `${what}, ${name}` };
  const screen = screenPart(phone, deps);
  const answer = answerPart(phone, deps);
  const faults = faultsPart(phone, deps);
  const dialler = diallerPart(phone, answer.focus);
  const saving = button('Save as flow test', () => void save(phone));
  const log = element('ol', { class: 'log', is: { 'aria-label': deps.named('Requests') } });
  const noLog = element('p', { class: 'none', text: 'Nothing was sent so far.' });
  const removal = button('Remove', remove, { is: { 'aria-label': deps.named('Remove') } });

  const whole = element('section', { class: 'phone card', is: { 'aria-label': name }, on: { keydown: answer.type } }, [
    element('header', {}, [element('h2', { text: name }), removal]),
    ...dialler.elements,
    element('div', { class: 'device' }, [...screen.elements, ...answer.elements]),
    ...faults.elements,
    element('div', { class: 'over-log' }, [element('h3', { text: 'On the wire' }), saving]),
    noLog,
    log,
  ]);

  function update(): void {
    for (const part of [screen, answer, faults, dialler]) part.show();
    saving.disabled = !phone.state.session || phone.busy;
    noLog.hidden = phone.state.log.length > 0;
    showLog(log, phone.state.log);
  }
  update();
  return { element: whole, update };
}

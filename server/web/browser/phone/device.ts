// A phone on the page: screen, keypad, dialler, network faults, and the log of requests.

import type { FlowCode } from '../../../../lib/ussd/codes.ts';
import { button, element } from '../element.ts';
import type { NetworkFault, Phone, PhoneExchange } from './phone.ts';
import { answerPart, type DevicePart, type PartDeps, screenPart } from './screen.ts';
import { type Speech, type SpeechChoices, speechPart } from './speech.ts';

export interface DeviceDeps extends Pick<PartDeps, 'textChars'> {
  readonly name: string;
  /** Resolves to a message. */
  readonly save: (phone: Phone) => Promise<string>;
  /** Adds the dialogue to the tests of its flow. Rejects with the reason. @default not possible */
  readonly addTest?: ((phone: Phone, name: string) => Promise<string>) | undefined;
  readonly remove: () => void;
  readonly speech: SpeechChoices;
}

export interface Device {
  readonly element: HTMLElement;
  /** Updates the device. */
  update(): void;
}

/** Draws a phone. */
export function device(phone: Phone, { name, textChars, save, addTest, remove, speech: choices }: DeviceDeps): Device {
  const deps = { textChars, nameControl: (what: string) => `${what}, ${name}` };
  const screen = screenPart(phone, deps);
  const answer = answerPart(phone, deps);
  const faults = faultsPart(phone, deps);
  const dialler = diallerPart(phone, {
    codes: choices.codes,
    onDialled: answer.focus,
    readSpeech: () => speech.read(),
  });
  const speech = speechPart(phone.state.speech ?? {}, choices, { nameControl: deps.nameControl, code: dialler.code });
  const notice = element('p', { class: 'notice', is: { role: 'status' } });
  const tell = (words: string) => {
    notice.textContent = words;
  };
  const saving = button('Save as flow test', () => void save(phone).then(tell, tellFault));
  const tellFault = ({ message }: Error) => tell(`No test was saved: ${message}`);
  const testName = element('input', {
    class: 'grow',
    is: {
      'aria-label': deps.nameControl('Name of a test'),
      maxlength: 80,
      placeholder: 'Name of a test',
      required: true,
    },
  });
  const adding = element('button', { text: 'Add to the tests', is: { type: 'submit' } });
  const addNamed = (event: Event) => {
    event.preventDefault();
    const confirmAdded = (words: string) => {
      testName.value = '';
      tell(words);
    };
    addTest?.(phone, testName.value).then(confirmAdded, tellFault);
  };
  const addForm = element('form', { class: 'add-test row', on: { submit: addNamed } }, [testName, adding]);
  const log = element('ol', { class: 'log lined', is: { 'aria-label': deps.nameControl('Requests') } });
  const noLog = element('p', { class: 'soft', text: 'No requests yet.' });
  const removal = button('Remove', remove, { is: { 'aria-label': deps.nameControl('Remove') } });

  const standing = element('p', { class: 'row apart' });

  const whole = element(
    'section',
    { class: 'phone card stack', is: { 'aria-label': name }, on: { keydown: answer.type } },
    [
      element('header', { class: 'row apart small' }, [element('h2', { text: name }), removal]),
      element('div', { class: 'hand stack' }, [
        ...dialler.elements,
        speech.element,
        element('div', { class: 'device' }, [...screen.elements, ...answer.elements]),
      ]),
      element('div', { class: 'network stack' }, [
        standing,
        ...faults.elements,
        element('div', { class: 'row apart small' }, [element('h3', { text: 'On the wire' }), saving]),
        addTest && addForm,
        notice,
        noLog,
        log,
      ]),
    ],
  );

  function update(): void {
    for (const part of [screen, answer, faults, dialler]) part.show();
    saving.disabled = !phone.state.session || phone.busy;
    adding.disabled = saving.disabled;
    standing.replaceChildren(...standingParts(phone));
    noLog.hidden = phone.state.log.length > 0;
    showLog(log, phone.state.log);
  }
  update();
  return { element: whole, update };
}

// The place of the session, with a link to the inspector.
function standingParts({ state: { session }, isOpen }: Phone): (HTMLElement | string)[] {
  if (!session) return ['No session'];
  const screen = session.standing?.screen;
  const over = session.screen?.kind === 'end' ? 'The session is over' : 'The answer was not seen';
  const where = isOpen ? (screen === undefined ? 'In a session' : 'On screen ') : over;
  const href = `/inspector#session=${encodeURIComponent(session.id)}`;
  return [
    element('span', {}, [where, isOpen && screen !== undefined && element('code', { text: screen })]),
    element('a', { text: 'Watch in the inspector', is: { href, target: '_blank' } }),
  ];
}

interface Field {
  readonly label: string;
  readonly value: string;
  readonly pattern: string;
  readonly title: string;
}

interface DiallerDeps {
  /** Codes to choose from. */
  readonly codes: readonly FlowCode[];
  readonly onDialled: () => void;
  readonly readSpeech: () => Speech | undefined;
}

interface DiallerPart extends DevicePart {
  readonly code: HTMLInputElement;
}

function diallerPart(phone: Phone, { codes, onDialled, readSpeech }: DiallerDeps): DiallerPart {
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
    title: codes.length ? 'One of the codes; more answers may follow, as in *700*4*1#' : 'Such as *2233#',
  });
  const list = element(
    'datalist',
    { is: { id: `codes-${phone.state.number}` } },
    codes.map(({ code: one, flow }) => element('option', { text: flow, is: { value: one } })),
  );
  code.setAttribute('list', list.id);
  const dial = element('button', {
    class: 'primary',
    text: 'Dial',
    is: { type: 'submit', title: 'Starts a new session' },
  });
  const begin = (event: Event) => {
    event.preventDefault();
    phone.set({ number: number.value, code: code.value, speech: readSpeech() });
    void phone.dial().then(onDialled);
  };
  return {
    elements: [element('form', { class: 'dialler', on: { submit: begin } }, [numberLabel, codeLabel, list, dial])],
    code,
    show: () => {
      dial.disabled = phone.busy;
    },
  };
}

function field({ label, ...is }: Field): [HTMLInputElement, HTMLLabelElement] {
  const input = element('input', { is: { ...is, required: true, autocomplete: 'off', spellcheck: 'false' } });
  return [input, element('label', { class: 'stack' }, [label, input])];
}

const DELAY_MS = { min: 0, max: 10_000, step: 250 } as const;

export function faultsPart(phone: Phone, { nameControl }: PartDeps): DevicePart {
  const retry = button('Retry', () => void phone.retry(), { is: { title: 'Sends the last request again' } });
  const expire = button('Time out', () => void phone.expire(), {
    is: { title: 'The network ends the session without telling the phone' },
  });
  const anew = button('New session', () => void phone.dial(), {
    is: { title: 'Dials again with another session id' },
  });
  const toggle = (label: string, fault: NetworkFault, title: string) =>
    button(label, () => phone.setFault(phone.fault === fault ? 'none' : fault), { is: { title } });
  const twice = toggle('Send twice', 'twice', 'Sends the next request twice at once');
  const drop = toggle('Lose answer', 'drop', 'Drops the answer to the next request');
  const delay = element('input', { class: 'grow', is: { type: 'range', ...DELAY_MS, value: phone.state.delay } });
  delay.addEventListener('input', () => phone.set({ delay: Number(delay.value) }));
  const seconds = element('output');
  const group = { role: 'group', 'aria-label': nameControl('Network faults') };

  return {
    elements: [
      element('div', { class: 'faults small', is: group }, [retry, twice, drop, expire, anew]),
      element('label', { class: 'delay row' }, ['Delay', delay, seconds]),
    ],
    show: () => {
      const { state, busy, fault } = phone;
      for (const one of [retry, expire, anew]) one.disabled = !state.session || busy;
      expire.disabled ||= !phone.canExpire;
      twice.setAttribute('aria-pressed', String(fault === 'twice'));
      drop.setAttribute('aria-pressed', String(fault === 'drop'));
      seconds.textContent = `${state.delay / 1_000} s`;
    },
  };
}

/** Updates the list of exchanges; entries keep whether they are open. */
export function showLog(list: HTMLOListElement, log: readonly PhoneExchange[]): void {
  const keys = new Set(log.map(makeKey));
  for (const item of [...list.children]) if (!keys.has((item as HTMLElement).dataset.key!)) item.remove();
  const present = new Set([...list.children].map((item) => (item as HTMLElement).dataset.key));
  for (const exchange of log) if (!present.has(makeKey(exchange))) list.prepend(entry(exchange));
}

const makeKey = ({ at, what, answer }: PhoneExchange) => `${at} ${what} ${answer.length}`;

const TEXT_SHOWN = 18;

// Names of the input field in the dialects.
const TYPED_FIELDS = ['text', 'Message', 'USERDATA', 'userData', 'input'];

function writeTyped(fields: PhoneExchange['fields']): string {
  const name = TYPED_FIELDS.find((one) => fields[one] !== undefined);
  return name === undefined ? '' : `${name}=${shortenText(fields[name]!)}`;
}

// Cumulative texts differ at the end.
function shortenText(text: string): string {
  return text.length > TEXT_SHOWN ? `…${text.slice(1 - TEXT_SHOWN)}` : text;
}

function entry(exchange: PhoneExchange): HTMLLIElement {
  const { what, at, ms, fields, answer, fate } = exchange;
  const parts = [
    element('span', { class: 'what', text: fate === undefined ? what : `${what}: ${fate}` }),
    element('code', { text: writeTyped(fields) }),
    element('span', { class: 'at', text: `${ms} ms` }),
  ];
  const request = Object.entries(fields).map(([name, value]) => (name === '' ? value : `${name}=${value}`));
  return element('li', { class: fate ?? '', is: { 'data-key': makeKey(exchange) } }, [
    element('details', {}, [
      element('summary', {}, parts),
      element('p', { class: 'at', text: new Date(at).toLocaleTimeString() }),
      element('pre', { class: 'sent', text: request.join('\n') }),
      element('pre', { text: answer }),
    ]),
  ]);
}

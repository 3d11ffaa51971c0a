// The page of phones: adds and removes them, keeps them over a reload, and saves a dialogue as a flow test.

import type { TextMode } from '../../../../lib/ussd/request.ts';
import { element, found } from '../element.ts';
import { type Device, device } from './device.ts';
import { Phone, type PhoneState } from './phone.ts';
import { flowTest, withoutSecrets } from './requests.ts';

interface Kept {
  readonly name: string;
  readonly phone: Phone;
  readonly device: Device;
}

const KEPT = 'twinline-phones';
const FIRST_NUMBER = 260_971_230_001;

const place = found('phones');
const told = found('told');
const mode = place.dataset.mode as TextMode;
const textChars = mode === 'cumulative' ? Number(place.dataset.textChars) : 0;
let phones: Kept[] = [];

/** This tab only, and gone with it: a reload must be able to send the whole text again. */
function keep(): void {
  sessionStorage.setItem(KEPT, JSON.stringify(phones.map(({ name, phone }) => ({ name, state: phone.state }))));
}

function add({ name, state }: { name: string; state: PhoneState }): Kept {
  // A phone tells of changes only once it has been drawn.
  const changed = () => {
    made.device.update();
    keep();
  };
  const phone = new Phone(state, { mode, changed });
  const made: Kept = { name, phone, device: device(phone, { name, textChars, save, remove: () => remove(made) }) };
  phones.push(made);
  place.append(made.device.element);
  found('none').hidden = true;
  keep();
  return made;
}

function remove(one: Kept): void {
  phones = phones.filter((other) => other !== one);
  one.device.element.remove();
  found('none').hidden = phones.length > 0;
  keep();
  found('add').focus();
}

function another(): void {
  const used = phones.map(({ name }) => Number(name.split(' ')[1]));
  const number = Math.max(0, ...used) + 1;
  const state = { number: `+${FIRST_NUMBER + number - 1}`, code: place.dataset.code!, delay: 0, log: [] };
  add({ name: `Phone ${number}`, state })
    .device.element.querySelector<HTMLButtonElement>('.dialler button')!
    .focus();
}

async function save({ state: { session, number } }: Phone): Promise<void> {
  try {
    const inputs = ['', ...withoutSecrets(session!.typed.slice(0, session!.forgottenAt))];
    const { name, text } = await flowTest({ sessionId: session!.id, phoneNumber: number, inputs });
    const href = URL.createObjectURL(new Blob([text], { type: 'application/json' }));
    element('a', { is: { href, download: name } }).click();
    setTimeout(() => URL.revokeObjectURL(href), 60_000);
    told.textContent = `${name} is saved. Put it beside its flow, or its test among those that are there.`;
  } catch (error) {
    told.textContent = `No test was made: ${(error as Error).message}`;
  }
}

function stored(): { name: string; state: PhoneState }[] {
  try {
    return JSON.parse(sessionStorage.getItem(KEPT) ?? '[]') as { name: string; state: PhoneState }[];
  } catch {
    return [];
  }
}

for (const one of stored()) add(one);
if (phones.length === 0) another();
found('add').addEventListener('click', another);

// The page of phones: adds and removes phones, restores them after a reload, and saves dialogues as flow tests.

import type { FlowCode } from '../../../../lib/ussd/codes.ts';
import type { TextMode } from '../../../../lib/ussd/request.ts';
import { download, findElement } from '../element.ts';
import { startHeader } from '../site.ts';
import { type Device, device } from './device.ts';
import { Phone, type PhoneState } from './phone.ts';
import { replaceSecrets, saveFlowTest } from './requests.ts';
import type { DialledFlow } from './speech.ts';

startHeader();

interface OpenPhone {
  readonly name: string;
  readonly phone: Phone;
  readonly device: Device;
}

const KEPT = 'twinline-phones';
const FIRST_NUMBER = 260_971_230_001;

const container = findElement('phones');
const mode = container.dataset.mode as TextMode;
const textChars = mode === 'cumulative' ? Number(container.dataset.textChars) : 0;
const choices = {
  flow: container.dataset.flow!,
  codes: JSON.parse(container.dataset.codes!) as readonly FlowCode[],
  flows: JSON.parse(container.dataset.flows!) as readonly DialledFlow[],
};
let phones: OpenPhone[] = [];

/** In this tab only, with secrets: after a reload a phone must send its whole text again. */
function storePhones(): void {
  sessionStorage.setItem(KEPT, JSON.stringify(phones.map(({ name, phone }) => ({ name, state: phone.state }))));
}

function add({ name, state }: { name: string; state: PhoneState }): OpenPhone {
  // Not called before `open` is set.
  const updatePhones = () => {
    open.device.update();
    storePhones();
  };
  const phone = new Phone(state, { mode, changed: updatePhones });
  const open: OpenPhone = {
    name,
    phone,
    device: device(phone, { name, textChars, save, addTest, remove: () => remove(open), speech: choices }),
  };
  phones.push(open);
  container.append(open.device.element);
  findElement('none').hidden = true;
  storePhones();
  return open;
}

function remove(one: OpenPhone): void {
  phones = phones.filter((other) => other !== one);
  one.device.element.remove();
  findElement('none').hidden = phones.length > 0;
  storePhones();
  findElement('add').focus();
}

function addNumbered(): void {
  const used = phones.map(({ name }) => Number(name.split(' ')[1]));
  const number = Math.max(0, ...used) + 1;
  const state = { number: `+${FIRST_NUMBER + number - 1}`, code: container.dataset.code!, delay: 0, log: [] };
  add({ name: `Phone ${number}`, state })
    .device.element.querySelector<HTMLButtonElement>('.dialler button')!
    .focus();
}

function readDialogue({ state: { session, number, code, speech: { flow, lang } = {} } }: Phone) {
  const inputs = ['', ...replaceSecrets(session!.typed.slice(0, session!.forgottenAt))];
  const dialled = flow ? { flow } : { serviceCode: code };
  return { sessionId: session!.id, phoneNumber: number, inputs, ...dialled, ...(lang && { lang }) };
}

async function addNamedTest(phone: Phone, name: string): Promise<string> {
  const { name: file } = await saveFlowTest({ ...readDialogue(phone), name });
  return `The test "${name}" was added to ${file}, beside its flow.`;
}

const addTest = container.dataset.canSave === 'true' ? addNamedTest : undefined;

async function save(phone: Phone): Promise<string> {
  const { name, text } = await saveFlowTest(readDialogue(phone));
  download(new Blob([text], { type: 'application/json' }), name);
  return `${name} is saved. Put it beside its flow, or add its test to the file there.`;
}

function readStored(): { name: string; state: PhoneState }[] {
  try {
    return JSON.parse(sessionStorage.getItem(KEPT) ?? '[]') as { name: string; state: PhoneState }[];
  } catch {
    return [];
  }
}

for (const one of readStored()) add(one);
if (phones.length === 0) addNumbered();
findElement('add').addEventListener('click', addNumbered);

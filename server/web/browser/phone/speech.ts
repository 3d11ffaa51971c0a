// The dialect, flow and language of a phone; undefined for the defaults of the plain endpoint.

import type { AdapterName } from '../../../../lib/ussd/adapters.ts';
import { chooseFlow, type FlowCode } from '../../../../lib/ussd/codes.ts';
import type { TextMode } from '../../../../lib/ussd/request.ts';
import { TELECOM_DIALECTS, type TelecomDialect, type TelecomStep } from '../../../../lib/ussd/telecoms.ts';
import { element } from '../element.ts';
import { type FormFields, maskText, type PhoneAnswer, requestText, type Typed } from './requests.ts';

/** Choices of the user; missing ones are the defaults of the server. */
export interface Speech {
  readonly dialect?: string;
  readonly flow?: string;
  readonly lang?: string;
}

export interface SpokenStep extends Omit<TelecomStep, 'text' | 'history' | 'number'> {
  readonly typed: readonly Typed[];
  readonly mode: TextMode;
}

interface SpokenRequest {
  /** Fields without secrets. */
  readonly shown: FormFields;
  /** Never rejects. */
  send(): Promise<PhoneAnswer>;
}

/** The plain endpoint, as JSON. */
const PLAIN: TelecomDialect = {
  name: 'africastalking',
  ask: ({ kind, sessionId, serviceCode, phoneNumber, history }) => {
    const fields = kind === 'end' ? { status: 'Incomplete', durationInMillis: '180000' } : { text: history };
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify({ sessionId, serviceCode, phoneNumber, ...fields });
    return { method: 'POST', path: '', headers, body };
  },
  read: TELECOM_DIALECTS.africastalking.read,
};

const DIALECTS: { readonly [name in '' | AdapterName]: string } = {
  '': 'the plain endpoint, JSON',
  africastalking: 'Africa’s Talking, a form',
  hubtel: 'Hubtel',
  nalo: 'Nalo',
  arkesel: 'Arkesel',
  infobip: 'Infobip',
  comviva: 'Comviva',
};

const ENDPOINT = '/simulator/requests';

/** Makes the request of a step; undefined if the dialect has none. */
export function speak({ dialect, flow, lang }: Speech, step: SpokenStep): SpokenRequest | undefined {
  const { typed, mode, ...base } = step;
  const telecom = TELECOM_DIALECTS[dialect as keyof typeof TELECOM_DIALECTS] ?? PLAIN;
  const last = (one: readonly Typed[], text: typeof requestText) => text(one.slice(-1), 'latest');
  const make = (text: typeof requestText) =>
    telecom.ask({ ...base, text: last(typed, text), history: text(typed, mode), number: typed.length + 1 });
  const request = make(requestText);
  const masked = make(maskText);
  if (!request || !masked) return undefined;
  const { method, path, query, headers, body } = request;
  const type = headers?.['content-type'];
  const sent = { dialect: telecom.name, method, path, query, type, body, flow, lang };
  return {
    shown: { ...(masked.path && { '': `${method} ${masked.path}` }), ...readFields(masked) },
    send: () => sendSpoken(telecom, JSON.stringify(sent)),
  };
}

function readFields({ body, query, headers }: NonNullable<ReturnType<TelecomDialect['ask']>>): FormFields {
  if (body === undefined) return Object.fromEntries(new URLSearchParams(query));
  if (headers?.['content-type'] !== 'application/json') return Object.fromEntries(new URLSearchParams(body));
  const fields = Object.entries(JSON.parse(body) as object);
  return Object.fromEntries(fields.map(([name, value]) => [name, String(value)]));
}

async function sendSpoken(telecom: TelecomDialect, body: string): Promise<PhoneAnswer> {
  try {
    const answer = await fetch(ENDPOINT, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body });
    if (!answer.ok) return { kind: 'trouble', text: await readTrouble(answer), raw: '' };
    const reply = (await answer.json()) as Parameters<TelecomDialect['read']>[0];
    const { kind, text } = telecom.read(reply);
    const extra = Object.entries(reply.headers ?? {}).map(([name, value]) => `${name}: ${value}\n`);
    return { kind, text, raw: extra.join('') + reply.body };
  } catch {
    return { kind: 'trouble', text: 'No valid answer from the server. Is it running?', raw: '' };
  }
}

async function readTrouble(answer: Response): Promise<string> {
  const { error } = (await answer.json().catch(() => ({}))) as { error?: string };
  return error ?? `Status ${answer.status}`;
}

/** A flow that phones may dial. */
export interface DialledFlow {
  readonly id: string;
  readonly langs: readonly string[];
}

export interface SpeechChoices {
  /** Default of the server. */
  readonly flow: string;
  /** Flows of single codes. */
  readonly codes: readonly FlowCode[];
  readonly flows: readonly DialledFlow[];
}

/** Controls for the choices, and a reader of them. `code` is where the phone types the code. */
export function speechPart(
  chosen: Speech,
  { flow, codes, flows }: SpeechChoices,
  { nameControl, code }: { readonly nameControl: (what: string) => string; readonly code: HTMLInputElement },
) {
  const select = (what: string, change = () => {}) =>
    element('select', { is: { 'aria-label': nameControl(what) }, on: { change } });
  const dialect = select('Dialect');
  const lang = select('Language');
  const offerLangs = () => {
    const dialled = flowSelect.value || chooseFlow({ flow, codes }, code.value).flow;
    const { langs = [] } = flows.find(({ id }) => id === dialled) ?? {};
    offer(lang, [['', 'default of the flow'], ...langs.map((one) => [one, one] as const)], lang.value);
    lang.disabled = langs.length < 2;
  };
  const flowSelect = select('Flow', offerLangs);
  offer(dialect, Object.entries(DIALECTS), chosen.dialect ?? '');
  // Without a choice the server decides, by the code.
  const served = codes.length ? 'the one of the code' : flow;
  const others = flows.filter(({ id }) => codes.length || id !== flow);
  offer(flowSelect, [['', served], ...others.map(({ id }) => [id, id] as const)], chosen.flow ?? '');
  code.addEventListener('input', offerLangs);
  offerLangs();
  lang.value = chosen.lang ?? '';
  const labels = [
    ['Flow', flowSelect],
    ['Language', lang],
    ['Dialect', dialect],
  ] as const;
  return {
    element: element('details', { class: 'speech', is: { open: Object.keys(chosen).length > 0 } }, [
      element('summary', { text: 'Flow, language, dialect' }),
      ...labels.map(([text, one]) => element('label', {}, [text, one])),
    ]),
    /** Undefined for the defaults. */
    read(): Speech | undefined {
      const speech: Speech = {
        ...(dialect.value && { dialect: dialect.value }),
        ...(flowSelect.value && { flow: flowSelect.value }),
        ...(lang.value && !lang.disabled && { lang: lang.value }),
      };
      return Object.keys(speech).length ? speech : undefined;
    },
  };
}

function offer(
  select: HTMLSelectElement,
  options: readonly (readonly [value: string, label: string])[],
  chosen: string,
) {
  select.replaceChildren(...options.map(([value, text]) => element('option', { text, is: { value } })));
  select.value = options.some(([value]) => value === chosen) ? chosen : options[0]![0];
}

// Requests of a phone, and its input as `text`: as sent, as shown, and as recorded in tests.

import type { TextMode } from '../../../../lib/ussd/request.ts';

/** The fields of a request, as Africa's Talking names them. */
export interface FormFields {
  readonly [field: string]: string;
}

/** An answer, or the reason for none. */
export interface PhoneAnswer {
  readonly kind: 'continue' | 'end' | 'trouble';
  readonly text: string;
  readonly raw: string;
}

/** State of a session. */
export interface PhoneSessionState {
  /** Path of the screen. */
  readonly screen: string;
  readonly secret: boolean;
  /** Navigation keys; never secret. */
  readonly keys: readonly string[];
}

// Same as /api/ussd, for operators.
const ENDPOINT = '/simulator/dial';

/** Posts a request. Never rejects. */
export async function sendRequest(fields: FormFields): Promise<PhoneAnswer> {
  try {
    const headers = { 'Content-Type': 'application/json' };
    const answer = await fetch(ENDPOINT, { method: 'POST', headers, body: JSON.stringify(fields) });
    return readAnswer(answer.status, await answer.text());
  } catch {
    return { kind: 'trouble', text: 'The server did not answer. Is it running?', raw: '' };
  }
}

function readAnswer(status: number, raw: string): PhoneAnswer {
  const [, word, text = ''] = /^(CON|END) ?([\s\S]*)$/.exec(raw) ?? [];
  if (word === undefined)
    return { kind: 'trouble', text: `Status ${status}, and neither CON nor END.`, raw: raw.slice(0, 500) };
  return { kind: word === 'CON' ? 'continue' : 'end', text, raw };
}

/** Reads the state of a session; undefined if it is over. */
export async function readSessionState(sessionId: string): Promise<PhoneSessionState | undefined> {
  const answer = await fetch(`/simulator/sessions/${encodeURIComponent(sessionId)}`).catch(() => undefined);
  return answer?.ok ? ((await answer.json().catch(() => undefined)) as PhoneSessionState | undefined) : undefined;
}

/** Makes a flow test of a dialogue. Rejects with the reason. */
export async function saveFlowTest(dialogue: {
  readonly sessionId: string;
  readonly phoneNumber: string;
  readonly inputs: readonly string[];
  /** Dialled flow. @default that of the server */
  readonly flow?: string;
  /** Dialled code, where the server decides about the flow. */
  readonly serviceCode?: string;
  readonly lang?: string;
  /** Adds it to the tests of the flow under this name. */
  readonly name?: string;
}): Promise<{ readonly name: string; readonly text: string }> {
  const answer = await fetch('/simulator/flow-test', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(dialogue),
  });
  const result = (await answer.json()) as { name: string; text: string; error?: string };
  if (answer.ok) return result;
  throw new Error(result.error ?? `Status ${answer.status}`);
}

export interface Typed {
  readonly text: string;
  /** The input answered a screen that is secret or unknown. */
  readonly secret: boolean;
}

const HIDDEN = '••••';

/** The field `text` of a request; '' for a dial. */
export function requestText(typed: readonly Typed[], mode: TextMode): string {
  return mode === 'latest' ? (typed.at(-1)?.text ?? '') : typed.map(({ text }) => text).join('*');
}

/** The same with secrets masked, including their length. */
export function maskText(typed: readonly Typed[], mode: TextMode): string {
  const shown = typed.map(({ text, secret }) => ({ text: secret ? HIDDEN : text, secret }));
  return requestText(shown, mode);
}

/** Replaces each secret by another of the same length and kinds of characters; equal secrets by equal ones. */
export function replaceSecrets(typed: readonly Typed[]): string[] {
  const others = new Map<string, string>();
  const used = new Set(typed.map(({ text }) => text));
  return typed.map(({ text, secret }) => {
    if (!secret || text === '') return text;
    const other = others.get(text) ?? findUnusedText(text, used);
    others.set(text, other);
    used.add(other);
    return other;
  });
}

// A replacement must not equal any input. Short ones may run out.
function findUnusedText(text: string, used: ReadonlySet<string>): string {
  for (let start = 0; start < 100; start++) {
    const other = [...text].map((letter, at) => replacementFor(letter, start + at)).join('');
    if (!used.has(other)) return other;
  }
  return [...text].map((letter) => (/\d/.test(letter) ? '0' : 'x')).join('');
}

// Adjacent digits differ by three, to pass checks for PINs that are easy to guess.
function replacementFor(letter: string, at: number): string {
  if (/\d/.test(letter)) return String((1 + 3 * at + Math.floor(at / 10)) % 10);
  return /\p{L}/u.test(letter) ? String.fromCharCode(97 + ((3 * at) % 26)) : letter;
}

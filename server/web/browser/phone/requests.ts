// What a phone sends and gets: its input as the `text` of requests, as shown and as kept by tests; and the requests.

import type { TextMode } from '../../../../lib/ussd/request.ts';

/** The fields of a request, as Africa's Talking names them. */
export interface FormFields {
  readonly [field: string]: string;
}

/** What came back, or why nothing did. */
export interface PhoneAnswer {
  readonly kind: 'continue' | 'end' | 'trouble';
  readonly text: string;
  readonly raw: string;
}

/** The state of a session, as the server answers operators; undefined when the session is over. */
export interface PhoneSessionState {
  /** Path of the screen. */
  readonly screen: string;
  readonly secret: boolean;
  /** Answers that lead back, home, on or out: no secrets, wherever they are typed. */
  readonly keys: readonly string[];
}

// The endpoint of telecoms takes requests of telecoms; this one takes the same from operators.
const ENDPOINT = '/simulator/dial';

/** Posts a request; never rejects. */
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

/** Asks for the state of a session. */
export async function readSessionState(sessionId: string): Promise<PhoneSessionState | undefined> {
  const answer = await fetch(`/simulator/sessions/${encodeURIComponent(sessionId)}`).catch(() => undefined);
  return answer?.ok ? ((await answer.json().catch(() => undefined)) as PhoneSessionState | undefined) : undefined;
}

/** A dialogue as a file of flow tests; rejects with the reason in words. */
export async function saveFlowTest(dialogue: {
  readonly sessionId: string;
  readonly phoneNumber: string;
  readonly inputs: readonly string[];
  /** What was dialled, where it was chosen. */
  readonly flow?: string;
  readonly lang?: string;
  /** Writes it into the tests of the flow under this name. */
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
  /** It answered a screen that asks for a secret, or for something unknown. */
  readonly secret: boolean;
}

const HIDDEN = '••••';

/** The field `text` of a request; '' when nothing was typed yet. */
export function requestText(typed: readonly Typed[], mode: TextMode): string {
  return mode === 'latest' ? (typed.at(-1)?.text ?? '') : typed.map(({ text }) => text).join('*');
}

/** The same without its secrets; not even their length is shown. */
export function maskText(typed: readonly Typed[], mode: TextMode): string {
  const shown = typed.map(({ text, secret }) => ({ text: secret ? HIDDEN : text, secret }));
  return requestText(shown, mode);
}

/** The inputs with another secret in the place of each: as long, of as many digits, and the same wherever it is the same. */
export function replaceSecrets(typed: readonly Typed[]): string[] {
  const others = new Map<string, string>();
  const taken = new Set(typed.map(({ text }) => text));
  return typed.map(({ text, secret }) => {
    if (!secret || text === '') return text;
    const other = others.get(text) ?? findUnusedText(text, taken);
    others.set(text, other);
    taken.add(other);
    return other;
  });
}

// One that was typed as well would be a secret again, and short ones are soon all taken.
function findUnusedText(text: string, taken: ReadonlySet<string>): string {
  for (let start = 0; start < 100; start++) {
    const other = [...text].map((letter, at) => replacementFor(letter, start + at)).join('');
    if (!taken.has(other)) return other;
  }
  return [...text].map((letter) => (/\d/.test(letter) ? '0' : 'x')).join('');
}

// Neighbours differ by three, so that no check refuses it as easy to guess.
function replacementFor(letter: string, at: number): string {
  if (/\d/.test(letter)) return String((1 + 3 * at + Math.floor(at / 10)) % 10);
  return /\p{L}/u.test(letter) ? String.fromCharCode(97 + ((3 * at) % 26)) : letter;
}

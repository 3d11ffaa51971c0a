// What a phone sends and gets: its input as the `text` of requests, as shown and as kept by tests; and the requests.

import type { TextMode } from '../../../../lib/ussd/request.ts';

/** The fields of a request, as Africa's Talking names them. */
export interface Fields {
  readonly [field: string]: string;
}

/** What came back, or why nothing did. */
export type Answer =
  | { readonly kind: 'continue' | 'end'; readonly text: string; readonly status: number; readonly raw: string }
  | { readonly kind: 'trouble'; readonly text: string; readonly status: number; readonly raw: string };

/** Where a session stands, as the server tells operators; undefined when it does not, or the session is over. */
export interface Standing {
  /** Path of the screen. */
  readonly screen: string;
  readonly secret: boolean;
  /** Answers that lead back, home, on or out: no secrets, wherever they are typed. */
  readonly keys: readonly string[];
}

// The endpoint of telecoms takes requests of telecoms; this one takes the same from operators.
const ENDPOINT = '/simulator/dial';

/** Posts a request; never rejects. */
export async function post(fields: Fields): Promise<Answer> {
  try {
    const headers = { 'Content-Type': 'application/json' };
    const answer = await fetch(ENDPOINT, { method: 'POST', headers, body: JSON.stringify(fields) });
    return read(answer.status, await answer.text());
  } catch {
    return { kind: 'trouble', text: 'The server did not answer. Is it running?', status: 0, raw: '' };
  }
}

function read(status: number, raw: string): Answer {
  const [, word, text = ''] = /^(CON|END) ?([\s\S]*)$/.exec(raw) ?? [];
  if (word === undefined)
    return { kind: 'trouble', text: `Status ${status}, and neither CON nor END.`, status, raw: raw.slice(0, 500) };
  return { kind: word === 'CON' ? 'continue' : 'end', text, status, raw };
}

/** Asks where a session stands. */
export async function standing(sessionId: string): Promise<Standing | undefined> {
  const answer = await fetch(`/simulator/sessions/${encodeURIComponent(sessionId)}`).catch(() => undefined);
  return answer?.ok ? ((await answer.json().catch(() => undefined)) as Standing | undefined) : undefined;
}

/** A dialogue as a file of flow tests; rejects with the reason in words. */
export async function flowTest(dialogue: {
  readonly sessionId: string;
  readonly phoneNumber: string;
  readonly inputs: readonly string[];
}): Promise<{ readonly name: string; readonly text: string }> {
  const answer = await fetch('/simulator/flow-test', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(dialogue),
  });
  const said = (await answer.json()) as { name: string; text: string; error?: string };
  if (answer.ok) return said;
  throw new Error(said.error ?? `Status ${answer.status}`);
}

export interface Typed {
  readonly text: string;
  /** It answered a screen that asks for a secret, or for nobody knows what. */
  readonly secret: boolean;
}

const HIDDEN = '••••';

/** The field `text` of a request; '' when nothing was typed yet. */
export function sentText(typed: readonly Typed[], mode: TextMode): string {
  return mode === 'latest' ? (typed.at(-1)?.text ?? '') : typed.map(({ text }) => text).join('*');
}

/** The same without its secrets; not even their length is told. */
export function shownText(typed: readonly Typed[], mode: TextMode): string {
  const shown = typed.map(({ text, secret }) => ({ text: secret ? HIDDEN : text, secret }));
  return sentText(shown, mode);
}

/** The inputs with another secret in the place of each: as long, of as many digits, and the same wherever it is the same. */
export function withoutSecrets(typed: readonly Typed[]): string[] {
  const others = new Map<string, string>();
  const taken = new Set(typed.map(({ text }) => text));
  return typed.map(({ text, secret }) => {
    if (!secret || text === '') return text;
    const other = others.get(text) ?? firstOther(text, taken);
    others.set(text, other);
    taken.add(other);
    return other;
  });
}

// One that was typed as well would be a secret again, and short ones are soon all taken.
function firstOther(text: string, taken: ReadonlySet<string>): string {
  for (let start = 0; start < 100; start++) {
    const other = [...text].map((letter, at) => standIn(letter, start + at)).join('');
    if (!taken.has(other)) return other;
  }
  return [...text].map((letter) => (/\d/.test(letter) ? '0' : 'x')).join('');
}

// Neighbours differ by three, so that nobody calls it a PIN that is easy to guess.
function standIn(letter: string, at: number): string {
  if (/\d/.test(letter)) return String((1 + 3 * at + Math.floor(at / 10)) % 10);
  return /\p{L}/u.test(letter) ? String.fromCharCode(97 + ((3 * at) % 26)) : letter;
}

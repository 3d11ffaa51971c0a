// The telecom between a phone and the server: requests as a gateway posts them, and what comes back.

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

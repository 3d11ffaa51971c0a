// What the studio asks its server.

export interface EditedFile {
  readonly text: string;
  readonly hash: string;
}

export interface EditedFlow {
  readonly flow: EditedFile;
  readonly tests: EditedFile;
}

export interface Problem {
  /** 1-based. */
  readonly line: number;
  readonly column: number;
  readonly code: string;
  readonly severity: 'error' | 'warning';
  readonly message: string;
  readonly fix: string;
  /** The change that mends it, where that is certain. */
  readonly edit?: Edit;
}

/** The text between two offsets becomes another. */
export interface Edit {
  readonly from: number;
  readonly to: number;
  readonly insert: string;
}

export interface Failure {
  readonly step?: number;
  readonly typed?: string;
  readonly message: string;
  readonly details?: readonly string[];
  readonly pointer?: string;
}

export interface TestReport {
  readonly name: string;
  readonly failures: readonly Failure[];
}

interface Covered {
  readonly seen: number;
  readonly all: number;
}

export interface Tested {
  readonly problems: readonly Problem[];
  readonly reports: readonly TestReport[];
  readonly coverage?: { readonly screens: Covered; readonly options: Covered; readonly ways: Covered };
  /** The tests as they were updated. */
  readonly tests?: string;
  readonly changed?: number;
}

export interface Completion {
  readonly label: string;
  readonly kind: string;
  readonly detail?: string;
  readonly info?: string;
  readonly insert: string;
  readonly caret?: number;
}

export interface TranslatedText {
  readonly pointer: string;
  readonly values: readonly ({ readonly text: string; readonly used: number; readonly isGsm: boolean } | null)[];
}

export interface VersionEntry {
  readonly id: string;
  readonly at: number;
  readonly by: string;
}

export type Span = readonly [id: string, from: number, to: number];

/** An answer that is no 200: its status, and what it holds. */
export class Refused extends Error {
  readonly status: number;
  readonly body: unknown;

  constructor(status: number, body: unknown) {
    super((body as { error?: string } | null)?.error ?? `The server answered with status ${status}.`);
    this.status = status;
    this.body = body;
  }
}

async function read<T>(asked: Promise<Response>): Promise<T> {
  const answer = await asked.catch(() => {
    throw new Refused(0, { error: 'The server did not answer. Is it running?' });
  });
  const body: unknown = await answer.json().catch(() => null);
  if (!answer.ok) throw new Refused(answer.status, body);
  return body as T;
}

/** GET below /studio; rejects with {@link Refused}. */
export const get = <T>(path: string): Promise<T> => read<T>(fetch(`/studio${path}`));

/** POST below /studio; rejects with {@link Refused}. */
export function post<T>(path: string, body: object): Promise<T> {
  const headers = { 'Content-Type': 'application/json' };
  return read<T>(fetch(`/studio${path}`, { method: 'POST', headers, body: JSON.stringify(body) }));
}

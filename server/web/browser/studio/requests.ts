// Requests of the studio.

/** An error answer: status and body. */
export class Refused extends Error {
  readonly status: number;
  readonly body: unknown;

  constructor(status: number, body: unknown) {
    super((body as { error?: string } | null)?.error ?? `The server answered with status ${status}.`);
    this.status = status;
    this.body = body;
  }
}

async function read<T>(request: Promise<Response>): Promise<T> {
  const answer = await request.catch(() => {
    throw new Refused(0, { error: 'The server did not answer. Is it running?' });
  });
  const body: unknown = await answer.json().catch(() => null);
  if (!answer.ok) throw new Refused(answer.status, body);
  return body as T;
}

/** GET below /studio. Rejects with {@link Refused}. */
export const get = <T>(path: string): Promise<T> => read<T>(fetch(`/studio${path}`));

/** POST below /studio. Rejects with {@link Refused}. */
export function post<T>(path: string, body: object): Promise<T> {
  const headers = { 'Content-Type': 'application/json' };
  return read<T>(fetch(`/studio${path}`, { method: 'POST', headers, body: JSON.stringify(body) }));
}

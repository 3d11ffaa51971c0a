// The frames of a run, in order, each once, and over as many connections as it takes.

import { ask, ServiceError } from './chat-service.ts';

/** A frame as the service sends it: its number, its name and its data. */
export interface Frame {
  readonly n: number;
  readonly event: string;
  readonly data: string;
}

export interface Reading {
  readonly signal: AbortSignal;
  /** The answer that has the first frames, where there is one. */
  readonly answer?: Response;
  /** Told when the connection is lost, and when frames come again. */
  readonly onConnected: (isConnected: boolean) => void;
}

const TRIES = 12;
const PAUSE_MS = { first: 500, longest: 8_000 } as const;

/** The frames up to `done`; throws when the run is gone or nobody answers for a minute. Ends when the signal aborts. */
export async function* runFrames(runId: string, { signal, answer, onConnected }: Reading): AsyncGenerator<Frame> {
  let next = answer;
  let last = 0;
  for (let tries = 0; !signal.aborted; ) {
    try {
      next ??= await ask(`/runs/${runId}?after=${last}`, { signal });
      onConnected(true);
      for await (const frame of readFrames(next.body!)) {
        if (!(frame.n > last)) continue;
        last = frame.n;
        tries = 0;
        yield frame;
        if (frame.event === 'done') return;
      }
    } catch (error) {
      if (signal.aborted) return;
      const isFinal = error instanceof ServiceError && error.status < 500 && error.status !== 429;
      if (isFinal || tries === TRIES) throw error;
    }
    next = undefined;
    onConnected(false);
    await pause(Math.min(PAUSE_MS.longest, PAUSE_MS.first * 2 ** tries++), signal);
  }
}

/** The frames in the bytes of a stream; what has no number is left out. */
export async function* readFrames(body: ReadableStream<Uint8Array>): AsyncGenerator<Frame> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      const texts = (rest + decoder.decode(value, { stream: true })).split('\n\n');
      rest = texts.pop()!;
      for (const text of texts) {
        const frame = frameOf(text);
        if (frame) yield frame;
      }
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

// The service writes one line for each field.
function frameOf(text: string): Frame | undefined {
  const fields = new Map(
    text.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]),
  );
  const n = Number(fields.get('id') ?? Number.NaN);
  return Number.isNaN(n) ? undefined : { n, event: fields.get('event') ?? '', data: fields.get('data') ?? '{}' };
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

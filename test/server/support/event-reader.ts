// A reader of server-sent events for tests: one that can be cut off at any moment and goes on where it was.

import { type IncomingMessage, request } from 'node:http';

export interface Message {
  readonly id: string | undefined;
  readonly event: string | undefined;
  readonly data: string | undefined;
  readonly comment: string | undefined;
}

export interface Reading {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  /** Every block so far, comments and all. */
  readonly blocks: readonly Message[];
  /** The id that a browser would send when it connects again. */
  lastId(): string | undefined;
  /** The events so far. */
  events(): readonly SeenEvent[];
  /** Resolves when `holds`, and fails when the stream ends before. */
  until(holds: () => boolean): Promise<void>;
  /** Takes nothing from now on, or again. */
  pause(): void;
  resume(): void;
  /** Resolves when the server has ended the stream: in order, or cut off. */
  readonly ended: Promise<'ended' | 'cut'>;
  /** Cuts the connection. */
  close(): Promise<unknown>;
}

export interface SeenEvent {
  readonly seq: number;
  readonly type: string;
  readonly did: string;
  readonly revision?: number;
  readonly at: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Connects, with a POST where there is a body; resolves with the headers of the answer. */
export function readEvents(url: string, headers: Readonly<Record<string, string>>, body?: string): Promise<Reading> {
  const method = body === undefined ? 'GET' : 'POST';
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers, agent: false }, (res) => resolve(reading(res, () => sent.destroy())));
    sent.on('error', reject);
    sent.end(body);
  });
}

function reading(res: IncomingMessage, cut: () => void): Reading {
  const blocks: Message[] = [];
  const watchers = new Set<() => void>();
  let text = '';
  let lastId: string | undefined;
  let over: 'ended' | 'cut' | undefined;
  res.setEncoding('utf8');
  res.on('data', (chunk: string) => {
    const parts = (text + chunk).split('\n\n');
    text = parts.pop()!;
    for (const part of parts) {
      const block = parse(part);
      blocks.push(block);
      lastId = block.id ?? lastId;
    }
    for (const look of watchers) look();
  });
  const ended = new Promise<'ended' | 'cut'>((resolve) => {
    res.on('error', () => {});
    res.on('close', () => {
      over = res.complete ? 'ended' : 'cut';
      resolve(over);
      for (const look of watchers) look();
    });
  });
  const events = () =>
    blocks.flatMap(({ data, event }) => (data === undefined || event === 'shutdown' ? [] : [JSON.parse(data)]));
  return {
    status: res.statusCode!,
    headers: res.headers,
    blocks,
    lastId: () => lastId,
    events,
    until: (holds) =>
      new Promise((resolve, reject) => {
        const look = () => {
          if (!holds() && over === undefined) return;
          watchers.delete(look);
          if (holds()) resolve();
          else reject(new Error(`the stream was ${over} after ${blocks.length} blocks`));
        };
        watchers.add(look);
        look();
      }),
    pause: () => void res.pause(),
    resume: () => void res.resume(),
    ended,
    close: () => {
      cut();
      return ended;
    },
  };
}

function parse(block: string): Message {
  const fields: Record<string, string> = {};
  for (const line of block.split('\n')) {
    const colon = line.indexOf(':');
    fields[line.slice(0, colon) || 'comment'] = line.slice(colon + 1).trimStart();
  }
  const { id, event, data, comment } = fields;
  return { id, event, data, comment };
}

// Somebody who chats with real servers: says things, reads the streams of frames that answer, and asks what was kept.

import * as assert from 'uvu/assert';
import { type SeenFrame, shownText, soundLog } from '../../agent/ground.ts';
import { newUser } from '../plugins/users.ts';
import { type Reading, readEvents } from '../support/event-reader.ts';
import { type Answer, type AskOptions, ask as askUrl } from '../support/serve.ts';

export interface Chatter {
  /** By which it says who it is. */
  readonly token: string;
  readonly did: string;
  /** Asks a server, by its URL. */
  ask(url: string, path: string, how?: AskOptions): Promise<Answer>;
  /** Begins a session. */
  begin(url: string): Promise<string>;
  /** Says something, and reads the answer as it comes. */
  say(url: string, session: string, message: string, multitask?: string): Promise<Reader>;
  /** Reads a run after the frame of this number. */
  join(url: string, run: string, after?: number): Promise<Reader>;
  abort(url: string, session: string): Promise<Answer>;
  /** Who said what, as it is kept. */
  kept(url: string, session: string): Promise<string[]>;
}

export interface Reader extends Pick<Reading, 'status' | 'pause' | 'resume' | 'ended' | 'close'> {
  readonly run: string;
  /** So far. */
  frames(): SeenFrame[];
  /** Resolves when there is a frame of this name. */
  until(event: string): Promise<void>;
}

export async function newChatter(): Promise<Chatter> {
  const { headers, token, did } = await newUser();
  const ask: Chatter['ask'] = (url, path, how) => askUrl(url + path, { headers, ...how });
  const post = (url: string, path: string, body: object) =>
    ask(url, path, { method: 'POST', body: JSON.stringify(body) });
  return {
    ...{ token, did },
    ask,
    async begin(url) {
      const made = await post(url, '/sessions', {});
      assert.is(made.status, 201, made.text);
      return (made.json() as { sessionId: string }).sessionId;
    },
    say: async (url, session, message, multitask) => {
      const body = { message, stream: true, ...(multitask && { metadata: { multitask } }) };
      return readerOf(await readEvents(`${url}/messages/${session}`, headers, JSON.stringify(body)));
    },
    join: async (url, run, after = 0) => readerOf(await readEvents(`${url}/runs/${run}?after=${after}`, headers)),
    abort: (url, sessionId) => post(url, '/messages/abort', { sessionId }),
    async kept(url, session) {
      const { messages } = (await ask(url, `/messages/${session}`)).json() as { messages: Kept[] };
      return messages.map(({ type, content }) => `${type}: ${content}`);
    },
  };
}

type Kept = { readonly type: string; readonly content: string };

/** The frames among what is read. */
export function readerOf(reading: Reading): Reader {
  const frames = () =>
    reading.blocks.flatMap(({ id, event, data }) =>
      id === undefined ? [] : [{ n: Number(id), event: event!, data: data!, json: JSON.parse(data!) }],
    );
  return {
    ...reading,
    run: String(reading.headers['x-run-id']),
    frames,
    until: (event) => reading.until(() => reading.blocks.some((block) => block.event === event)),
  };
}

/** The frames in a stream that was read whole; a server that ends says so in none of them. */
export function readFrames(text: string): SeenFrame[] {
  return text
    .split('\n\n')
    .filter((part) => part.startsWith('event: ') && !part.startsWith('event: shutdown'))
    .map((part) => {
      const [event, n, data] = part.split('\n').map((line) => line.slice(line.indexOf(' ') + 1));
      return { n: Number(n), event: event!, data: data!, json: JSON.parse(data!) };
    });
}

/** Reads to the end; the frames must be whole and sound, and end so. */
export async function readOut(reader: Reader, status: string): Promise<SeenFrame[]> {
  assert.is(reader.status, 200);
  await reader.until('done');
  const frames = reader.frames();
  soundLog(frames, frames[0]!.n);
  assert.is(frames.at(-1)!.json.status, status, shownText(frames));
  return frames;
}

// A client of a chat with the listening rules of @ixo/oracles-client-sdk 1.4.0, which cannot be installed from the public
// registry (a dependency of its chain client is not there): which events it acts on, what it shows, how it joins again.

import { readEvents } from '../support/event-reader.ts';
import { openTab, type Tab, type TabOptions } from './ground.ts';

export interface ChatClient {
  readonly tab: Tab | undefined;
  /** The calls for which it has run its handler, in order, by their ids. */
  readonly ran: readonly string[];
  /** What it shows besides the user's own words, by the keys under which later events replace it. */
  readonly shown: ReadonlyMap<string, string>;
  /** Sends a message and reads the answer; `cutAfter`: numbers of frames after which the stream breaks, once each. */
  send(body: object, cutAfter?: readonly number[]): Promise<string>;
  close(): void;
}

export interface ChatClientOptions {
  readonly url: string;
  readonly session: string;
  readonly headers: Readonly<Record<string, string>>;
  /** How its socket connects; without it the client has none. */
  readonly socket?: TabOptions;
}

interface Wrapped {
  readonly eventName: string;
  readonly payload: { readonly sessionId: string; readonly requestId: string; readonly eventId?: string };
}

export function openChatClient({ url, session, headers, socket }: ChatClientOptions): ChatClient {
  const ran: string[] = [];
  const shown = new Map<string, string>();
  let streamed: string | undefined;
  const tab = socket && openTab(url, { query: { sessionId: session }, ...socket });

  // Its handler runs for every flat event of an action, whatever its status.
  tab?.socket.on('action_call', ({ toolCallId, sessionId }) => {
    ran.push(toolCallId as string);
    tab.socket.emit('action_call_result', { toolCallId, sessionId, result: {} });
  });
  // Anything wrapped is shown, except calls, and tools of the run that it streams; what has nothing to show is `Thinking...`.
  tab?.socket.onAny((_name: string, word: unknown) => {
    if (!isWrapped(word)) return;
    const { eventName, payload } = word;
    if (eventName === 'browser_tool_call' || eventName === 'action_call') return;
    if (eventName === 'tool_call' && payload.requestId === streamed) return;
    if (payload.sessionId !== session) return;
    const hasSomething = eventName === 'tool_call' || eventName === 'render_component';
    shown.set(`${payload.requestId}-${eventName}-${payload.eventId}`, hasSomething ? eventName : 'Thinking...');
  });

  /** Reads frames until the end or the cut; the number of the last one, or that it is done. */
  async function read(reading: Awaited<ReturnType<typeof readEvents>>, after: number, cutAt: number | undefined) {
    let last = after;
    let taken = 0;
    for (;;) {
      await reading.until(() => reading.blocks.length > taken);
      const { event, id, data } = reading.blocks[taken++]!;
      if (event === undefined || data === undefined) continue;
      const n = Number(id);
      if (n > last) last = n;
      show(event, JSON.parse(data) as Record<string, unknown>);
      if (event === 'done') return 'done';
      if (cutAt !== undefined && last >= cutAt) {
        await reading.close();
        return last;
      }
    }
  }

  function show(event: string, json: Record<string, unknown>): void {
    const key = String(streamed);
    if (event === 'message') shown.set(key, (shown.get(key) ?? '') + json.content);
    if (event === 'action_call') shown.set(`${key}-ActionCall-${json.toolCallId}`, String(json.status));
    if (event === 'run' && json.resumed) shown.set(key, (shown.get(key) ?? '').slice(0, json.partialLength as number));
  }

  return {
    tab,
    ran,
    shown,
    async send(body, cutAfter = []) {
      const cuts = [...cutAfter];
      const given = { ...headers, 'content-type': 'application/json' };
      let reading = await readEvents(`${url}/messages/${session}`, given, JSON.stringify({ ...body, stream: true }));
      const run = String(reading.headers['x-run-id']);
      streamed = String(reading.headers['x-request-id']);
      for (let after = 0; ; ) {
        const place = await read(reading, after, cuts.shift());
        if (place === 'done') return shown.get(streamed) ?? '';
        after = place;
        reading = await readEvents(`${url}/runs/${run}?after=${after}`, headers);
        streamed = String(reading.headers['x-request-id']);
      }
    },
    close: () => tab?.close(),
  };
}

function isWrapped(word: unknown): word is Wrapped {
  if (typeof word !== 'object' || word === null || !('eventName' in word) || !('payload' in word)) return false;
  const { payload } = word;
  return typeof payload === 'object' && payload !== null && 'sessionId' in payload && 'requestId' in payload;
}

// Shares events between instances: socket.io packets over one Redis stream, whose entry ids number them for all.
//
// Every instance appends to the stream and reads it in the same order; from these ids a client recovers missed events on any
// instance. Fields and keys are those of @socket.io/redis-streams-adapter.

import type { Redis } from 'ioredis';
import { LRUCache } from 'lru-cache';
import type { Namespace } from 'socket.io';
import { ClusterAdapter, type ClusterMessage, MessageType, type Session } from 'socket.io-adapter';
import type { Clock } from '../../lib/clock.ts';
import { TwinlineError } from '../../lib/errors.ts';
import { retryDelay } from '../../lib/retry.ts';
import type { RedisConnection } from '../../lib/store/redis/connection.ts';
import { SERVER_LIMITS } from '../config/limits.ts';

export interface SharedEvents {
  /** For the server options; the server has one namespace. */
  readonly adapter: (namespace: Namespace) => ClusterAdapter;
  /** Flushes pending writes and disconnects. */
  close(): Promise<void>;
}

export interface SharedEventsOptions {
  /** The Redis server; the adapter opens its own connections. */
  readonly connection: RedisConnection;
  readonly clock: Clock;
  /** Receives errors that prevent reading other instances' events, or storing states. */
  readonly onProblem: (error: unknown) => void;
}

type StreamEntry = readonly [id: string, fields: readonly string[]];
type Broadcast = Extract<ClusterMessage, { type: MessageType.BROADCAST }>['data'];
type SocketState = Omit<Session, 'missedPackets'>;

const STREAM = 'twinline:sockets';
const STATES = 'twinline:socket:';
const PAGE = 1_000;
const AGAIN = { firstMs: 50, maxMs: 2_000, jitter: 0.5 };
/**
 * Poll interval while a reconnecting client waits for this instance to read up to the latest entry; at most one second in
 * all.
 */
const CATCH_UP_MS = 5;
const CATCH_UP_TRIES = 200;
const OFFSET = /^\d{1,20}-\d{1,20}$/;
/** Interval between removals of expired events, in milliseconds. */
const TRIM_MS = 60_000;
// Uses the clock of Redis, which generated the ids.
const TRIM = `
  local now = redis.call('TIME')
  redis.call('XTRIM', KEYS[1], 'MINID', '~', (now[1] - ARGV[1]) * 1000)
  redis.call('PEXPIRE', KEYS[1], ARGV[2])`;

/** Opens the connections; they connect and reconnect in the background. */
export function shareEvents({ connection, clock, onProblem }: SharedEventsOptions): SharedEvents {
  const writer = connection.duplicate();
  const reader = connection.duplicate({ blockMs: SERVER_LIMITS.socketBlockMs });
  const over = new AbortController();
  const trim = writer.script(TRIM, 1);
  const [keptSeconds, expires] = [(SERVER_LIMITS.socketRecoveryMs * 2) / 1_000, SERVER_LIMITS.socketRecoveryMs * 4];
  const timer = setInterval(() => {
    writer.run('forget old events', () => trim(STREAM, keptSeconds, expires)).catch(() => {});
  }, TRIM_MS);
  let reading: Promise<void> = Promise.resolve();

  // Called with `new`, so it cannot be an arrow function.
  function openAdapter(namespace: Namespace): ClusterAdapter {
    const adapter = new StreamAdapter(namespace, { writer, clock, onProblem });
    reading = readStream({ reader, clock, onProblem, signal: over.signal }, adapter);
    return adapter;
  }

  return {
    adapter: openAdapter,
    async close() {
      clearInterval(timer);
      over.abort();
      await Promise.all([reader.close(), writer.close()]);
      await reading;
    },
  };
}

class StreamAdapter extends ClusterAdapter {
  readonly #writer: RedisConnection;
  readonly #clock: Clock;
  readonly #onProblem: (error: unknown) => void;
  /** States removed from Redis, for a second lookup of what happened since the first. */
  readonly #taken = new LRUCache<string, SocketState>({ max: PAGE, ttl: SERVER_LIMITS.socketRecoveryMs });

  constructor(
    namespace: Namespace,
    { writer, clock, onProblem }: { writer: RedisConnection } & Pick<SharedEventsOptions, 'clock' | 'onProblem'>,
  ) {
    super(namespace);
    this.#writer = writer;
    this.#clock = clock;
    this.#onProblem = onProblem;
  }

  /** Id of the last stream entry delivered to the sockets of this instance. */
  position = '0-0';

  /** Delivers a stream entry to the sockets of this instance. */
  readonly take = ([offset, fields]: StreamEntry): void => this.onMessage(readMessage(fields), offset);

  // Even if this rejects, the sockets of this instance receive the event.
  protected override async doPublish({ uid, nsp, type, ...rest }: ClusterMessage): Promise<string> {
    const fields = [
      'uid',
      uid,
      'nsp',
      nsp,
      'type',
      String(type),
      ...('data' in rest ? ['data', JSON.stringify(rest.data)] : []),
    ];
    const max = SERVER_LIMITS.socketEventsKept;
    return (await this.#writer.run('tell other instances', (client) =>
      (client as Redis).xadd(STREAM, 'MAXLEN', '~', max, '*', ...fields),
    ))!;
  }

  // Instances send each other no requests.
  protected override async doPublishResponse(): Promise<void> {}

  override persistSession(state: SocketState): void {
    this.#writer
      .run('keep the state of a socket', (client) =>
        client.set(STATES + state.pid, JSON.stringify(state), 'PX', SERVER_LIMITS.socketRecoveryMs),
      )
      .catch(this.#onProblem);
  }

  override async restoreSession(pid: string, offset: string): Promise<Session> {
    const state = OFFSET.test(offset) ? await this.#takeState(pid) : undefined;
    const [last] = state ? await this.#entries(offset, offset) : [];
    // Like socket.io's own adapter when there is nothing to recover.
    if (!state || !last) return null as unknown as Session;
    const missedPackets: unknown[][] = [];
    let after = offset;
    for (let more = true; more; ) {
      const page = await this.#entries(`(${after}`, '+');
      for (const [id, fields] of page) {
        const packet = readMissed(state, fields);
        if (packet) missedPackets.push([...packet, id]);
      }
      after = page.at(-1)?.[0] ?? after;
      more = page.length === PAGE;
    }
    await this.#hasRead(after);
    return { ...state, missedPackets };
  }

  // An event found here and read from the stream only later would reach the client twice.
  async #hasRead(offset: string): Promise<void> {
    for (let tries = 0; isBefore(this.position, offset) && tries < CATCH_UP_TRIES; tries++)
      await this.#clock.wait(CATCH_UP_MS);
  }

  async #takeState(pid: string): Promise<SocketState | undefined> {
    const cached = this.#taken.get(pid);
    this.#taken.delete(pid);
    if (cached) return cached;
    const text = await this.#writer.run('find the state of a socket', (client) => client.getdel(STATES + pid));
    if (text === null) return undefined;
    const state = JSON.parse(text) as SocketState;
    this.#taken.set(pid, state);
    return state;
  }

  #entries(from: string, to: string): Promise<readonly StreamEntry[]> {
    return this.#writer.run('find missed events', (client) => client.xrange(STREAM, from, to, 'COUNT', PAGE));
  }
}

function isBefore(a: string, b: string): boolean {
  const [[ms = 0, n = 0], [otherMs = 0, otherN = 0]] = [a, b].map((id) => id.split('-').map(Number)) as [
    number[],
    number[],
  ];
  return ms < otherMs || (ms === otherMs && n < otherN);
}

function readMessage(fields: readonly string[]): ClusterMessage {
  const values = new Map(fields.map((name, at) => [name, fields[at + 1]] as const).filter((_, at) => at % 2 === 0));
  const [uid, nsp, type, data] = ['uid', 'nsp', 'type', 'data'].map((name) => values.get(name));
  return { uid, nsp, type: Number(type), ...(data !== undefined && { data: JSON.parse(data) }) } as ClusterMessage;
}

// The event, if it was sent to a room of this socket.
function readMissed({ rooms }: SocketState, fields: readonly string[]): unknown[] | undefined {
  try {
    const { type, data } = readMessage(fields) as { type: MessageType; data: Broadcast };
    if (type !== MessageType.BROADCAST) return undefined;
    const { rooms: to, except } = data.opts;
    const isFor = to.length === 0 || rooms.some((room) => to.includes(room));
    return isFor && !rooms.some((room) => except.includes(room))
      ? (data.packet as { data: unknown[] }).data
      : undefined;
  } catch {
    // Already reported by the stream reader.
    return undefined;
  }
}

interface StreamReading extends Pick<SharedEventsOptions, 'clock' | 'onProblem'> {
  readonly reader: RedisConnection;
  readonly signal: AbortSignal;
}

/** Delivers every new entry to the adapter until the signal aborts; resumes where it stopped after an outage of Redis. */
async function readStream({ reader, clock, onProblem, signal }: StreamReading, adapter: StreamAdapter): Promise<void> {
  let after: string | undefined;
  for (let failures = 0; !signal.aborted; ) {
    try {
      // Waits for the first connection. The blocking read stays outside of run(), which close() waits for.
      await reader.run('read the events of other instances', async () => {});
      const client = reader.client as Redis;
      after ??= (await client.xrevrange(STREAM, '+', '-', 'COUNT', 1))[0]?.[0] ?? '0-0';
      const block = SERVER_LIMITS.socketBlockMs;
      const streams = await client.xread('COUNT', PAGE, 'BLOCK', block, 'STREAMS', STREAM, after);
      failures = 0;
      adapter.position = after;
      for (const entry of streams?.[0]?.[1] ?? []) {
        after = entry[0];
        takeOne(entry);
        adapter.position = after;
      }
    } catch (error) {
      if (signal.aborted) return;
      if (failures++ === 0) onProblem(error);
      await clock.wait(retryDelay(failures, AGAIN), signal);
    }
  }

  function takeOne(entry: StreamEntry): void {
    try {
      adapter.take(entry);
    } catch (cause) {
      const what = `The event ${entry[0]} of another instance cannot be read and is skipped.`;
      onProblem(new TwinlineError('ERR_RECORD', what, { cause }));
    }
  }
}

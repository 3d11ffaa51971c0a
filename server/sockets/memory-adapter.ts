// What a client that comes back gets of the events that it missed, where there is one instance.
//
// As socket.io's own SessionAwareAdapter, which starts a timer that nothing ends: a closed server stayed in memory with all that it had.

import { Adapter, type BroadcastOptions, type Session } from 'socket.io-adapter';
import { type Clock, every } from '../../lib/clock.ts';
import { SERVER_LIMITS } from '../config/limits.ts';

interface Packet {
  readonly type: number;
  readonly id?: number;
  readonly data: unknown[];
}

interface SentPacket {
  readonly offset: string;
  readonly data: unknown[];
  readonly to: BroadcastOptions;
  readonly at: number;
  readonly bytes: number;
}

type SocketState = Omit<Session, 'missedPackets'>;

/** Packets of socket.io that carry an event. */
const EVENT = 2;
const LOOK_MS = 60_000;
const { socketRecoveryMs, socketEventsKept, socketEventBytesKept } = SERVER_LIMITS;
/** So many times the bounds are kept before the oldest go: each goes at the cost of one. */
const SLACK = 1.1;

export class MemoryAdapter extends Adapter {
  readonly #clock: Clock;
  readonly #stopLooking: () => void;
  /** Of sockets that lost their connection, by their private id. */
  readonly #left = new Map<string, { readonly state: SocketState; readonly at: number }>();
  /** The last events; those before are forgotten. */
  #sent: SentPacket[] = [];
  #bytes = 0;
  #count = 0;

  constructor(namespace: unknown, clock: Clock) {
    super(namespace);
    this.#clock = clock;
    this.#stopLooking = every(clock, LOOK_MS, () => this.#forget());
  }

  override close(): void {
    this.#stopLooking();
  }

  override persistSession(state: SocketState): void {
    this.#left.set(state.pid, { state, at: this.#clock.monotonic() });
  }

  override restoreSession(pid: string, offset: string): Promise<Session> {
    const left = this.#left.get(pid);
    const at = left && this.#isFresh(left) ? this.#sent.findLastIndex((packet) => packet.offset === offset) : -1;
    // As socket.io's own adapter says that there is nothing to recover from.
    if (!left || at < 0) return null as unknown as Promise<Session>;
    const { state } = left;
    const missed = this.#sent.slice(at + 1).filter(({ to }) => isFor(state, to));
    return Promise.resolve({ ...state, missedPackets: missed.map(({ data }) => data) });
  }

  override broadcast(packet: Packet, to: BroadcastOptions): void {
    // Who answers an event to its sender cannot be asked again later.
    if (packet.type === EVENT && packet.id === undefined && !to.flags?.volatile) {
      const offset = (++this.#count).toString(36);
      // The client tells the last one that it got.
      packet.data.push(offset);
      this.#keep({ offset, data: packet.data, to, at: this.#clock.monotonic(), bytes: countBytes(packet.data) });
    }
    super.broadcast(packet, to);
  }

  #isFresh({ at }: { readonly at: number }): boolean {
    return this.#clock.monotonic() - at <= socketRecoveryMs;
  }

  #keep(packet: SentPacket): void {
    this.#sent.push(packet);
    this.#bytes += packet.bytes;
    if (this.#sent.length > socketEventsKept * SLACK || this.#bytes > socketEventBytesKept * SLACK) this.#forget();
  }

  #forget(): void {
    for (const [pid, left] of this.#left) if (!this.#isFresh(left)) this.#left.delete(pid);
    let bytes = 0;
    const isKept = (packet: SentPacket) => {
      bytes += packet.bytes;
      return bytes <= socketEventBytesKept && this.#isFresh(packet);
    };
    const newest = this.#sent.slice(-socketEventsKept).reverse();
    const end = newest.findIndex((packet) => !isKept(packet));
    this.#sent = (end < 0 ? newest : newest.slice(0, end)).reverse();
    this.#bytes = this.#sent.reduce((sum, packet) => sum + packet.bytes, 0);
  }
}

const countBytes = (data: readonly unknown[]) => JSON.stringify(data).length;

function isFor({ rooms }: SocketState, to: BroadcastOptions): boolean {
  const isListed = to.rooms.size === 0 || rooms.some((room) => to.rooms.has(room));
  return isListed && !rooms.some((room) => to.except?.has(room));
}

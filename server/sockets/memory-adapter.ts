// Replays missed events to reconnecting clients in a single-instance deployment.
//
// Replaces socket.io's SessionAwareAdapter, whose timer is never stopped and keeps a closed server in memory.

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

/** The socket.io packet type of an event. */
const EVENT = 2;
const LOOK_MS = 60_000;
const { socketRecoveryMs, socketEventsKept, socketEventBytesKept } = SERVER_LIMITS;
/** The limits may be exceeded by this factor before the oldest events are dropped, which amortizes the cost of dropping. */
const SLACK = 1.1;

export class MemoryAdapter extends Adapter {
  readonly #clock: Clock;
  readonly #stopLooking: () => void;
  /** Sessions of disconnected sockets, by their private id. */
  readonly #left = new Map<string, { readonly state: SocketState; readonly at: number }>();
  /** The most recent events. */
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
    const session = this.#left.get(pid);
    const at = session && this.#isFresh(session) ? this.#sent.findLastIndex((packet) => packet.offset === offset) : -1;
    // Like socket.io's own adapter when there is nothing to recover.
    if (!session || at < 0) return null as unknown as Promise<Session>;
    const { state } = session;
    const packets = this.#sent.slice(at + 1).filter(({ to }) => isFor(state, to));
    return Promise.resolve({ ...state, missedPackets: packets.map(({ data }) => data) });
  }

  override broadcast(packet: Packet, to: BroadcastOptions): void {
    // An event with an acknowledgement cannot be replayed later.
    if (packet.type === EVENT && packet.id === undefined && !to.flags?.volatile) {
      const offset = (++this.#count).toString(36);
      // The client reports the last offset it received.
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
    for (const [pid, session] of this.#left) if (!this.#isFresh(session)) this.#left.delete(pid);
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

// A TCP proxy on loopback that does to a connection what networks and dying machines do; what it does can change at any time.

import { createServer, connect as dial, type Server, type Socket } from 'node:net';
import { listenLow } from './ports.ts';

export type Fault =
  | { readonly kind: 'pass' }
  /** Nobody listens; open connections are cut. */
  | { readonly kind: 'refuse' }
  /** What either side says arrives so much later. */
  | { readonly kind: 'latency'; readonly ms: number }
  /** Connections stay and are taken, and nothing arrives; what was said meanwhile arrives when the fault is lifted. */
  | { readonly kind: 'freeze' }
  /** Open connections and new ones are cut off with RST. */
  | { readonly kind: 'reset' }
  /** New connections are cut after so many bytes of what the server says, one for each number; those after them pass. */
  | { readonly kind: 'cut'; readonly after: readonly number[] }
  /**
   * The first request that matches arrives and is carried out; its reply and whatever follows on that connection do not
   * come back, and the connection is closed at once or stays silent until the fault is lifted.
   */
  | { readonly kind: 'lose-reply'; readonly to: RegExp; readonly after: 'close' | 'stall' };

export interface FaultProxy {
  readonly port: number;
  /** Resolves when the fault is in force. */
  set(fault: Fault): Promise<void>;
  /** Replies that were lost since the last `set`. */
  readonly lost: number;
  /** Connections that were made since the last `set`. */
  readonly connections: number;
  close(): Promise<void>;
}

export const PASS: Fault = { kind: 'pass' };

interface Said {
  readonly to: Socket;
  readonly bytes: Buffer;
}

interface Wire {
  readonly client: Socket;
  readonly server: Socket;
  /** Said by one side and not handed to the other yet, in order. */
  readonly held: Said[];
  /** Its replies are lost from here on. */
  deaf: boolean;
  /** So much of what the server says still passes. */
  left: number;
}

/** A proxy in front of `127.0.0.1:port` on a free port of its own. */
export async function faultProxy({ port: target }: { readonly port: number }): Promise<FaultProxy> {
  const wires = new Set<Wire>();
  let fault: Fault = PASS;
  let lost = 0;
  let connections = 0;

  const deliver = (wire: Wire, to: Socket, bytes: Buffer): void => {
    if (to.destroyed) return;
    if (fault.kind !== 'freeze' && fault.kind !== 'latency') return void to.write(bytes);
    const said = { to, bytes };
    wire.held.push(said);
    if (fault.kind === 'latency') setTimeout(() => hand(wire, said), fault.ms);
  };
  const onRequest = (wire: Wire, bytes: Buffer): void => {
    if (fault.kind === 'lose-reply' && fault.to.test(bytes.toString('latin1'))) wire.deaf = true;
    deliver(wire, wire.server, bytes);
  };
  const onReply = (wire: Wire, bytes: Buffer): void => {
    if (wire.deaf) {
      lost++;
      if (fault.kind === 'lose-reply' && fault.after === 'close') wire.client.destroy();
    } else deliver(wire, wire.client, bytes.subarray(0, wire.left));
    wire.left -= bytes.length;
    if (wire.left > 0) return;
    wire.client.destroySoon();
    wire.server.destroy();
  };

  const take = (client: Socket): void => {
    if (fault.kind === 'reset') return void client.resetAndDestroy();
    const left = (fault.kind === 'cut' ? fault.after[connections] : undefined) ?? Number.POSITIVE_INFINITY;
    connections++;
    const wire: Wire = { client, server: dial(target, '127.0.0.1'), held: [], deaf: false, left };
    wires.add(wire);
    client.on('data', (bytes) => onRequest(wire, bytes));
    wire.server.on('data', (bytes) => onReply(wire, bytes));
    for (const socket of [client, wire.server]) {
      socket.setNoDelay(true);
      socket.on('error', () => {});
      socket.on('close', () => {
        // A frozen machine does not even hang up.
        if (fault.kind !== 'freeze') hangUp(wire);
        if (client.destroyed && wire.server.destroyed) wires.delete(wire);
      });
    }
  };

  const server = createServer(take);
  const port = await listenLow(server);

  const cut = (how: (wire: Wire) => void) => {
    for (const wire of [...wires]) how(wire);
  };
  const set = async (next: Fault): Promise<void> => {
    fault = next;
    lost = 0;
    connections = 0;
    if (next.kind !== 'freeze') cut(release);
    if (next.kind === 'refuse') {
      cut(destroy);
      if (server.listening) await closed(server);
      return;
    }
    if (!server.listening) await listenLow(server, port);
    if (next.kind === 'reset') cut((wire) => wire.client.resetAndDestroy());
    // Replies were dropped on these: nobody can go on in the middle of a protocol.
    cut((wire) => wire.deaf && destroy(wire));
  };
  return {
    port,
    set,
    get lost() {
      return lost;
    },
    get connections() {
      return connections;
    },
    close: async () => {
      fault = PASS;
      cut(destroy);
      if (server.listening) await closed(server);
    },
  };
}

// In order: what was said before goes first, and nothing twice.
function hand({ held }: Wire, last: Said): void {
  for (const { to, bytes } of held.splice(0, held.indexOf(last) + 1)) if (to.writable) to.write(bytes);
}

// What a client said before it gave up is still carried out, as by a process that was stopped and goes on.
function release(wire: Wire): void {
  const last = wire.held.at(-1);
  if (last) hand(wire, last);
  if (wire.client.destroyed || wire.server.destroyed) hangUp(wire);
}

function hangUp({ client, server }: Wire): void {
  if (client.destroyed) server.destroySoon();
  else client.destroy();
}

function destroy({ client, server }: Wire): void {
  client.destroy();
  server.destroy();
}

const closed = (server: Server) => new Promise<void>((resolve) => server.close(() => resolve()));

// The load, in a process of its own: phones that dial through one gateway, on connections that are kept. Which phone is next is
// chance; each is somewhere in its dialogue, and one in eight turns begins a session.

import { connect } from 'node:net';

/** What the parent sends; the answer is `{ turns }`, or `{ failed }`. */
export interface Order {
  readonly port: number;
  readonly turns: number;
  /** Phones to choose from. `first`: each of them dials once, in order, whatever `turns` says. */
  readonly callers: number;
  readonly first?: boolean;
  readonly connections: number;
  /** The texts of one dialogue, cumulative. */
  readonly texts: readonly string[];
}

interface Pool {
  /** The next text of each phone; of the one that has none left, the session ends here. */
  readonly step: Uint8Array;
  readonly left: Uint8Array;
  readonly dial: Uint32Array;
  readonly isBusy: Uint8Array;
}

const pools = new Map<string, Pool>();

process.on('message', (order: Order) => {
  carryOut(order).then(
    () => process.send!({ turns: order.first ? order.callers : order.turns }),
    (error) => process.send!({ failed: String(error) }),
  );
});

async function carryOut(order: Order): Promise<void> {
  const { port, callers, connections, texts, first } = order;
  const pool = poolFor(`${port} ${callers}`, callers);
  const most = first ? callers : order.turns;
  let taken = 0;
  const next = (): number | undefined => {
    if (taken >= most) return undefined;
    const at = taken++;
    if (first) return at;
    for (;;) {
      const caller = Math.floor(Math.random() * callers);
      if (!pool.isBusy[caller]) return caller;
    }
  };
  await Promise.all(Array.from({ length: connections }, () => connection(port, { pool, texts, next })));
}

function poolFor(name: string, size: number): Pool {
  const known = pools.get(name) ?? {
    step: new Uint8Array(size),
    left: new Uint8Array(size),
    dial: new Uint32Array(size),
    isBusy: new Uint8Array(size),
  };
  pools.set(name, known);
  return known;
}

interface Talk {
  readonly pool: Pool;
  readonly texts: readonly string[];
  readonly next: () => number | undefined;
}

function connection(port: number, { pool, texts, next }: Talk): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1').setNoDelay(true).setEncoding('latin1');
    let caller = -1;
    let buffer = '';
    const send = () => {
      const chosen = next();
      if (chosen === undefined) {
        socket.end();
        return resolve();
      }
      caller = chosen;
      pool.isBusy[caller] = 1;
      socket.write(request(pool, caller, texts));
    };
    socket.on('connect', send);
    socket.on('error', reject);
    socket.on('data', (chunk) => {
      buffer += chunk;
      const end = buffer.indexOf('\r\n\r\n');
      const length = /content-length: (\d+)/i.exec(buffer);
      if (end < 0 || !length || buffer.length < end + 4 + Number(length[1])) return;
      if (!/^HTTP\/1\.1 200[\s\S]*\r\n\r\n(CON|END) /.test(buffer))
        return reject(new Error(`unexpected answer: ${buffer.slice(0, 400)}`));
      buffer = '';
      pool.isBusy[caller] = 0;
      send();
    });
  });
}

// A phone that has come to the end of its dialogue dials anew. The first dialogue ends anywhere, so that phones are at any step.
function request({ step, left, dial }: Pool, caller: number, texts: readonly string[]): string {
  if (left[caller] === 0) {
    left[caller] = dial[caller] === 0 ? 1 + Math.floor(Math.random() * texts.length) : texts.length;
    dial[caller]!++;
    step[caller] = 0;
  }
  left[caller]!--;
  const text = texts[step[caller]!++];
  const phoneNumber = `+2609${String(10_000_000 + caller)}`;
  const sessionId = `line-${caller}-${dial[caller]}`;
  const body = JSON.stringify({ sessionId, serviceCode: '*2233#', phoneNumber, text });
  return `POST /api/ussd HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}

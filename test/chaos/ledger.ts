// The wallet's service outside of the system: sells airtime once per idempotency key, and knows what it has sold.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { listenLow } from '../support/ports.ts';
import { numbersFrom } from '../support/random.ts';

export interface Ledger {
  readonly port: number;
  /** What was sold to a phone number, in units of its own. */
  soldTo(phone: string): number;
  close(): Promise<void>;
}

const CREDIT = 5_000;
/** Longest time of one answer, in milliseconds. */
const SLOW_MS = 40;

/** Starts it on a free port. */
export async function startLedger(): Promise<Ledger> {
  const random = numbersFrom(1);
  const receipts = new Map<string, string>();
  const purchases = new Map<string, number[]>();
  const of = (phone: string) => purchases.get(phone) ?? [];

  const sell = (key: string, { phone, price }: { phone: string; price: number }) => {
    const known = receipts.get(key);
    if (known) return { ok: true, receipt: known };
    purchases.set(phone, [...of(phone), price]);
    const receipt = `R${of(phone).length}-${phone.slice(-9)}`;
    receipts.set(key, receipt);
    return { ok: true, receipt };
  };

  const answer = async (req: IncomingMessage): Promise<object | undefined> => {
    const { pathname, searchParams } = new URL(req.url!, 'http://ledger');
    let body = '';
    for await (const chunk of req) body += chunk;
    await pause(random() * SLOW_MS);
    if (pathname === '/api/airtime') return sell(String(req.headers['idempotency-key']), JSON.parse(body));
    if (pathname !== '/api/balance') return undefined;
    return { balance: of(searchParams.get('phone') ?? '').reduce((left, price) => left - price, CREDIT) };
  };
  const server = createServer(async (req, res) => {
    // A caller that was killed in the middle of its request.
    const found = await answer(req).catch(() => undefined);
    send(res, found);
  });
  const port = await listenLow(server);
  return {
    port,
    soldTo: (phone) => of(phone).length,
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}

function send(res: ServerResponse, found: object | undefined): void {
  res.writeHead(found ? 200 : 404, { 'content-type': 'application/json' });
  res.end(JSON.stringify(found ?? {}));
}

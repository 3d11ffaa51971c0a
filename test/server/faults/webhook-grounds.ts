// Receivers of webhooks that fail: each fault has a tenant of its own, whose webhook stands behind a proxy of its own.

import { readFileSync, writeFileSync } from 'node:fs';
import { faultProxy } from '../../support/fault-proxy.ts';
import { until } from '../../support/until.ts';
import { PROTOCOL } from '../support/domain-client.ts';
import type { Received, Receiver } from '../support/receiver.ts';
import { ask, json } from '../support/serve.ts';
import type { Fault } from './matrix.ts';
import { makeTwin, type Request } from './requests.ts';
import { type Ground, networkFaults, type Work } from './store-grounds.ts';

// What is sent in TLS after hands were shaken: a record of 128 bytes or more.
const [DATA, SHORT] = ['\u0017\u0003\u0003', '\u0000[\u0000-\u007f]'];
export const SENT_OVER_TLS = new RegExp(`${DATA}(?!${SHORT})`);

const FAULTS: readonly Fault[] = ['refuse', 'freeze', 'slow', 'reset', 'lose-close', 'lose-stall'];
const keyOf = (fault: Fault) => `key-of-the-tenant-${fault}`;

/** Adds the keys of the tenants to an API_KEYS_FILE. */
export function addTenants(file: string): void {
  const keys = FAULTS.map((fault) => ({
    key: keyOf(fault),
    principal: 'did:x:tim',
    roles: ['controller'],
    tenant: fault,
  }));
  writeFileSync(file, JSON.stringify([...(JSON.parse(readFileSync(file, 'utf8')) as unknown[]), ...keys]));
}

/** Plays all faults of a receiver beside each other. */
export async function playWebhooks(place: Ground['place'], receiver: Receiver, work: Work): Promise<void> {
  await Promise.all(FAULTS.map((fault) => playWebhook({ place, receiver, fault }, work)));
}

interface Playing {
  readonly place: Ground['place'];
  readonly receiver: Receiver;
  readonly fault: Fault;
}

async function playWebhook({ place, receiver, fault }: Playing, work: Work): Promise<void> {
  const { url } = place;
  const headers = { authorization: `Bearer ${keyOf(fault)}` };
  const send = (path: string) => ask(url + path, { headers });
  const post = (path: string, body: object, more = {}) => ask(url + path, json(body, { ...headers, ...more }));
  const target = new URL(receiver.url);
  const proxy = await faultProxy({ port: Number(target.port) });
  target.port = String(proxy.port);
  target.pathname = `/${fault}`;
  const received = () => receiver.received.filter(({ url: path }) => path.startsWith(target.pathname));
  try {
    await post('/v1/protocols', { type: 'Protocol', alsoKnownAs: PROTOCOL });
    const made = await post('/v1/webhooks', { url: target.href, events: ['domain.created'] });
    const { id } = made.json() as { id: string };
    const hasFailed = async () => {
      const { delivery } = (await send(`/v1/webhooks/${id}`)).json() as { delivery: { failedAttempts: number } | null };
      return (delivery?.failedAttempts ?? 0) > 0;
    };
    const { set, lift } = networkFaults(proxy, { slowMs: 100, effect: SENT_OVER_TLS });
    await work({
      ...{ dependency: 'webhooks', place, faults: [fault], set },
      requests: { domain: () => notified(received, makeTwin({ send, post })) },
      async lift() {
        if (fault !== 'slow') await until('a delivery has failed', hasFailed);
        await lift();
      },
    });
  } finally {
    await proxy.close();
  }
}

/** A twin is made; `again` also tells how often the receiver has heard of it. */
async function notified(received: () => readonly Received[], making: Promise<Request>): Promise<Request> {
  const twin = await making;
  return {
    ask: twin.ask,
    async again() {
      const made = await twin.again();
      const heard = received();
      const ids = new Set(heard.map(({ headers }) => headers['webhook-id']));
      return `${made}, told ${heard.length} times${ids.size > 1 ? ` by ${ids.size} ids` : ''}`;
    },
  };
}

// The load of a soak: callers, accounts, twins, votes, webhooks, streams, chats, sockets and queries that never come twice.

import { newUser } from '../server/plugins/users.ts';
import { openTab } from '../server/sockets/ground.ts';
import { readEvents } from '../server/support/event-reader.ts';
import { caller, postUssd } from '../support/phone.ts';
import { until } from '../support/until.ts';

/** Does one piece of work, the one with this number; throws when an answer is not the expected one. */
export type Door = (url: string, nth: number) => Promise<void>;

interface Asked {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly status: number;
}

async function ask(url: string, { method = 'GET', headers = {}, body, status }: Asked): Promise<string> {
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const answer = await fetch(url, { method, headers: { 'content-type': 'application/json', ...headers }, ...sent });
  const said = await answer.text();
  if (answer.status !== status) throw new Error(`${method} ${url}: ${answer.status} ${said.slice(0, 300)}`);
  return said;
}

/** A key of /v1 that may do everything. */
export const API_KEY = 'soak-key-0123456789abcdefghijklmnop';
export const PROTOCOL = 'did:ixo:protocol/soak';
const OWNER = { authorization: `Bearer ${API_KEY}` };
/** Of pieces of work, one in so many checks a PIN: that takes most of the processor. */
const PIN_SHARE = 10;
const TEXTS = ['', '1', '1*1', '1*1*2'];

export async function makeProtocol(url: string): Promise<void> {
  await ask(`${url}/v1/protocols`, {
    method: 'POST',
    headers: OWNER,
    body: { type: 'Protocol', alsoKnownAs: [PROTOCOL] },
    status: 201,
  });
}

/** Door → its work. */
export const DOORS: { readonly [door: string]: Door } = {
  async ussd(url, nth) {
    const call = { sessionId: `soak-${nth}`, serviceCode: '*2233#', phoneNumber: `+2609${10_000_000 + nth}` };
    for (const text of TEXTS) {
      const { status, text: said } = await postUssd(url, { ...call, text });
      if (status !== 200 || !/^(CON|END) /.test(said)) throw new Error(`USSD: ${status} ${said}`);
      if (said.startsWith('END ')) return;
    }
  },
  async domain(url, nth) {
    const body = { type: 'Device', class: PROTOCOL, externalId: `soak-${nth}` };
    const { did } = JSON.parse(await ask(`${url}/v1/domains`, { method: 'POST', headers: OWNER, body, status: 201 }));
    const path = `${url}/v1/domains/${encodeURIComponent(did as string)}`;
    await ask(path, { headers: OWNER, status: 200 });
    await ask(`${path}/history`, { headers: OWNER, status: 200 });
    await ask(`${url}/1.0/identifiers/${encodeURIComponent(did as string)}`, { status: 200 });
  },
  // Registers, and is remembered by its PIN, which must be found nowhere at the end.
  async account(url, nth) {
    if (nth % PIN_SHARE !== 0) return;
    const line = caller(`account-${nth}`, `+2637${10_000_000 + nth}`);
    const pin = String(260_000 + ((nth * 7_919) % 99_991));
    let said = await line.send(url);
    for (const typed of ['2', '2', 'Tariro Moyo', pin, pin]) said = await line.send(url, typed);
    if (!/^(CON|END) /.test(said)) throw new Error(`account: ${said}`);
  },
  async vote(url, nth) {
    const body = { type: 'Project', class: PROTOCOL, externalId: `vote-${nth}` };
    const did = JSON.parse(await ask(`${url}/v1/domains`, { method: 'POST', headers: OWNER, body, status: 201 })).did;
    const path = `${url}/v1/domains/${encodeURIComponent(did as string)}/proposals`;
    const made = await ask(path, { method: 'POST', headers: OWNER, body: { kind: 'verify' }, status: 201 });
    const proposal = `${url}/v1/proposals/${(JSON.parse(made) as { id: string }).id}`;
    await ask(`${proposal}/votes`, { method: 'POST', headers: OWNER, body: { vote: 'yes' }, status: 201 });
    await ask(proposal, { headers: OWNER, status: 200 });
  },
  // Its receiver is never there: what happens meanwhile waits for it until it is removed.
  async webhook(url, nth) {
    const body = { url: `https://soak-${nth}.invalid/`, events: ['domain.*'] };
    const made = await ask(`${url}/v1/webhooks`, { method: 'POST', headers: OWNER, body, status: 201 });
    const { id } = JSON.parse(made) as { id: string };
    await DOORS.domain!(url, nth);
    await ask(`${url}/v1/webhooks/${id}`, { method: 'DELETE', headers: OWNER, status: 200 });
  },
  async stream(url, nth) {
    const stream = await readEvents(`${url}/v1/events`, OWNER);
    if (stream.status !== 200) throw new Error(`stream: ${stream.status}`);
    const body = { type: 'Device', class: PROTOCOL, externalId: `stream-${nth}` };
    await ask(`${url}/v1/domains`, { method: 'POST', headers: OWNER, body, status: 201 });
    await stream.until(() => stream.events().length > 0);
    await stream.close();
  },
  async socket(url) {
    const { headers } = await newUser();
    const made = await ask(`${url}/sessions`, { method: 'POST', headers, status: 201 });
    const { sessionId } = JSON.parse(made) as { sessionId: string };
    const tab = openTab(url, { query: { sessionId }, auth: { invocation: headers.authorization!.slice(7) } });
    await until('a socket is greeted', () => tab.said('connected').length > 0);
    tab.close();
    await ask(`${url}/sessions/${sessionId}`, { method: 'DELETE', headers, status: 200 });
  },
  async agent(url) {
    const { headers } = await newUser();
    const made = await ask(`${url}/sessions`, { method: 'POST', headers, status: 201 });
    const { sessionId } = JSON.parse(made) as { sessionId: string };
    await ask(`${url}/messages/${sessionId}`, { method: 'POST', headers, body: { message: 'hello' }, status: 200 });
    await ask(`${url}/sessions/${sessionId}`, { method: 'DELETE', headers, status: 200 });
  },
  async gateway(url, nth) {
    await ask(`${url}/grove/search?note=${nth}`, { status: 200 });
  },
};

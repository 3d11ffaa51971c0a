// What is said of the services that come with Twinline is what they take and answer.

import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { accounts } from '../../../lib/account/account.ts';
import { pinVault } from '../../../lib/account/pin.ts';
import { ACCOUNT_KINDS } from '../../../lib/account/records.ts';
import { accountServices } from '../../../lib/account/services.ts';
import { SimulatedClock } from '../../../lib/clock.ts';
import { MEMORIES, storedMemories } from '../../../lib/engine/memory/documents.ts';
import { memoryServices } from '../../../lib/engine/memory/memory.ts';
import type { ServiceCall, ServiceSession, Services } from '../../../lib/engine/service.ts';
import { httpServices } from '../../../lib/http/service.ts';
import type { JsonObject } from '../../../lib/json/json.ts';
import { parseKeyring } from '../../../lib/keyring.ts';
import { SMS_FORMATS } from '../../../lib/sms/format.ts';
import { smsServices } from '../../../lib/sms/service.ts';
import { memoryDocuments } from '../../../lib/store/memory/index.ts';
import { CONTRACTS } from '../../../server/menus/contracts.ts';
import type { ServiceExample } from '../../../server/menus/http-contracts.ts';

const test = suite('contracts of services');

async function openAccounts() {
  const clock = new SimulatedClock();
  const documents = memoryDocuments({ clock });
  await documents.declare([...ACCOUNT_KINDS, MEMORIES]);
  const vault = pinVault({ keyring: parseKeyring(randomBytes(32).toString('hex')) });
  const keyring = parseKeyring(randomBytes(32).toString('hex'));
  return {
    ...accountServices(accounts({ documents, vault, clock, id: () => 'C7K2M9QD' })),
    ...memoryServices(storedMemories({ documents, keyring, clock })),
  };
}

let calls = 0;
const callOf = (session: ServiceSession = { id: 's' }): ServiceCall => ({
  session,
  idempotencyKey: `k${calls++}`,
  signal: new AbortController().signal,
});

/** Services on an HTTP server that answers as the example says; the host of the example is that of the server. */
async function withHttp<T>(
  { http }: ServiceExample,
  work: (services: Services, host: string) => Promise<T>,
): Promise<T> {
  const asked: string[] = [];
  const server = createServer(async (request, response) => {
    const body = await text(request);
    asked.push(`${request.method} ${request.url}${body && ` ${body}`}`);
    response.writeHead(http!.status, { 'content-type': 'application/json' }).end(JSON.stringify(http!.answer));
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  try {
    const sms = smsServices({ url: `http://${host}/sms`, format: SMS_FORMATS.json });
    const result = await work({ ...httpServices({ hosts: [host] }), ...sms }, host);
    assert.equal(asked, http ? [http.request] : []);
    return result;
  } finally {
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
  }
}

const outcome = (work: Promise<unknown>) =>
  work.then(
    (answer) => ({ answer }),
    ({ code }: { code: string }) => ({ fails: code }),
  );

test('every example of a service is what the service does', async () => {
  for (const [name, { errors, examples }] of Object.entries(CONTRACTS)) {
    assert.ok(examples.some(({ gives }) => 'answer' in gives) && examples.some(({ gives }) => 'fails' in gives), name);
    for (const example of examples) {
      const { title, with: input, gives } = example;
      const got = /^(http|sms)\./.test(name)
        ? await withHttp(example, (services, host) => {
            const url = String(input.url).replace(/^https:\/\/[^/]+/, `http://${host}`);
            return outcome(services[name]!({ ...input, ...('url' in input && { url }) }, callOf()));
          })
        : await outcome(callAccounts(name, example));
      assert.equal(got, gives, `${name}: ${title}`);
      if ('fails' in gives) assert.ok(errors[gives.fails], `${name} says nothing of ${gives.fails}`);
    }
  }
});

async function callAccounts(name: string, { after = [], with: input, phoneNumber }: ServiceExample) {
  const services = await openAccounts();
  for (const before of after)
    for (let time = 0; time < (before.times ?? 1); time++) await services[before.service]!(before.with, callOf());
  return services[name]!(input, callOf({ id: 's', conversation: 'main', ...(phoneNumber && { phoneNumber }) }));
}

const SMS = smsServices({ url: 'http://127.0.0.1/sms', format: SMS_FORMATS.json });

const KINDS: { readonly [kind: string]: string } = { text: 'string', number: 'number', boolean: 'boolean' };

test('every value that an example gives or gets is one of the contract, of its kind', () => {
  for (const [name, { input, answer, examples }] of Object.entries(CONTRACTS))
    for (const { with: given, gives } of examples) {
      for (const field of Object.keys(given)) assert.ok(Object.hasOwn(input, field), `${name} takes ${field}`);
      for (const [field, value] of Object.entries('answer' in gives ? (gives.answer as JsonObject) : {})) {
        assert.ok(Object.hasOwn(answer, field), `${name} answers ${field}`);
        const kind = KINDS[answer[field]!.kind];
        if (kind && value !== null) assert.is(typeof value, kind, `${name} ${field}`);
      }
    }
});

test('every service has one, and no other has', async () => {
  const services = { ...(await openAccounts()), ...httpServices({ hosts: [] }), ...SMS };
  assert.equal(Object.keys(CONTRACTS).sort(), Object.keys(services).sort());
});

test('what a service needs is refused when it is missing', async () => {
  const services = { ...(await openAccounts()), ...httpServices({ hosts: [] }), ...SMS };
  const session = { id: 's', phoneNumber: '+260971230001' };
  for (const [name, { input }] of Object.entries(CONTRACTS)) {
    if (!Object.values(input).some(({ required }) => required)) continue;
    const failed = await outcome(services[name]!({}, callOf(session)));
    assert.equal(failed, { fails: 'ERR_INPUT' }, name);
  }
});

test.run();

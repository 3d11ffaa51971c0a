// Requests of clients: credentials that are made anew, tries that wait, errors with closed codes and without secrets, and signals.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  agentClient,
  type ClientOptions,
  ConnectionError,
  type ProblemError,
  twinsClient,
} from '../../lib/client/index.ts';
import { SimulatedClock } from '../../lib/clock.ts';
import { PROBLEMS } from '../../lib/domain/problems.ts';
import { REASON_STATUS, REFUSALS } from '../../server/http/errors.ts';
import { domainClient, keyOf, writeKeys } from '../server/support/domain-client.ts';
import { withServer } from '../server/support/serve.ts';
import { faultProxy } from '../support/fault-proxy.ts';
import { listenLow } from '../support/ports.ts';
import { withFolder } from '../support/process.ts';
import { until } from '../support/until.ts';

const test = suite('requests of the client');

/** The request and its number, from 1 on. */
type Answerer = (request: IncomingMessage, response: ServerResponse, count: number) => void;

interface Asked {
  readonly client: (options?: Partial<ClientOptions>) => ReturnType<typeof twinsClient>;
  /** Credentials that came, in order. */
  readonly credentials: string[];
  /** What was waited between tries, in milliseconds. */
  readonly waits: number[];
}

/** A server that answers like this, and clients of it that do not really wait. */
async function withAnswers(answer: Answerer, work: (asked: Asked) => Promise<void>): Promise<void> {
  const asked = { credentials: [] as string[], waits: [] as number[] };
  const server = createServer((request, response) => {
    asked.credentials.push(request.headers.authorization!.replace('Bearer ', ''));
    request.resume().once('end', () => answer(request, response, asked.credentials.length));
  });
  const port = await listenLow(server);
  const clock = { now: () => 1_000, wait: async (ms: number) => void asked.waits.push(ms) };
  const client = (options: Partial<ClientOptions> = {}) =>
    twinsClient({ url: `http://127.0.0.1:${port}/`, credential: () => 'a key', clock, ...options });
  try {
    await work({ ...asked, client });
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const json = (response: ServerResponse, status: number, body: object, headers = {}) =>
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
const failureOf = (asking: Promise<unknown>): Promise<Error & { code?: string; status?: number }> =>
  asking.then(
    () => {
      throw new Error('it did not fail');
    },
    (error) => error,
  );

/** Refuses all credentials but this one. */
const takes =
  (right: string): Answerer =>
  ({ headers }, response) =>
    headers.authorization === `Bearer ${right}`
      ? json(response, 200, { ok: true })
      : json(response, 401, { statusCode: 401, message: 'No' });

test('requests at the same time wait for one credential, which is kept', () =>
  withAnswers(takes('key 1'), async ({ client, credentials }) => {
    let made = 0;
    const { ask } = client({ credential: async () => `key ${++made}` });
    await Promise.all([ask('GET /a'), ask('GET /b'), ask('GET /c')]);
    await ask('GET /d');
    assert.equal([made, credentials], [1, ['key 1', 'key 1', 'key 1', 'key 1']]);
  }));

test('a credential that has expired is made anew before it is sent, and one that is refused once for each request', () =>
  withAnswers(takes('key 3'), async ({ client, credentials }) => {
    let made = 0;
    const expiries = [1_000, 1_001, 1_001, 2_000];
    const { ask } = client({
      credential: () => ({ value: `key ${++made}`, expiresAt: expiries[made - 1] ?? 0 }),
    });
    assert.is((await failureOf(ask('GET /a'))).code, 'unauthorized');
    assert.equal(credentials, ['key 1', 'key 2'], 'not more often');
    // That was refused, but no request knows a better one: it is sent, and replaced.
    await ask('GET /b');
    assert.equal(credentials.slice(2), ['key 2', 'key 3']);
    await ask('GET /c');
    assert.equal([credentials.slice(4), made], [['key 3'], 3]);
  }));

test('of many requests that are refused together, the first one makes the credential for all', () =>
  withAnswers(takes('key 2'), async ({ client }) => {
    let made = 0;
    const { ask } = client({ credential: async () => `key ${++made}` });
    await Promise.all(['a', 'b', 'c'].map((name) => ask(`GET /${name}`)));
    assert.is(made, 2);
  }));

test('the error of the function that makes credentials is the error of the request, and the next one asks it again', () =>
  withAnswers(takes('key 2'), async ({ client }) => {
    const away = new Error('signed out');
    let made = 0;
    const { ask } = client({
      credential: () => {
        if (++made === 1) throw away;
        return `key ${made}`;
      },
    });
    assert.is(await failureOf(ask('GET /a')), away);
    assert.equal(await ask('GET /a'), { ok: true });
  }));

test('a real server that limits requests is asked again when it says', async () => {
  const clock = new SimulatedClock(Date.UTC(2026, 0, 1));
  await withFolder((keys) =>
    withServer({ env: { API_KEYS_FILE: writeKeys(keys), RATE_LIMIT_MAX: '3' }, clock }, async ({ url }) => {
      const waits: number[] = [];
      const wait = async (ms: number) => {
        waits.push(ms);
        await clock.advance(ms);
      };
      const credential = () => keyOf('controller');
      const { ask } = twinsClient({ url, credential, clock: { now: () => clock.now(), wait } });
      for (let count = 0; count < 4; count++) assert.is((await ask('GET /v1/whoami')).principal, 'did:x:alice');
      assert.is(waits.length, 1);
      assert.ok(waits[0]! >= 1_000, `${waits}`);
    }),
  );
});

/** Method, status, Retry-After → how often it is sent, of three tries. */
const AGAIN: readonly (readonly [line: string, status: number, after: string | undefined, sent: number])[] = [
  ['GET /a', 429, '7', 3],
  ['POST /a', 429, '7', 3],
  ['POST /a', 429, undefined, 3],
  ['POST /a', 429, '61', 1],
  ['POST /a', 409, '1', 3],
  ['POST /a', 409, undefined, 1],
  ['GET /a', 409, undefined, 1],
  ['GET /a', 503, '2', 3],
  ['GET /a', 502, undefined, 3],
  ['POST /a', 503, '2', 1],
  ['POST /a', 502, undefined, 1],
  ['GET /a', 404, undefined, 1],
  ['DELETE /a', 500, undefined, 1],
];

test('what is refused for now is asked again after what the server says, and what may have been done is not', async () => {
  for (const [line, status, after, sent] of AGAIN)
    await withAnswers(
      (_, response) => json(response, status, { title: 'Later' }, after === undefined ? {} : { 'retry-after': after }),
      async ({ client, credentials, waits }) => {
        const error = await failureOf(client().ask(line, {}));
        const what = `${line} ${status} ${after}`;
        assert.equal([error.status, credentials.length], [status, sent], what);
        for (const ms of waits)
          assert.ok(ms >= Math.max(250, Number(after ?? 0) * 1_000) && ms <= 7_000, `${what} ${ms}`);
        assert.is((error as ProblemError).retryAfterMs, after === undefined ? undefined : Number(after) * 1_000);
      },
    );
  const breaks: Answerer = ({ socket }, response, count) =>
    count < 3 ? socket.destroy() : json(response, 200, { count });
  await withAnswers(breaks, async ({ client, credentials }) => {
    assert.equal(await client().ask('GET /a'), { count: 3 });
    assert.equal(await client().ask('POST /a', { headers: { 'Idempotency-Key': 'one' } }), { count: 4 });
    assert.is(credentials.length, 4);
  });
  await withAnswers(breaks, async ({ client, credentials }) => {
    assert.instance(await failureOf(client().ask('POST /a', { body: {} })), ConnectionError);
    assert.is(credentials.length, 1);
  });
  const cutsOff: Answerer = (_, response, count) => {
    const head = { 'content-type': 'application/json', 'content-length': 100 };
    if (count > 1) json(response, 200, { count });
    else response.writeHead(200, head).write('{"count":', () => response.destroy());
  };
  await withAnswers(cutsOff, async ({ client }) => assert.equal(await client().ask('GET /a'), { count: 2 }));
});

test('every refusal of a server has its code, its fields and its words', async () => {
  await withFolder((keys) =>
    withServer({ env: { API_KEYS_FILE: writeKeys(keys) } }, async ({ url }) => {
      await domainClient(() => url).protocol('controller');
      const twins = twinsClient({ url, credential: () => keyOf('controller') });
      const path = { did: 'did:ixo:entity:none' };
      const none = (await failureOf(twins.ask('GET /v1/domains/{did}', { path, query: { at: '1' } }))) as ProblemError;
      assert.equal([none.name, none.status, none.code], ['ProblemError', 404, 'not-found']);
      assert.is(none.request, 'GET /v1/domains/did%3Aixo%3Aentity%3Anone');
      assert.match(none.message, 'did:ixo:entity:none');
      assert.type(none.body.type, 'string');
      const body = { type: 'Project', class: 'did:x:protocol', properties: { size: 'big' } };
      const wrong = (await failureOf(twins.ask('POST /v1/domains', { body }))) as ProblemError;
      assert.equal([wrong.code, wrong.details.map(({ field }) => field)], ['invalid', ['/properties/size']]);
      const agent = agentClient({ url, credential: () => 'no token' });
      const refused = await failureOf(agent.ask('POST /sessions'));
      assert.equal([refused.code, refused.status], ['unauthorized', 401]);
    }),
  );
  const statuses = Object.entries({ ...REASON_STATUS, ...REFUSALS });
  assert.is(statuses.length, new Set([...Object.keys(PROBLEMS), ...Object.keys(REFUSALS)]).size);
  const answer: Answerer = ({ url }, response) => {
    const [, kind, text] = url!.split('/') as [string, string, string];
    if (kind === 'html') {
      response.writeHead(Number(text), { 'content-type': 'text/html' }).end('<p>Sorry');
      return;
    }
    const error = { code: text, message: 'Words', details: [] };
    json(
      response,
      418,
      kind === 'problem' ? { detail: 'Words', error } : { error: 'Words', code: text, requestId: 'r' },
    );
  };
  await withAnswers(answer, async ({ client }) => {
    for (const kind of ['problem', 'refusal'])
      for (const [code] of statuses) {
        const error = await failureOf(client().ask(`GET /${kind}/${code}`));
        assert.equal([error.code, error.message], [code, 'Words']);
      }
    const codes = await Promise.all(
      ['403', '404', '413', '418', '502'].map(
        async (status) => (await failureOf(client({ tries: 1 }).ask(`GET /html/${status}`))).code,
      ),
    );
    assert.equal(codes, ['forbidden', 'not-found', 'too-large', 'unknown', 'bad-gateway']);
    const page = await failureOf(client({ tries: 1 }).ask('GET /html/200'));
    assert.match(page.message, 'Does a proxy answer for the server?');
  });
});

test('no error quotes a credential, a query or a body', async () => {
  const secret = 'secret-7f3a';
  const parts = { query: { q: secret }, body: { pin: secret } };
  const all: unknown[] = [];
  const collect = async (credential: string, answer: Answerer) =>
    withAnswers(answer, async ({ client }) => {
      const { ask, send, events } = client({ credential: () => credential, tries: 1 });
      all.push(await failureOf(ask('PATCH /a', parts)), await failureOf(send('GET /a', { query: parts.query })));
      all.push(await failureOf(events()[Symbol.asyncIterator]().next()));
    });
  await collect(secret, ({ socket }) => void socket.destroy());
  await collect(secret, (_, response) => json(response, 403, { detail: 'No' }));
  await collect(`${secret}\n`, (_, response) => json(response, 200, {}));
  await collect(`${secret}☕`, (_, response) => json(response, 200, {}));
  const proxy = await faultProxy({ port: 1 });
  await proxy.set({ kind: 'refuse' });
  const nobody = twinsClient({ url: `http://127.0.0.1:${proxy.port}`, credential: () => secret, tries: 1 });
  all.push(await failureOf(nobody.ask('GET /a', { query: parts.query })));
  assert.match((all.at(-1) as Error).message, /^GET \/a: no answer came \(ECONNREFUSED\)\.$/);
  assert.is(all.length, 13);
  for (const error of all) {
    const { message, stack, cause } = error as Error;
    assert.not.match(`${message} ${stack} ${JSON.stringify(error)}`, secret);
    assert.is(cause, undefined);
  }
});

test('a signal ends a request wherever it is: at the credential, at the answer, and between two tries', async () => {
  const reason = new Error('enough');
  const abortion = () => {
    const stop = new AbortController();
    return { signal: stop.signal, abort: () => stop.abort(reason) };
  };
  let open = 0;
  const never: Answerer = ({ url }, response) => {
    if (url === '/busy') {
      json(response, 503, {});
      return;
    }
    open++;
    response.once('close', () => open--);
  };
  await withAnswers(never, async ({ client, credentials }) => {
    const first = abortion();
    const waiting = client({ credential: () => new Promise(() => {}) }).ask('GET /a', { signal: first.signal });
    first.abort();
    assert.is(await failureOf(waiting), reason);
    assert.equal(credentials, []);
    const second = abortion();
    const asking = client().ask('GET /a', { signal: second.signal });
    await until('it is asked', () => open === 1);
    second.abort();
    assert.is(await failureOf(asking), reason);
    await until('the connection is given up', () => open === 0);
    const third = abortion();
    const wait = async () => third.abort();
    const again = client({ clock: { now: () => 0, wait }, tries: 9 }).ask('GET /busy', { signal: third.signal });
    assert.is(await failureOf(again), reason);
    assert.is(credentials.length, 2);
  });
});

test('outside of a browser a client needs an address, and says so at once', () => {
  assert.throws(() => agentClient({ credential: () => 'a' }), /outside of a page it needs a `url`/);
});

test.run();

// What every telecom dialect promises; run it with the adapter, its recorded dialogue and a client of that dialect.
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { TwinlineError } from '../../lib/errors.ts';
import type { Adapter, RawReply, UssdReply } from '../../lib/ussd/adapter.ts';
import { INVALID_INPUT } from '../../lib/ussd/reply.ts';
import type { RawRequest, UssdRequest } from '../../lib/ussd/request.ts';

type Recorded = { method: string; path: string; query?: string; headers?: Record<string, string>; body?: string };

/** A recorded dialogue: what the gateway sent, what we read, what was replied, what went over the wire. */
export type Dialogue = {
  source: string;
  turns: { what: string; request: Recorded; read: UssdRequest; reply: UssdReply; answer: RawReply }[];
  refused: { what: string; request: Recorded; answer: RawReply }[];
};

/** Reads an answer as the gateway would. */
export type Client = (answer: RawReply) => UssdReply;

const PIN = '90817263';

/** Runs the suite for one adapter. */
export function adapterContract(adapter: Adapter, { dialogue, client }: { dialogue: Dialogue; client: Client }): void {
  const test = suite(`adapter ${adapter.name}`);
  const turns = dialogue.turns.filter((turn) => turn.read.event === 'turn');

  test('reads every recorded request as expected', () => {
    for (const { what, request, read } of dialogue.turns) {
      assert.ok(routed(adapter, request), `${what}: no route takes ${request.method} ${request.path}`);
      assert.equal(adapter.read(raw(request)), read, what);
    }
  });

  test('writes every recorded answer to the byte', () => {
    for (const { what, read, reply, answer } of dialogue.turns) assert.equal(adapter.write(reply, read), answer, what);
  });

  test('refuses with an answer that is valid in its dialect and shows the text', () => {
    for (const { what, request, answer } of dialogue.refused) {
      assert.throws(() => adapter.read(raw(request)), isRefusal, what);
      assert.equal(adapter.refuse(INVALID_INPUT, raw(request)), answer, what);
      assert.equal(client(answer), INVALID_INPUT, what);
    }
  });

  test('any text comes back whole from the answer, whatever is in it', () => {
    const text = fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 60 }),
      fc.constantFrom('a\nb', `"'\\<&>\u2028`, '\u0000\t\u001f', 'é–😀', 'CON x', '%0a{{x}}', ''),
    );
    fc.assert(
      fc.property(fc.constantFrom(...turns), fc.constantFrom('continue', 'end'), text, (turn, kind, shown) => {
        const reply: UssdReply = { kind, text: shown };
        const answer = adapter.write(reply, turn.read);
        assert.equal(client(answer), reply);
        assert.is(answer.status, 200);
        for (const value of [answer.type, ...Object.values(answer.headers ?? {})])
          assert.match(value, /^[\x20-\x7e]+$/);
      }),
      { numRuns: 150 },
    );
  });

  test('whatever is sent is read into a sound request or refused as ERR_INPUT', () => {
    fc.assert(
      fc.property(garbage(dialogue), (request) => sound(adapter, request, client)),
      { numRuns: 600 },
    );
  });

  test('a refusal never says what the caller typed', () => {
    for (const turn of dialogue.turns) {
      for (const request of mutations(turn.request, `1*${PIN}${'9'.repeat(200)}`)) {
        try {
          adapter.read(raw(request));
        } catch (error) {
          assert.not.match(`${(error as Error).stack} ${String((error as Error).cause)}`, PIN);
        }
      }
    }
  });

  test.run();
}

function sound(adapter: Adapter, request: RawRequest, client: Client): void {
  assert.equal(client(adapter.refuse(INVALID_INPUT, request)), INVALID_INPUT);
  let read: UssdRequest;
  try {
    read = adapter.read(request);
  } catch (error) {
    assert.ok(isRefusal(error), String(error));
    return;
  }
  assert.ok(read.sessionId !== '' && [...read.sessionId].length <= 100 && !/\p{Cc}/u.test(read.sessionId));
  assert.match(read.serviceCode, /^$|^\*\d+(\*\d+)*#$|^\w{1,64}$/);
  assert.match(read.phoneNumber, read.event === 'turn' ? /^\+[1-9]\d{6,14}$/ : /^$|^\+[1-9]\d{6,14}$/);
  assert.ok([...read.text].length <= 182 && !/\p{Cc}/u.test(read.text));
  assert.match(read.dialled ?? '*1#', /^\*\d+(\*\d+)*#$/);
  if (read.fresh || read.event !== 'turn') assert.is(read.text, '');
  if (read.event === 'turn') assert.equal(client(adapter.write(INVALID_INPUT, read)), INVALID_INPUT);
}

const isRefusal = (error: unknown): boolean => error instanceof TwinlineError && error.code === 'ERR_INPUT';

/** Recorded requests with one field changed for anything, and bodies, queries and paths of any shape. */
function garbage(dialogue: Dialogue): fc.Arbitrary<RawRequest> {
  const recorded = fc.constantFrom(...dialogue.turns.map((turn) => turn.request));
  const anyText = fc.oneof(fc.string({ unit: 'binary', maxLength: 250 }), fc.json(), fc.webQueryParameters());
  const value = fc.oneof(
    fc.jsonValue(),
    fc.string({ unit: 'binary', maxLength: 220 }),
    fc.stringMatching(/^[*#\d]{0,9}$/),
  );
  const changed = fc
    .tuple(recorded, value, fc.nat())
    .map(([request, put, pick]) => {
      const all = mutations(request, put);
      return all[pick % all.length] ?? request;
    })
    .map(raw);
  const odd = fc
    .record({ request: recorded, body: anyText, query: anyText, path: fc.array(fc.string(), { maxLength: 4 }) })
    .chain(({ request, body, query, path }) => {
      const base = raw(request);
      return fc.constantFrom({ ...base, body }, { ...base, query: new URLSearchParams(query) }, { ...base, path });
    });
  return fc.oneof(changed, odd);
}

/** The request once for each of its fields, with `value` put there. */
function mutations(request: Recorded, value: unknown): Recorded[] {
  const put = (encoded: string) =>
    [...new URLSearchParams(encoded).keys()].map((name) => {
      const fields = new URLSearchParams(encoded);
      fields.set(name, typeof value === 'string' ? value : JSON.stringify(value));
      return fields.toString();
    });
  if (request.query !== undefined) return put(request.query).map((query) => ({ ...request, query }));
  const body = request.body ?? '';
  if (!body.trim().startsWith('{')) return put(body).map((changed) => ({ ...request, body: changed }));
  const fields = JSON.parse(body);
  return Object.keys(fields).map((name) => ({ ...request, body: JSON.stringify({ ...fields, [name]: value }) }));
}

function raw({ method, path, query = '', headers = {}, body = '' }: Recorded): RawRequest {
  const segments = path.split('/').filter((segment) => segment !== '');
  return { method, path: segments.map(decodeURIComponent), query: new URLSearchParams(query), headers, body };
}

function routed(adapter: Adapter, request: Recorded): boolean {
  return adapter.routes.some((route) => {
    const pattern = new RegExp(`^${route.path.replace(/:\w+/g, '[^/]+')}/?$`);
    return route.method === request.method && pattern.test(request.path);
  });
}

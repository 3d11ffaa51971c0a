// Random texts and requests for an adapter.

import fc from 'fast-check';
import type { Adapter, UssdReply } from '../ussd/adapter.ts';
import { INVALID_INPUT, toXmlCharacters } from '../ussd/reply.ts';
import type { RawRequest, UssdRequest } from '../ussd/request.ts';
import * as assert from './assert.ts';
import { type RandomOptions, replay } from './random.ts';
import { type AdapterSamples, isRefusal, mutateRequest, type RecordedDialogue, rawRequest } from './recorded.ts';

/** Any text is in the answer whole; in XML, all of it that XML 1.0 can carry, and nothing else. */
export function writeAnyText(adapter: Adapter, { dialogue, client }: AdapterSamples, options: RandomOptions): void {
  const text = fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 60 }),
    fc.constantFrom('a\nb', `"'\\<&>\u2028`, '\u0000\t\u001f', 'é–😀', 'CON x', '%0a{{x}}', ''),
  );
  fc.assert(
    fc.property(fc.constantFrom(...dialogue.turns), fc.constantFrom('continue', 'end'), text, (turn, kind, shown) => {
      const reply: UssdReply = { kind, text: shown };
      const answer = adapter.write(reply, turn.read);
      const carried = /\bxml\b/.test(answer.type) ? toXmlCharacters : (text: string) => text;
      assert.is(answer.body, carried(answer.body), 'The answer holds a character that XML 1.0 forbids.');
      assert.equal(client(answer), { kind, text: carried(shown) });
      assert.is(answer.status, 200);
      for (const value of [answer.type, ...Object.values(answer.headers ?? {})]) assert.match(value, /^[\x20-\x7e]+$/);
    }),
    { numRuns: 150, ...replay(options) },
  );
}

/** Whatever is sent is read into a sound request or refused. */
export function readAnything(adapter: Adapter, { dialogue, client }: AdapterSamples, options: RandomOptions): void {
  fc.assert(
    fc.property(garbage(dialogue), (request) => sound(adapter, request, client)),
    { numRuns: 600, ...replay(options) },
  );
}

function sound(adapter: Adapter, request: RawRequest, client: AdapterSamples['client']): void {
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

/** Recorded requests with one field changed for anything, and bodies, queries and paths of any shape. */
function garbage(dialogue: RecordedDialogue): fc.Arbitrary<RawRequest> {
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
      const all = mutateRequest(request, put);
      return all[pick % all.length] ?? request;
    })
    .map(rawRequest);
  const odd = fc
    .record({ request: recorded, body: anyText, query: anyText, path: fc.array(fc.string(), { maxLength: 4 }) })
    .chain(({ request, body, query, path }) => {
      const base = rawRequest(request);
      return fc.constantFrom({ ...base, body }, { ...base, query: new URLSearchParams(query) }, { ...base, path });
    });
  return fc.oneof(changed, odd);
}

// What a route declares to read is checked before its handler runs, by one check for all doors, each in its own words.

import type { Context } from 'koa';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { DOMAIN_INPUT } from '../../../server/domain/requests.ts';
import { type InputRules, inputCheck, PLAIN_INPUT } from '../../../server/http/check-input.ts';
import type { DeclaredInput } from '../../../server/http/route-description.ts';
import { AGENT_INPUT } from '../../../server/user/input.ts';

const test = suite('the check of input');

const QUERY: DeclaredInput = {
  query: {
    limit: { description: 'Entries', schema: { type: 'integer', minimum: 1, maximum: 200, default: 20 } },
    view: { description: 'How', schema: { enum: ['plain', 'composed'] } },
    name: { description: 'Which', schema: { type: 'string', maxLength: 5 } },
    did: { description: 'Whose', schema: { type: 'string', format: 'did' } },
  },
  headers: { 'If-Match': { description: 'What was seen', schema: { type: 'string' }, required: true } },
};

const BODY: DeclaredInput = {
  body: {
    types: {
      'application/json': {
        type: 'object',
        required: ['number'],
        properties: {
          number: { type: 'string', pattern: '^\\d+$', description: 'digits' },
          inputs: { type: 'array', maxItems: 2, items: { type: 'string' } },
        },
        additionalProperties: false,
      },
    },
    example: { number: '0001' },
  },
};

interface Sent {
  readonly query?: { readonly [name: string]: string | readonly string[] };
  readonly headers?: { readonly [name: string]: string };
  readonly body?: unknown;
}

/** What the handler finds, or the words of the refusal. */
async function check(declared: DeclaredInput, rules: InputRules, { query = {}, headers = {}, body }: Sent) {
  const get = (name: string) => headers[name] ?? '';
  const ctx = { params: {}, query, get, state: {}, request: { body } } as unknown as Context;
  try {
    await inputCheck(declared, rules)!(ctx);
    return ctx.state.input;
  } catch (error) {
    const { message, reason, kind } = error as { message: string; reason?: string; kind?: string };
    return `${reason ?? kind}: ${message}`;
  }
}

test('values have the type of their schema, and defaults where nothing was sent', async () => {
  const headers = { 'If-Match': ' "1" ' };
  const found = await check(QUERY, PLAIN_INPUT, { query: { view: 'plain' }, headers });
  assert.equal(found, { path: {}, query: { limit: 20, view: 'plain' }, headers: { 'If-Match': '"1"' } });
  const given = await check(QUERY, DOMAIN_INPUT, { query: { limit: '7', more: 'x' } });
  assert.equal(given, { path: {}, query: { limit: 7 }, headers: {} });
});

test('a refusal says which parameter, with its value, and what it must be', async () => {
  const refusals: readonly [NonNullable<Sent['query']>, string][] = [
    [{ limit: '0' }, 'bad-limit: limit="0" is not a whole number from 1 to 200.'],
    [{ limit: '1e2' }, 'bad-limit: limit="1e2" is not a whole number from 1 to 200.'],
    [{ limit: ['1', '2'] }, 'bad-limit: limit is given more than once. Give it once.'],
    [{ view: 'both' }, 'bad-request: view="both" is not one of plain, composed.'],
    [{ name: 'too long' }, 'bad-request: name has more than 5 characters.'],
    [{ did: 'me' }, 'bad-request: did="me" is not a DID.'],
  ];
  for (const [query, words] of refusals) assert.is(await check(QUERY, DOMAIN_INPUT, { query }), words);
  assert.is(await check(QUERY, PLAIN_INPUT, {}), 'bad-request: If-Match is missing. Send it.');
});

test('a body is refused with all that is wrong with it and an example, without what it held', async () => {
  const words = (body: unknown) => check(BODY, PLAIN_INPUT, { body });
  const example = '. Send JSON such as {"number":"0001"}';
  assert.is(await words({}), `bad-request: The body cannot be taken: "number" is missing${example}`);
  const secret = { number: 'secret', pin: '1234' };
  const both = 'it has no field "pin"; "number" must be digits';
  assert.is(await words(secret), `bad-request: The body cannot be taken: ${both}${example}`);
  const long = '"inputs" must NOT have more than 2 items';
  assert.is(
    await words({ number: '1', inputs: ['a', 1, 'c'] }),
    `bad-request: The body cannot be taken: ${long}${example}`,
  );
  assert.equal((await words({ number: '1' })).body, { number: '1' });
});

test('bodies that handlers check are left to them, and a route that declares nothing has no check', () => {
  assert.is(inputCheck(BODY, DOMAIN_INPUT), undefined);
  assert.is(inputCheck({ body: { ...BODY.body!, checkedBy: 'handler' } }, AGENT_INPUT), undefined);
  assert.is(inputCheck({}, PLAIN_INPUT), undefined);
});

test.run();

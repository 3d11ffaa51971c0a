// Bodies of the agent service: a hostile one costs one line. What is taken is what /openapi.json describes: test/server/openapi.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SERVER_LIMITS } from '../../../server/config/limits.ts';
import { newUser, withPlugins } from '../plugins/users.ts';
import { json } from '../support/serve.ts';

const test = suite('bodies of the agent service');

test('a body that is too long is told so in one line, and nothing in it is looked at', () =>
  withPlugins([], {}, async ({ ask }) => {
    const { headers } = await newUser();
    const send = async (body: object) => {
      const { status, text } = await ask('/messages/none', json(body, headers));
      assert.is(status, 400);
      return (JSON.parse(text) as { message: string[] }).message;
    };
    const count = SERVER_LIMITS.declaredTools;
    assert.equal(await send({ message: 'hi', tools: Array(count + 1).fill(1) }), [
      `tools must contain no more than ${count} elements`,
    ]);
    const unknown = Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [`k${at}`, at]));
    assert.equal(await send({ message: 'hi', ...unknown }), [
      'the body has 10000 fields that are not known, such as "k0"',
    ]);
    const many = await send({ message: 'hi', mcpInvocations: unknown });
    assert.ok(many.length <= 101, String(many.length));
    assert.match(many.at(-1)!, /more are not listed/);
  }));

test.run();

// Bodies of the agent service: what /openapi.json describes is what is taken, and a hostile body costs one line.

import { Ajv2020 } from 'ajv/dist/2020.js';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SERVER_LIMITS } from '../../../server/config/limits.ts';
import type { OpenApiDocument } from '../../../server/openapi/document.ts';
import { newUser, withPlugins } from '../plugins/users.ts';
import { json } from '../support/serve.ts';

const test = suite('bodies of the agent service');

const TOOL = { name: 'a', description: 'b', schema: {} };
const FILE = { filename: 'a', mimetype: 'b', mxcUri: 'mxc://a/b' };

const VALUES: readonly unknown[] = [
  ...[null, true, 0, -1, 1.5, '', ' ', 'a', 'a'.repeat(65), 'a'.repeat(257), 'a'.repeat(513), '😀'.repeat(200)],
  ...[[], {}, [1], [TOOL], [{ ...TOOL, more: 1 }], [{ ...TOOL, hasRender: true }], [{ ...TOOL, name: '\t' }]],
  ...[[FILE], [{ ...FILE, mxcUri: 'mxc://a/../b' }], [{ ...FILE, size: -1 }], [{ ...FILE, mxcUri: undefined }]],
  ...[[{ ...FILE, mxcUri: undefined, eventId: '$1' }], [{ ...FILE, eventId: '1' }], Array(11).fill(FILE)],
  ...[{ multitask: 'reject' }, { multitask: 'wait' }, { a: 'b' }, { a: 1 }, 'Africa/Lusaka', 'A b'],
];

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }) !== undefined;
  } catch {
    return false;
  }
}

/** The schema of a body in the document, compiled as a client would. */
function compileBody(document: OpenApiDocument, path: string) {
  // Which time zones there are, a pattern cannot say; the other formats have one.
  const ajv = new Ajv2020({ strict: false, logger: false, formats: { 'time-zone': isTimeZone } });
  const { requestBody } = document.paths[path]!.post as {
    requestBody: { content: { [type: string]: { schema: object } } };
  };
  const { components } = document;
  return ajv.compile({ ...requestBody.content['application/json']!.schema, components });
}

const BODIES: readonly (readonly [path: string, base: object, fields: readonly string[]])[] = [
  [
    '/messages/{sessionId}',
    { message: 'hi' },
    [
      ...['message', 'stream', 'returnAllMessages', 'tools', 'agActions', 'attachments', 'mcpInvocations', 'timezone'],
      ...['homeServer', 'metadata', 'model', 'colour'],
    ],
  ],
  ['/messages/abort', { sessionId: 'none' }, ['sessionId', 'runId', 'colour']],
];

test('what the document allows is taken, and nothing else', () =>
  withPlugins([], {}, async ({ ask }) => {
    const { headers } = await newUser();
    const document = (await ask('/openapi.json')).json() as OpenApiDocument;
    for (const [path, base, fields] of BODIES) {
      const isAllowed = compileBody(document, path);
      for (const field of fields)
        for (const value of VALUES) {
          const body = JSON.parse(JSON.stringify({ ...base, [field]: value }));
          const { status, text } = await ask(path.replace(/\{.*\}/, 'none'), json(body, headers));
          const said = `${path} ${field} ${JSON.stringify(value)?.slice(0, 60)}: ${status} ${text.slice(0, 200)}`;
          // The session is none, so a body that is taken is answered 404.
          assert.is(status, isAllowed(body) ? 404 : 400, said);
        }
    }
  }));

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
    assert.match(many.at(-1)!, /more are not in this list/);
  }));

test.run();

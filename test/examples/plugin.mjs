// A plugin of your own: public routes that keep documents, checked against the schema that they declare.

import { randomUUID } from 'node:crypto';
import { requireConfig, startServer } from 'twinline/server';

const NOTE = { name: 'plugin-notes-note', indexes: { time: { fields: ['at'] } } };

/** @type {import('twinline/server').Plugin} */
const notes = {
  name: 'notes',
  version: '1.0.0',
  kinds: [NOTE],
  routes: [
    {
      method: 'POST',
      path: '/notes',
      access: 'public',
      body: {
        types: {
          'application/json': {
            type: 'object',
            required: ['text'],
            properties: { text: { type: 'string', minLength: 1 } },
          },
        },
      },
      async handle(koa, ctx) {
        const { text } = /** @type {{ text: string }} */ (koa.state.input.body);
        await ctx.documents.insert(NOTE, randomUUID(), { text, at: ctx.clock.now() });
        koa.status = 201;
        koa.body = { text };
      },
    },
    {
      method: 'GET',
      path: '/notes',
      access: 'public',
      async handle(koa, ctx) {
        const { items } = await ctx.documents.find(NOTE, { index: 'time' });
        koa.body = items.map(({ body }) => body.text);
      },
    },
  ],
};

const config = requireConfig({ PORT: '0', DATA_DIR: ':memory:', LOG_LEVEL: 'silent' });
const server = await startServer(config, { plugins: [notes] });
const headers = { 'content-type': 'application/json' };
const post = (note) => fetch(`${server.url}/notes`, { method: 'POST', headers, body: JSON.stringify(note) });
console.log((await post({ text: 'buy stoves' })).status);
const refused = await post({ text: '' });
console.log(refused.status, (await refused.json()).message[0]);
console.log(await (await fetch(`${server.url}/notes`)).json());
await server.close({ drainDelayMs: 0 });

// Prints:
//   201
//   400 text should not be empty
//   [ 'buy stoves' ]

// A plugin of the agent service: notes of users, as routes and as a tool of the agent.

/** The name begins with plugin-<name of the plugin>-. */
const NOTE = { name: 'plugin-notes-note', indexes: { user: { fields: ['did', 'at'] } } };

const TEXT = {
  type: 'object',
  required: ['text'],
  additionalProperties: false,
  properties: { text: { type: 'string', minLength: 1, maxLength: 200 } },
};

/** @type {import('twinline/server').Plugin} */
export default {
  name: 'notes',
  version: '0.1.0',
  kinds: [NOTE],
  routes: [
    {
      method: 'GET',
      path: '/notes',
      summary: 'Notes of the user, the oldest first',
      async handle(koa, ctx) {
        const { items } = await ctx.documents.find(NOTE, { index: 'user', where: { did: ctx.requireDid() } });
        koa.body = { notes: items.map(({ body }) => body.text) };
      },
    },
    {
      method: 'POST',
      path: '/notes',
      summary: 'Notes something down',
      body: { types: { 'application/json': TEXT } },
      async handle(koa, ctx) {
        const { text } = /** @type {{ text: string }} */ (koa.state.input.body);
        await ctx.documents.insert(NOTE, crypto.randomUUID(), { did: ctx.requireDid(), text, at: ctx.clock.now() });
        koa.status = 201;
        koa.body = { text };
      },
    },
  ],
  tools: [
    {
      name: 'add_note',
      description: 'Notes something down for the user.',
      schema: TEXT,
      async handler({ text = '' }, ctx) {
        // The same when the call is made again after a crash: the note is written once.
        const id = String(ctx.idempotencyKey);
        await ctx.documents.insert(NOTE, id, { did: ctx.requireDid(), text, at: ctx.clock.now() });
        return { id };
      },
    },
  ],
};

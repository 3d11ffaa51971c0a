// The USSD door in an app of Fastify, beside a route of the app's own.

import { randomBytes } from 'node:crypto';
import Fastify from 'fastify';
import { openPhones } from './phones.mjs';

const phones = await openPhones(randomBytes(32).toString('hex'));
const app = Fastify();
app.get('/hello', async () => 'an app of Fastify');
// The adapter reads the body as it came: JSON or a form.
app.removeAllContentTypeParsers();
app.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body));
app.post('/ussd', async (request, reply) => {
  const { status, type, body } = await phones.answer(String(request.body));
  return reply.status(status).type(type).send(body);
});

const url = await app.listen({ port: 0, host: '127.0.0.1' });
console.log(await (await fetch(`${url}/hello`)).text());
const fields = { sessionId: 's1', serviceCode: '*22#', phoneNumber: '+260971230001' };
for (const text of ['', '1']) {
  const body = new URLSearchParams({ ...fields, text });
  console.log((await (await fetch(`${url}/ussd`, { method: 'POST', body })).text()).split('\n')[0]);
}
await app.close();

// Prints:
//   an app of Fastify
//   CON Tea house
//   END A cup is ZMW 12.50.

// The USSD door in an app of Hono, beside a route of the app's own. It needs no server of its own to be asked.

import { randomBytes } from 'node:crypto';
import { Hono } from 'hono';
import { openPhones } from './phones.mjs';

const phones = await openPhones(randomBytes(32).toString('hex'));
const app = new Hono();
app.get('/hello', (c) => c.text('an app of Hono'));
app.post('/ussd', async (c) => {
  const { status, type, body } = await phones.answer(await c.req.text());
  return new Response(body, { status, headers: { 'content-type': type } });
});

console.log(await (await app.request('/hello')).text());
const fields = { sessionId: 's1', serviceCode: '*22#', phoneNumber: '+260971230001' };
for (const text of ['', '1']) {
  const body = new URLSearchParams({ ...fields, text });
  console.log((await (await app.request('/ussd', { method: 'POST', body })).text()).split('\n')[0]);
}

// Prints:
//   an app of Hono
//   CON Tea house
//   END A cup is ZMW 12.50.

// The USSD door in an app of Express, beside a route of the app's own.

import { randomBytes } from 'node:crypto';
import express from 'express';
import { openPhones } from './phones.mjs';

const phones = await openPhones(randomBytes(32).toString('hex'));
const app = express();
app.get('/hello', (_req, res) => void res.send('an app of Express'));
app.post('/ussd', express.text({ type: '*/*' }), async (req, res) => {
  const { status, type, body } = await phones.answer(req.body);
  res.status(status).type(type).send(body);
});

const server = app.listen(0, '127.0.0.1', async () => {
  const url = `http://127.0.0.1:${server.address().port}`;
  console.log(await (await fetch(`${url}/hello`)).text());
  const fields = { sessionId: 's1', serviceCode: '*22#', phoneNumber: '+260971230001' };
  for (const text of ['', '1']) {
    const body = new URLSearchParams({ ...fields, text });
    console.log((await (await fetch(`${url}/ussd`, { method: 'POST', body })).text()).split('\n')[0]);
  }
  server.close();
});

// Prints:
//   an app of Express
//   CON Tea house
//   END A cup is ZMW 12.50.

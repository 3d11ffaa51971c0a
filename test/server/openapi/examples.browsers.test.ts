// The examples of the USSD routes, which /docs sends when somebody tries a route out: each of them is a call that goes on.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { OpenApiDocument } from '../../../server/openapi/document.ts';
import { browser } from '../support/browser.ts';
import { type Answer, type Served, sharedServer, withServer } from '../support/serve.ts';

interface Named {
  readonly name: string;
  readonly in: string;
  readonly schema: { readonly examples?: readonly string[] };
}

interface Operation {
  readonly parameters?: readonly Named[];
  readonly requestBody?: { readonly content: { readonly [type: string]: { readonly example?: object } } };
}

const test = suite('examples of USSD routes');

const FORM = 'application/x-www-form-urlencoded';

/** How each dialect says that a session goes on. */
const GOES_ON: { readonly [path: string]: (answer: Answer) => boolean } = {
  '': ({ text }) => text.startsWith('CON '),
  '/africastalking': ({ text }) => text.startsWith('CON '),
  '/hubtel': (answer) => (answer.json() as { Type: string }).Type === 'Response',
  '/nalo': (answer) => (answer.json() as { MSGTYPE: boolean }).MSGTYPE,
  '/arkesel': (answer) => (answer.json() as { continueSession: boolean }).continueSession,
  '/infobip/session/{id}/start': (answer) => !(answer.json() as { shouldClose: boolean }).shouldClose,
  '/infobip/session/{id}/response': (answer) => !(answer.json() as { shouldClose: boolean }).shouldClose,
  '/infobip/session/{id}/end': (answer) => (answer.json() as { responseExitCode: number }).responseExitCode === 200,
  '/comviva': ({ headers }) => headers.freeflow === 'FC',
};

async function documentOf(server: Served): Promise<OpenApiDocument> {
  return (await server.ask('/openapi.json')).json() as OpenApiDocument;
}

/** The address of an operation with the examples of its parameters, those that have one. */
function addressOf(path: string, { parameters = [] }: Operation): string {
  const given = parameters.flatMap(({ name, in: place, schema }) =>
    schema.examples ? [{ name, place, value: encodeURIComponent(schema.examples[0]!) }] : [],
  );
  const inPath = given.filter(({ place }) => place === 'path');
  const filled = inPath.reduce((address, { name, value }) => address.replace(`{${name}}`, value), path);
  const query = given.filter(({ place }) => place === 'query').map(({ name, value }) => `${name}=${value}`);
  return query.length ? `${filled}?${query.join('&')}` : filled;
}

for (const [type, encode] of [
  ['application/json', (example: object) => JSON.stringify(example)],
  [FORM, (example: object) => new URLSearchParams(example as Record<string, string>).toString()],
] as const)
  test(`the example of every USSD route goes on, twice over: ${type}`, () =>
    withServer({}, async (server) => {
      const { paths } = await documentOf(server);
      const dialling = Object.entries(paths).filter(([path]) => path.replace('/api/ussd', '') in GOES_ON);
      assert.is(dialling.length, Object.keys(GOES_ON).length);
      for (const [path, methods] of dialling)
        for (const [method, operation] of Object.entries(methods) as [string, Operation][]) {
          const content = operation.requestBody?.content;
          if (content && !content[type]) continue;
          const example = content?.[type]?.example;
          if (content) assert.ok(example, `${method} ${path} has an example`);
          const body = example && { body: encode(example), headers: { 'content-type': type } };
          for (let time = 0; time < 2; time++) {
            const answer = await server.ask(addressOf(path, operation), { method: method.toUpperCase(), ...body });
            assert.ok(GOES_ON[path.replace('/api/ussd', '')]!(answer), `${method} ${path}: ${answer.text}`);
          }
        }
    }));

test.run();

const shown = suite('examples in a browser');
const at = sharedServer(shown, {});
const open = browser(shown);

shown('"Try it out" and "Execute" of POST /api/ussd dial and show the main menu', async () => {
  const { page, complaints } = await open(`${at().url}/docs`);
  await page.waitForSelector('[data-tag="USSD"]');
  await page.click('[data-tag="USSD"]');
  await page.click('#operations-USSD-dial .opblock-summary-control');
  await page.click('#operations-USSD-dial .try-out__btn');
  await page.click('#operations-USSD-dial .execute');
  await page.waitForSelector('#operations-USSD-dial .live-responses-table');
  const told = await page.locator('#operations-USSD-dial .live-responses-table').textContent();
  assert.match(told ?? '', /CON Welcome to Twinline/);
  assert.equal(complaints, []);
});

shown.run();

// Commands that pages show to be copied: whatever a request says, none of it is in them.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { routeGroups } from '../../../server/boot/route-groups.ts';
import { readConfig } from '../../../server/config/config.ts';
import { sharedServer } from '../support/serve.ts';

const test = suite('commands of pages');
const server = sharedServer(test, {});

const HOSTILE = ['$(id)', '`id`', ';id', '|id', "'id", '\nid', ' -K id'];
const COMMAND = /^\s*(curl|npx|npm|twinline|node)\b/;

/** Paths of all that a browser may open. */
function listPaths(): string[] {
  const { config } = readConfig({ DATA_DIR: ':memory:' }, { makeKeys: true });
  const routes = routeGroups(config!).flatMap(({ routes }) => routes);
  return routes
    .filter(({ method, answers }) => method === 'GET' && !('text/event-stream' in (answers[200]?.types ?? {})))
    .map(({ path }) => path);
}

const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', '#96': '`', '#39': "'" };
const readText = (markup: string) =>
  markup.replace(/<[^>]*>/g, '').replace(/&([\w#]+);/g, (whole, name: string) => ENTITIES[name] ?? whole);

/** The commands on a page. */
async function readCommands(address: string, words = ''): Promise<string[]> {
  const said = words.replace(/[^\x20-\x7e]/g, '');
  const headers = { accept: 'text/html', 'x-forwarded-host': said, referer: said, 'x-request-id': said };
  const { text } = await server().ask(address, { headers });
  return [...text.matchAll(/<(code|pre)\b[^>]*>(.*?)<\/\1>/gs)]
    .map(([, , markup]) => readText(markup!))
    .filter((one) => COMMAND.test(one));
}

test('there are some, of the address of this server and of ids that may be ids', async () => {
  const { url } = server();
  assert.match((await readCommands('/')).join('\n'), `curl -s ${url}/api/ussd`);
  assert.equal(await readCommands('/v1/proposals/0a1b2c3d'), [
    `curl -H "Authorization: Bearer $KEY" ${url}/v1/proposals/0a1b2c3d/page-link`,
  ]);
});

async function assertUntouched(path: string, words: readonly string[]): Promise<void> {
  const said = encodeURIComponent(words.join(' '));
  const address = `${path.replace(/:\w+/g, said)}?q=${said}`;
  for (const command of await readCommands(address, words.join(' ')))
    for (const word of words) assert.not.ok(command.includes(word), `${address}: ${command}`);
}

test('what a request says in its path, its query and its headers comes into none, on no page', async () => {
  const paths = [...listPaths(), '/:unknown'];
  const named = paths.filter((path) => path.includes(':'));
  assert.ok(named.length > 15 && paths.length > 40, `${named.length} of ${paths.length}`);
  for (const path of paths) await assertUntouched(path, HOSTILE);
  for (const path of named) for (const word of HOSTILE) await assertUntouched(path, [word]);
});

test.run();

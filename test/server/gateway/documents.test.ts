// What the query gateway says about itself: /openapi.json, `twinline gateway routes`, the doctor.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { Validator } from '@seriousme/openapi-schema-validator';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { twinline } from '../../../server/cli/main.ts';
import type { OpenApiDocument } from '../../../server/openapi/document.ts';
import { documented } from '../support/documented.ts';
import { json } from '../support/serve.ts';
import { groveNode } from './node.ts';
import { withFile, withGateway } from './place.ts';

const test = suite('documents of the query gateway');

for (const form of ['cosmos', 'proto3'])
  test(`in the form ${form} every route is described, and answers are as described`, async () => {
    await withGateway(
      { json: form, gate: { keys: ['k'], forbid: [] }, deadlineMs: 20_000 },
      async ({ server, node }) => {
        const document = (await server.ask('/openapi.json')).json() as OpenApiDocument;
        const { valid, errors } = await new Validator().validate(structuredClone(document) as never);
        assert.ok(valid, JSON.stringify(errors));
        const held = documented(document);
        const served = server.routes.map(({ method, path }) => `${method} ${path.replace(/\/:(\w+)/g, '/{$1}')}`);
        assert.equal(held.operations.toSorted(), [...new Set(served)].toSorted());
        const tree = { id: 'a', rings: '3', planted: '2024-01-02T03:04:05Z', parent: { id: 'b' }, seed: 'AP8=' };
        const reply = { tree, trees: [tree], text: 't', counts: { a: 1 } };
        const told = async (status: number, operation: string, how: object = {}) => {
          const [method, path] = operation.split(' ') as [string, string];
          const headers = { authorization: 'Bearer k', ...(how as { headers?: object }).headers };
          const answer = await server.ask(path.replace(/\{\w+\}/g, 'x'), { method, ...how, headers });
          assert.is(answer.status, status, answer.text);
          assert.equal(held.problemsOf(operation, answer), []);
          return answer;
        };
        const own = served.filter((operation) => operation.includes('/grove/'));
        for (const script of [reply, {}]) {
          node.script = () => ({ reply: script, replies: [script] });
          for (const operation of own)
            await told(200, operation, operation.startsWith('POST') ? json({ id: 'x' }) : {});
        }
        const { headers } = await told(200, 'GET /grove/params');
        await told(304, 'GET /grove/params', { headers: { 'if-none-match': headers.etag } });
        await told(401, 'GET /grove/params', { headers: { authorization: '' } });
        await told(413, 'POST /grove/{place}/trees', { body: Buffer.alloc(2_000_000, ' ') });
        for (const [code, status] of [
          [3, 400],
          [5, 404],
          [8, 429],
          [13, 500],
          [12, 501],
          [14, 503],
          [4, 504],
        ] as const) {
          node.script = () => ({ status: { code, details: 'd' } });
          await told(status, 'GET /grove/tree/{id}');
        }
      },
    );
  });

test('query parameters, bodies, enums and path fields are described by their types', async () => {
  await withGateway({}, async ({ server }) => {
    const { paths, components } = (await server.ask('/openapi.json')).json() as OpenApiDocument;
    const trees = paths['/grove/trees']!.get as { parameters: { name: string; in: string; schema: object }[] };
    const inQuery = trees.parameters.filter((one) => one.in === 'query').map(({ name }) => name);
    assert.equal(inQuery, [
      'id',
      'pagination.key',
      'pagination.offset',
      'pagination.limit',
      'pagination.count_total',
      'at_least',
      'note',
    ]);
    const plant = paths['/grove/{place}/trees']!.post as { requestBody: { content: object } };
    assert.match(JSON.stringify(plant.requestBody), /"#\/components\/schemas\/grove\.Tree"/);
    assert.ok(components.schemas['grove.Found']);
    assert.ok(paths['/grove/tree/{tree_id}:prune']?.post);
    assert.ok(paths['/grove/places/{name}']?.get && paths['/grove/files/{name}']?.get);
  });
});

interface Ran {
  readonly code: number | undefined;
  readonly out: string;
  readonly err: string;
}

async function run(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Ran> {
  const { log, error } = console;
  const lines: { out: string[]; err: string[] } = { out: [], err: [] };
  console.log = (text) => lines.out.push(String(text));
  console.error = (text) => lines.err.push(String(text));
  try {
    const code = await twinline(args, env);
    const plain = (texts: string[]) => stripVTControlCharacters(texts.join('\n'));
    return { code, out: plain(lines.out), err: plain(lines.err) };
  } finally {
    Object.assign(console, { log, error });
  }
}

test('twinline gateway routes lists methods, paths, calls and query parameters, without a node', () =>
  withFile({ upstream: '127.0.0.1:9', prefixes: { '/hub': '/grove' }, disabled: ['*.Fell'] }, async (env) => {
    const { code, out, err } = await run(['gateway', 'routes'], env);
    assert.is(code, 0);
    assert.match(out, /^GET +\/hub\/trees +→ grove\.Query\/Trees\n +\? id pagination\.key .* note$/m);
    assert.match(out, /^GET +\/hub\/follow\/\{id\} +→ grove\.Query\/Follow \(stream\)$/m);
    assert.match(out, /^DELETE \/hub\/tree\/\{id\} +→ grove\.Care\/Fell \(disabled\)$/m);
    assert.match(err, /grove\.Care\/Count is skipped/);
    const rows = JSON.parse((await run(['gateway', 'routes', '--json', env.GATEWAY_FILE!])).out) as {
      path: string;
      use: string;
      rpc: string;
      reason?: string;
    }[];
    assert.equal(rows.find(({ path }) => path === '/hub/params')!.use, 'call');
    assert.equal(
      rows.filter(({ use }) => use === 'left-out').map(({ rpc, reason }) => [rpc, reason]),
      [['grove.Care/Count', 'it takes a stream of requests']],
    );
  }));

test('twinline gateway routes marks what another door hides, and says when it cannot know', () =>
  withFile(
    { upstream: '127.0.0.1:9', prefixes: { '/hub': '/grove', '/v1': '/grove', '/n': '/grove' } },
    async (env) => {
      const uses = async (more: NodeJS.ProcessEnv = {}) => {
        const { out, err } = await run(['gateway', 'routes', '--json'], { ...env, ...more });
        const rows = JSON.parse(out) as { path: string; use: string }[];
        return [
          ...['/hub', '/v1', '/n'].map((prefix) => rows.find(({ path }) => path === `${prefix}/params`)!.use),
          err,
        ];
      };
      const [hub, v1, n] = await uses();
      assert.equal([hub, v1, n], ['call', 'hidden', 'call']);
      const { out } = await run(['gateway', 'routes'], env);
      assert.match(out, /\/v1\/params +→ grove\.Query\/Params \(hidden: another door has this path\)/);
      assert.is((await uses({ MENUS_DIR: '/nowhere/at/all' }))[1], 'hidden', 'nothing is started for it');
      const broken = await uses({ PLUGINS: './nowhere-at-all.js' });
      assert.equal([broken[1], /are not marked/.test(String(broken[3]))], ['call', true]);
    },
  ));

test('twinline gateway without routes or file is usage, 2; a broken file is configuration, 78', async () => {
  for (const args of [
    ['gateway'],
    ['gateway', 'routes'],
    ['gateway', 'table', 'x'],
    ['gateway', 'routes', 'a', 'b'],
    ['gateway', 'routes', '--wide'],
  ])
    assert.is((await run(args)).code, 2, args.join(' '));
  await withFile({ upstream: 'x' }, async (env) => {
    const { code, err } = await run(['gateway', 'routes'], env);
    assert.is(code, 78);
    assert.match(err, /\/upstream: must be host:port/);
  });
  assert.is((await run(['gateway', '--help'])).code, 0);
});

test('the doctor looks at the file and asks the node', async () => {
  const node = await groveNode();
  const found = (env: NodeJS.ProcessEnv) => run(['doctor', '--json'], { DATA_DIR: ':memory:', PORT: '0', ...env });
  const of = ({ out }: Ran) =>
    (JSON.parse(out) as { check: string; level: string; words: string }[]).filter(
      ({ check }) => check === 'query gateway',
    );
  try {
    await withFile({ upstream: node.upstream }, async (env) => {
      const levels = of(await found(env)).map(({ level, words }) => [level, words.replace(/ of \/.*\.json/, '')]);
      assert.equal(levels[0], ['fine', '12 of 12 routes lead to methods']);
      assert.equal(levels.at(-1), ['fine', `the node ${node.upstream} of the query gateway answers`]);
      node.stop();
      const away = of(await found(env)).at(-1)!;
      assert.is(away.level, 'broken');
      assert.match(away.words, /cannot be reached/);
      writeFileSync(join(env.GATEWAY_FILE!), '{');
      const { out } = await found(env);
      assert.match(out, /it is not JSON/);
    });
  } finally {
    node.stop();
  }
  assert.equal(of(await found({})), []);
});

test.run();

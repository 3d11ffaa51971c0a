// A server whose chats a model answers: over HTTP and as frames, when it works and when it fails; its models and its doctor.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { TwinlineError } from '../../../lib/errors.ts';
import { readMcpServers } from '../../../server/agent/mcp.ts';
import { modelList } from '../../../server/agent/models.ts';
import { readConfig } from '../../../server/config/config.ts';
import type { CheckContext, Finding } from '../../../server/doctor/check.ts';
import { MCP_CHECKS, MODEL_CHECKS } from '../../../server/doctor/doors.ts';
import { mcpGround } from '../../agent/mcp-server.ts';
import { type Answer, fails, type ModelServer, modelServer, says } from '../../agent/model-server.ts';
import { withFolder } from '../../support/process.ts';
import { newSession, newUser, ORACLE_KEY } from '../plugins/users.ts';
import { json, type Served, withServer } from '../support/serve.ts';

const test = suite('a server with a model');

interface Here {
  readonly server: Served;
  readonly model: ModelServer;
  /** Sends a message in a new session. */
  send(body: object): ReturnType<Served['ask']>;
}

async function served(script: readonly Answer[], work: (here: Here) => Promise<void>, env: NodeJS.ProcessEnv = {}) {
  const model = await modelServer(...script);
  const own = { ORACLE_KEY, MODEL_BASE_URL: model.url, MODEL_API_KEY: 'sk-canary', MODEL_NAME: 'small', ...env };
  try {
    await withServer({ env: own }, async (server) => {
      const user = await newUser();
      const send = async (body: object) =>
        server.ask(`/messages/${await newSession(server, user)}`, json(body, user.headers));
      await work({ server, model, send });
    });
  } finally {
    await model.close();
  }
}

test('the list of models is public, tells the default, and takes no other method', () =>
  served(
    [says('ok')],
    async ({ server }) => {
      const answer = await server.ask('/models', { headers: { authorization: 'Bearer x', 'x-auth-type': 'ucan' } });
      assert.is(answer.status, 200);
      const { models, default: usual } = answer.json() as ReturnType<typeof modelList>;
      assert.is(usual, 'small');
      assert.equal(
        models.map(({ id, label, family, isDefault }) => [id, label, family, isDefault]),
        [
          ['small', 'small', 'small', true],
          ['meta/llama-4:70b', 'llama-4:70b', 'meta', false],
        ],
      );
      const posted = await server.ask('/models', { method: 'POST' });
      assert.equal([posted.status, posted.headers.allow], [405, 'HEAD, GET']);
      for (const path of ['/models/', '/Models', '//models']) assert.is((await server.ask(path)).status, 404, path);
      assert.is((await server.ask('/models', { method: 'HEAD' })).status, 200);
    },
    { MODEL_LIST: 'small, meta/llama-4:70b' },
  ));

test('without a model, the flow that answers is the only one', () => {
  const { config } = readConfig({ DATA_DIR: ':memory:' }, { makeKeys: true });
  const { models, default: usual } = modelList(config!);
  assert.equal([usual, models.map(({ id, family }) => [id, family])], ['assistant', [['assistant', 'flow']]]);
});

/** What is said of a file of MCP servers that is refused. */
function refusalOf(file: string): string {
  try {
    readMcpServers(file);
  } catch (error) {
    assert.is((error as TwinlineError).code, 'ERR_CONFIG');
    return (error as TwinlineError).message;
  }
  return assert.unreachable() as never;
}

test('a file of MCP servers is refused with everything that is wrong with it, and without what it holds', () =>
  withFolder(async (folder) => {
    const file = join(folder, 'mcp.json');
    const problemsOf = async (text: string) => {
      writeFileSync(file, text);
      const message = refusalOf(file);
      assert.not.match(message, 'canary');
      return message.split('\n').map((line) => line.slice(`MCP_SERVERS ${file}: `.length));
    };
    assert.equal(await problemsOf('{canary'), ['is not JSON.']);
    assert.match((await problemsOf('{"a":"canary"}'))[0]!, 'must be a JSON array');
    const lines = await problemsOf(
      JSON.stringify([
        { name: 'one', url: 'http://user:canary@h/mcp' },
        { name: 'One', url: 'ftp://h', headers: { 'x y': 'canary' }, did: 'x', protected: 'all', odd: 1 },
        { name: 'one' },
        7,
      ]),
    );
    assert.equal(
      lines.map((line) => line.slice(0, 28)),
      [
        'number 1: "url" must be an h',
        'number 2: "odd" is unknown; ',
        'number 2: "name" must be 1 t',
        'number 2: "url" must be an h',
        'number 2: "headers" must be ',
        'number 2: "did" must be a DI',
        'number 2: "protected" must b',
        'number 3: "url" is missing; ',
        'number 4: must be an object.',
        'the name "one" is used twice',
      ],
    );
    assert.match(refusalOf(join(folder, 'none.json')), 'cannot be read (ENOENT)');
  }));

test('the doctor asks the endpoint: whether it answers, takes the key and has the models', async () => {
  const list =
    (...names: string[]): Answer =>
    (response) =>
      void response.end(JSON.stringify({ object: 'list', data: names.map((id) => ({ id, object: 'model' })) }));
  const found = async (answer: Answer): Promise<Finding> => {
    const server = await modelServer(answer);
    try {
      const model = {
        from: { baseUrl: `${server.url}/`, apiKey: 'sk-canary' },
        name: 'small',
        others: ['large'],
        systemPrompt: undefined,
      };
      const [finding] = [await MODEL_CHECKS[0]!.run({ config: { model } } as unknown as CheckContext)].flat() as [
        Finding,
      ];
      assert.equal(
        server.asked.map(({ path, headers }) => [path, headers.authorization]),
        [['/v1/models', 'Bearer sk-canary']],
      );
      assert.not.match(`${finding.words} ${finding.fix}`, 'canary');
      return finding;
    } finally {
      await server.close();
    }
  };
  const cases: readonly (readonly [Answer, Finding['level'], string])[] = [
    [list('large', 'small'), 'fine', 'answers and has small, large'],
    [list('small', 'other'), 'advice', 'does not list large'],
    [fails(401), 'broken', 'refuses the key (401)'],
    [fails(500), 'broken', 'is broken (500)'],
    [fails(404), 'advice', 'lists no models (404)'],
    [(response) => void response.end('canary'), 'advice', 'lists no models (200)'],
    [(response) => void response.destroy(), 'broken', 'does not answer: the connection failed'],
  ];
  for (const [answer, level, words] of cases) {
    const finding = await found(answer);
    assert.is(finding.level, level, words);
    assert.match(finding.words, words);
  }
});

const MODULE = (version: string) => `export default {
  specificationVersion: '${version}', provider: 'own', modelId: 'tea',
  doStream: async ({ prompt }) => ({ stream: new ReadableStream({ start(controller) {
    controller.enqueue({ type: 'stream-start', warnings: [] });
    controller.enqueue({ type: 'text-delta', id: '0', delta: 'I heard ' + prompt.at(-1).content[0].text });
    controller.enqueue({ type: 'finish', finishReason: 'stop', usage: { inputTokens: 1, outputTokens: 2 } });
    controller.close();
  } }) }),
};`;

test('MODEL is a module with a language model of the AI SDK, which answers; one that has none is named at the start', () =>
  withFolder(async (folder) => {
    const [good, wrong, old] = ['good.mjs', 'wrong.mjs', 'old.mjs'].map((name) => join(folder, name));
    writeFileSync(good!, MODULE('v2'));
    writeFileSync(wrong!, 'export default {}');
    writeFileSync(old!, MODULE('v1'));
    await withServer({ env: { ORACLE_KEY, MODEL: good! } }, async (server) => {
      const { models } = (await server.ask('/models')).json() as ReturnType<typeof modelList>;
      assert.equal(
        models.map(({ id }) => id),
        ['model'],
      );
      const user = await newUser();
      const answer = await server.ask(
        `/messages/${await newSession(server, user)}`,
        json({ message: 'hello' }, user.headers),
      );
      assert.match(answer.text, '"content":"I heard hello"');
      const [model] = [readConfig({ ORACLE_KEY, DATA_DIR: ':memory:', MODEL: good! }).config!.model];
      const finding = (await MODEL_CHECKS[0]!.run({ config: { model } } as unknown as CheckContext)) as Finding;
      assert.equal([finding.level, finding.words], ['fine', `${good} exports tea; it is not asked`]);
    });
    const refusals = [
      [wrong, 'exports no language model'],
      [old, 'the interface v1'],
      ['./none.mjs', 'is not there'],
    ];
    for (const [module, why] of refusals)
      await withServer({ env: { ORACLE_KEY, MODEL: module! } }, async () => assert.unreachable()).catch(
        (error: Error) => assert.match(error.message, `MODEL: "${module}"`) ?? assert.match(error.message, why!),
      );
  }));

test('the doctor asks each MCP server, and tells of nothing in its headers', () =>
  withFolder(async (folder) => {
    const [works, empty] = [await mcpGround(['hello', 'data']), await mcpGround(['task-only'])];
    const file = join(folder, 'mcp.json');
    const servers = [
      { name: 'works', url: works.url, headers: { authorization: 'Bearer canary' } },
      { name: 'empty', url: empty.url },
      { name: 'away', url: 'http://127.0.0.1:1/mcp' },
    ];
    writeFileSync(file, JSON.stringify(servers));
    try {
      const context = { config: { mcpServersFile: file } } as unknown as CheckContext;
      const findings = [await MCP_CHECKS[0]!.run(context)].flat() as Finding[];
      assert.equal(
        findings.map(({ level, words }) => [level, words]),
        [
          ['fine', '"works" answers and offers 2 tools'],
          ['advice', '"empty" answers and offers no tool that can be called'],
          ['broken', 'The MCP server "away" is not available: the connection failed.'],
        ],
      );
      assert.not.match(JSON.stringify(findings), 'canary');
      assert.is(works.noted[0]!.headers.authorization, 'Bearer canary');
    } finally {
      await Promise.all([works.close(), empty.close()]);
    }
  }));

test.run();

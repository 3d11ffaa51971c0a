// Tools of MCP servers, against real ones: listed, called, told apart; servers that change, restart, fail and are away.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { AGENT_LIMITS } from '../../lib/agent/limits.ts';
import type { McpServer } from '../../lib/agent/mcp/invocation.ts';
import { type Mcp, openMcp } from '../../lib/agent/mcp/servers.ts';
import type { ToolOutcome } from '../../lib/agent/responder.ts';
import { until } from '../support/until.ts';
import { framesOf, ground, newSession, say, scripted, settled } from './ground.ts';
import { type McpGround, mcpGround } from './mcp-server.ts';

const test = suite('tools of MCP servers');

interface Here {
  readonly mcp: Mcp;
  readonly problems: unknown[];
  readonly clock: ReturnType<typeof ground>['clock'];
  /** Calls tools in one run; what came of each. */
  call(...names: string[]): Promise<ToolOutcome[]>;
}

async function withMcp(servers: readonly McpServer[], work: (here: Here) => Promise<void>): Promise<void> {
  const stores = ground();
  const { clock, problems } = stores;
  const mcp = await openMcp({ servers, clock, pass: async () => ({}), onProblem: (error) => problems.push(error) });
  let wanted: string[] = [];
  let outcomes: ToolOutcome[] = [];
  const responder = scripted(async function* ({ tools }) {
    outcomes = await Promise.all(wanted.map((name) => tools.call(name, { of: name })));
    yield { type: 'text', text: 'done' };
  });
  const agent = await stores.agent(responder, { hostTools: () => mcp.tools() });
  const call = async (...names: string[]) => {
    wanted = names;
    const frames = await framesOf(agent, await say(agent, await newSession(agent), names.join(' ')));
    assert.is(frames.at(-1)!.json.status, 'finished');
    return outcomes;
  };
  try {
    await work({ mcp, clock, problems, call });
  } finally {
    await agent.close();
    await mcp.close();
  }
}

async function withServers(
  tools: readonly (readonly string[])[],
  work: (...all: McpGround[]) => Promise<void>,
): Promise<void> {
  const all = await Promise.all(tools.map((names) => mcpGround(names)));
  try {
    await work(...all);
  } finally {
    await Promise.all(all.map((one) => one.close()));
  }
}

const namesOf = (mcp: Mcp, taken?: ReadonlySet<string>) => mcp.tools(taken).map(({ name }) => name);
const at = (name: string, { url }: McpGround, more: Partial<McpServer> = {}): McpServer => ({ name, url, ...more });

test('tools are listed with their schemas and called; every kind of result has a form, and a failure its words', () =>
  withServers([['hello', 'data', 'picture', 'fails', 'large', 'task-only']], async (server) => {
    const asked = (wanted: string) => server!.noted.filter(({ method }) => method === wanted);
    await withMcp([at('one', server!, { headers: { 'x-key': 'k' } })], async ({ mcp, call, problems }) => {
      const [first] = mcp.tools();
      assert.equal([first!.name, first!.description, first!.schema.type], ['hello', 'Does hello', 'object']);
      assert.not.ok(namesOf(mcp).includes('task-only'), 'one that runs only as a task is not offered');
      const [hello, data, picture, fails, large] = await call('hello', 'data', 'picture', 'fails', 'large');
      assert.equal(hello, { ok: true, output: 'hello' });
      assert.equal(data, { ok: true, output: { n: 1 } });
      assert.equal(picture, { ok: true, output: '[image image/png, 8 characters of base64]' });
      assert.equal(fails, { ok: false, error: 'The MCP server "one" says: no such stove' });
      assert.ok(large?.ok && JSON.stringify(large.output).length < AGENT_LIMITS.mcpResultChars + 200);
      assert.equal(problems, [], 'what a tool refuses is nobody’s fault');
      for (const { headers } of server!.noted) assert.is(headers['x-key'], 'k');
      await call('hello');
      await settled();
      assert.is(asked('tools/call').length, 6);
      assert.equal(asked('notifications/cancelled'), [], 'a call that was answered is not cancelled afterwards');
    });
    await until('closing says goodbye: the session was ended', () => asked('DELETE').length > 0);
  }));

test('names that several have are told apart by their servers, and so are those of others', () =>
  withServers(
    [
      ['hello', 'data'],
      ['hello', 'only'],
    ],
    (one, two) =>
      withMcp([at('one', one!), at('two', two!)], async ({ mcp, call }) => {
        assert.equal(namesOf(mcp), ['one__hello', 'data', 'two__hello', 'only']);
        assert.equal(namesOf(mcp, new Set(['data'])), ['one__hello', 'one__data', 'two__hello', 'only']);
        await call('two__hello');
        assert.equal([one!.called, two!.called], [[], ['hello']]);
      }),
  ));

test('a server that tells of a new tool is asked for its list', () =>
  withServers([['hello']], (server) =>
    withMcp([at('one', server!)], async ({ mcp }) => {
      await until('it listens', () => server!.noted.some(({ method }) => method === 'GET'));
      await settled();
      server!.add('fresh');
      await until('the list is asked for again', () => namesOf(mcp).includes('fresh'));
    }),
  ));

test('a server that does not tell is asked from time to time', () =>
  withServers([['hello']], (server) =>
    withMcp([at('one', server!)], async ({ mcp, clock }) => {
      const listed = () => server!.noted.filter(({ method }) => method === 'tools/list').length;
      mcp.tools();
      await settled();
      assert.is(listed(), 1);
      await clock.advance(AGENT_LIMITS.mcpFreshMs);
      mcp.tools();
      await until('asked again', () => listed() === 2);
    }),
  ));

const rpcError = (code: number, message: string) => ({ jsonrpc: '2.0', error: { code, message } });

/** How servers say that they do not know a session: the specification, older examples of the SDK, and SDKs of other languages. */
const UNKNOWN_SESSIONS: readonly (readonly [status: number, body: object | string])[] = [
  [404, { error: 'canary' }],
  [400, rpcError(-32_000, 'Bad Request: No valid session ID provided')],
  [400, rpcError(-32_000, 'Bad Request: Server not initialized')],
  [400, 'Invalid or missing session ID'],
  [401, 'Unauthorized: Session not found'],
  [422, 'Unexpected message, expect initialize request'],
  [500, rpcError(-32_603, 'The session has expired')],
  [200, rpcError(-32_001, 'Session not found')],
];

test('a server that says in any of the usual ways that it has forgotten the session is greeted again, and the call is made once', () =>
  withServers([['hello']], (server) =>
    withMcp([at('one', server!)], async ({ call, problems }) => {
      await call('hello');
      for (const [times, answer] of UNKNOWN_SESSIONS.entries()) {
        server!.forget(answer);
        assert.equal(await call('hello'), [{ ok: true, output: 'hello' }], String(answer));
        assert.is(server!.called.length, 2 + times);
      }
      assert.equal(problems, []);
    }),
  ));

test('after a failure of which the session may be the cause the next call begins one; the failed call is not repeated', () =>
  withServers([['hello']], (server) =>
    withMcp([at('one', server!)], async ({ call }) => {
      await call('hello');
      for (const answer of [
        [401, 'canary'],
        [400, 'canary'],
        [500, ''],
        [200, rpcError(-32_000, 'canary')],
      ] as const) {
        server!.forget(answer);
        const asked = server!.noted.length;
        const [failed] = await call('hello');
        assert.match(String(failed!.ok ? '' : failed!.error), /The MCP server "one" is not available: it answered /);
        assert.is(server!.noted.slice(asked).filter(({ method }) => method === 'tools/call').length, 1);
        assert.equal(await call('hello'), [{ ok: true, output: 'hello' }]);
      }
    }),
  ));

test('what a tool answers as an error of the protocol ends no session', () =>
  withServers([['hello']], (server) =>
    withMcp([at('one', server!)], async ({ call }) => {
      await call('hello');
      const greeted = () => server!.noted.filter(({ method }) => method === 'initialize').length;
      const before = greeted();
      server!.refuseNext({ code: -32_602, message: 'The session of the stove is unknown' });
      const [failed] = await call('hello');
      assert.equal(failed, {
        ok: false,
        error: 'The MCP server "one" is not available: it answered with the error -32602.',
      });
      await call('hello');
      assert.is(greeted(), before);
    }),
  ));

test('a server that is away is told once, others work, and it is asked again when it may be back', async () => {
  const away = await mcpGround(['late']);
  await away.close();
  await withServers([['hello']], (here) =>
    withMcp([at('away', away), at('here', here!)], async ({ mcp, call, problems, clock }) => {
      assert.equal(namesOf(mcp), ['hello']);
      assert.equal(await call('hello'), [{ ok: true, output: 'hello' }]);
      assert.is(problems.length, 1);
      assert.match(String(problems[0]), 'The MCP server "away" is not available: the connection failed.');
      const back = await mcpGround(['late'], Number(new URL(away.url).port));
      try {
        mcp.tools();
        await settled();
        assert.equal(namesOf(mcp), ['hello'], 'it is not hammered');
        await clock.advance(AGENT_LIMITS.mcpRetryMs);
        await until('it is back', () => namesOf(mcp).includes('late'));
        assert.equal(await call('late'), [{ ok: true, output: 'hello' }]);
      } finally {
        await back.close();
      }
      const [gone] = await call('late');
      assert.equal(gone, { ok: false, error: 'The MCP server "away" is not available: the connection failed.' });
    }),
  );
});

test('a tool that hangs is given up after its time, and its server hears of it', () =>
  withServers([['hangs', 'hello']], (server) =>
    withMcp([at('one', server!)], async ({ call, clock }) => {
      const calling = call('hangs', 'hello');
      await until('it was called', () => server!.called.includes('hangs'));
      await settled();
      await clock.advance(AGENT_LIMITS.mcpToolMs + 1);
      const [hangs, hello] = await calling;
      assert.equal(hangs, { ok: false, error: 'The tool took too long.' });
      assert.is(hello!.ok, true);
      await until('it was cancelled', () => server!.noted.some(({ method }) => method === 'notifications/cancelled'));
    }),
  ));

test.run();

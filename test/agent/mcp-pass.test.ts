// Tokens for protected tools of MCP servers: whose count, for what, how often, and what is sent along.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { AGENT_KINDS } from '../../lib/agent/kinds.ts';
import { audiences, type Pass, passes, spentTokens } from '../../lib/agent/mcp/invocation.ts';
import { openMcp } from '../../lib/agent/mcp/servers.ts';
import type { ToolContext } from '../../lib/agent/responder.ts';
import { SimulatedClock } from '../../lib/clock.ts';
import { COMMON_LIMITS } from '../../lib/common-limits.ts';
import { DELEGATION_KINDS, delegations } from '../../lib/delegation/delegations.ts';
import { tokenGuard } from '../../lib/delegation/guard.ts';
import { DELEGATION_LIMITS } from '../../lib/delegation/limits.ts';
import { revocations } from '../../lib/delegation/revocations.ts';
import { inspectToken, mintDelegation, mintInvocation } from '../../lib/delegation/tokens.ts';
import { TwinlineError } from '../../lib/errors.ts';
import { parseKeyring } from '../../lib/keyring.ts';
import { memoryDocuments } from '../../lib/store/memory/index.ts';
import { newKey } from '../delegation/keys.ts';
import { mcpGround } from './mcp-server.ts';

const test = suite('tokens for MCP servers');

const user = newKey();
const oracle = newKey();
const AUDIENCE = newKey().did;
const SERVER = { name: 'stoves', url: 'http://127.0.0.1:1/mcp', did: AUDIENCE, protected: true };
const PASSING = { server: SERVER, tool: 'getStove', names: ['getStove', 'stoves__getStove'] };

async function open(documents = memoryDocuments(), clock = new SimulatedClock()) {
  await documents.declare([...AGENT_KINDS, ...DELEGATION_KINDS]);
  const revoked = revocations({ documents });
  const guard = tokenGuard({ audience: oracle.did, clock, revoked: revoked.has });
  const keyring = parseKeyring('8f1de1e2c1a53b2d7f6a90e4b35c7d2818aa4cfe0b61d9f3e27c5b8490ad6f13');
  const granted = delegations({ documents, clock, keyring, guard, revocations: revoked, key: oracle });
  const spent = spentTokens({ documents, clock });
  const pass = passes({ clock, spent, delegations: granted, maxTtlSeconds: 900, revoked: revoked.has });
  const token = (more: Partial<Parameters<typeof mintInvocation>[0]> = {}) =>
    mintInvocation({
      key: user,
      audience: AUDIENCE,
      capability: { can: 'mcp/call', with: user.did },
      expiresIn: 300,
      clock,
      ...more,
    });
  const delegate = async (capability: { can: string; with: string }) => {
    const whole = { key: user, audience: oracle.did, capabilities: [capability], expiresIn: 3_600, clock };
    return granted.store(user.did, await mintDelegation(whole));
  };
  return { documents, clock, revoked, delegate, spent, pass, token };
}

const context = (mcpInvocations?: { readonly [tool: string]: string }, owner = user.did) =>
  ({ owner, secrets: mcpInvocations ? { mcpInvocations } : {} }) as unknown as ToolContext;

async function refusal(asked: ReturnType<Pass>): Promise<string> {
  const error = await asked.then(
    () => assert.unreachable('it passed'),
    (thrown: unknown) => thrown,
  );
  assert.instance(error, TwinlineError);
  assert.is((error as TwinlineError).code, 'ERR_REFUSED');
  return (error as TwinlineError).message;
}

test('an invocation of the caller for this server and this tool is sent along as it is', async () => {
  const { pass, token } = await open();
  const capabilities = [
    { can: 'mcp/call', with: user.did },
    { can: 'mcp/getstove', with: user.did },
    { can: '*', with: 'ixo:oracle' },
  ];
  for (const capability of capabilities)
    for (const name of PASSING.names) {
      const one = await token({ capability });
      assert.equal(await pass(PASSING, context({ [name]: one })), {
        authorization: `Bearer ${one}`,
        'x-auth-type': 'ucan',
      });
    }
});

test('everything else does not count, and says why; no word of it is a token', async () => {
  const { pass, token, clock, revoked } = await open();
  const stranger = newKey();
  const claiming = (can: string, whose = user, more: object = {}) =>
    token({ capability: { can, with: whose.did }, ...more });
  const soon = await token({ expiresIn: 5 });
  const revokedOne = await token();
  const inspected = inspectToken(revokedOne);
  if (inspected.ok) await revoked.add([inspected.chain[0].revocationKey], clock.now() + 600_000);
  await clock.advance(6_000);
  const cases: readonly (readonly [what: RegExp, token: string])[] = [
    [/not a CAR/, 'nonsense'],
    [/not strict base64/, ''],
    [/audience is not/, await token({ audience: oracle.did })],
    [/was issued by did:key:\w+ but sent by did:key:\w+/, await claiming('mcp/call', stranger, { key: stranger })],
    [/does not accept its capability/, await claiming('mcp/call', stranger)],
    [/does not accept its capability/, await claiming('oracle/talk')],
    [/does not accept its capability/, await claiming('mcp/*')],
    [/mcp\/other is not for this tool/, await claiming('mcp/other')],
    [/lifetime exceeds the limit/, await token({ expiresIn: 3_600 })],
    [/has expired/, soon],
    [/was revoked/, revokedOne],
    [
      /./,
      Buffer.from(await token(), 'base64')
        .fill(0, 100, 120)
        .toString('base64'),
    ],
  ];
  for (const [what, one] of cases) {
    const words = await refusal(pass(PASSING, context({ getStove: one })));
    assert.match(words, what);
    assert.match(words, /^The invocation for "getStove" was refused/);
    if (one) assert.not.match(words, one);
  }
});

test('a token counts once, in whatever encoding, for all processes, also after a restart', async () => {
  const { documents, clock, pass, token } = await open();
  const one = await token();
  await pass(PASSING, context({ getStove: one }));
  const again = await open(documents, clock);
  const url = one.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
  for (const twin of [one, url]) {
    const words = await refusal(again.pass(PASSING, context({ getStove: twin })));
    assert.match(words, 'was already used');
  }
  const both = await token();
  const results = await Promise.allSettled(
    [pass, again.pass, pass].map((ask) => ask(PASSING, context({ getStove: both }))),
  );
  assert.is(results.filter(({ status }) => status === 'fulfilled').length, 1);
});

test('what is remembered of a token is forgotten a day after it has expired: clocks of instances may differ', async () => {
  const { clock, pass, token, spent } = await open();
  await pass(PASSING, context({ getStove: await token({ expiresIn: 60 }) }));
  assert.is(await spent.sweep(10), 0);
  await clock.advance(COMMON_LIMITS.keptBeyondExpiryMs);
  assert.is(await spent.sweep(10), 0);
  await clock.advance(61_000);
  assert.is(await spent.sweep(10), 1);
  assert.is(await spent.sweep(10), 0);
});

test('without one, what the user has delegated is used, as little of it as will do; else the user hears what is needed', async () => {
  const { clock, pass, delegate, token } = await open();
  const words = await refusal(pass(PASSING, context()));
  assert.match(words, 'mcpInvocations["getStove"]');
  for (const part of [AUDIENCE, 'mcp/call or mcp/getstove', user.did, 'store a delegation']) assert.match(words, part);
  const delegated = async (capability: { can: string; with: string }) => {
    await delegate(capability);
    const { authorization } = await pass(PASSING, context());
    const inspected = inspectToken(authorization!.replace('Bearer ', ''));
    assert.ok(inspected.ok);
    const [minted, proof] = inspected.ok ? inspected.chain : [];
    assert.equal([minted!.issuer, minted!.audience, proof!.issuer], [oracle.did, AUDIENCE, user.did]);
    assert.ok(minted!.expiration! <= clock.now() / 1000 + DELEGATION_LIMITS.mintedSeconds);
    return minted!.capabilities.map(({ can, with: resource }) => [can, resource]);
  };
  assert.equal(await delegated({ can: '*', with: 'ixo:oracle' }), [['mcp/call', 'ixo:oracle']]);
  assert.equal(await delegated({ can: 'oracle/*', with: user.did }), [['oracle/mcp', user.did]]);
  const bad = await token({ audience: oracle.did });
  assert.match(
    await refusal(pass(PASSING, context({ getStove: bad }))),
    'was refused',
    'a delegation makes no token good',
  );
  await delegate({ can: 'oracle/talk', with: user.did });
  assert.match(await refusal(pass(PASSING, context())), 'it needs one', 'a narrow one does not cover it');
});

test('an MCP server is known by the DID of its own host; any other has to be configured', async () => {
  const server = await mcpGround([]);
  try {
    const one = { name: 'one', url: server.url };
    const own = `did:web:${encodeURIComponent(new URL(server.url).host)}`;
    for (const document of [undefined, {}, { id: AUDIENCE }, [], 'x']) {
      server.document = document;
      const error = await audiences(new SimulatedClock())(one).catch((thrown) => thrown);
      assert.is(error.code, 'ERR_SERVICE');
      assert.match(error.message, 'Set its "did"');
    }
    server.document = { id: own };
    const ask = audiences(new SimulatedClock());
    assert.is(await ask(one), own);
    server.document = undefined;
    assert.is(await ask(one), own, 'it is kept for a while');
    assert.is(await ask({ ...one, name: 'two', did: AUDIENCE }), AUDIENCE);
  } finally {
    await server.close();
  }
});

test('the token goes along with the call of the tool that needs it, and with nothing else', async () => {
  const server = await mcpGround(['open', 'closed']);
  const { clock, pass, token } = await open();
  const servers = [{ name: 'one', url: server.url, did: AUDIENCE, protected: ['closed'], headers: { 'x-key': 'k' } }];
  const mcp = await openMcp({ servers, pass, clock, onProblem: () => {} });
  try {
    const one = await token();
    const { signal } = new AbortController();
    const given = { ...context({ open: await token(), closed: one }), signal };
    const named = (name: string) => mcp.tools().find((tool) => tool.name === name)!;
    await Promise.all([
      named('open').handler({}, given),
      named('closed').handler({}, given),
      named('open').handler({}, given),
    ]);
    assert.match(await refusal(Promise.resolve(named('closed').handler({}, given)) as never), 'already used');
    assert.equal(server.called.sort(), ['closed', 'open', 'open']);
    const carrying = server.noted.filter(({ headers }) => headers.authorization !== undefined);
    assert.equal(
      carrying.map(({ method, headers }) => [method, headers.authorization, headers['x-auth-type'], headers['x-key']]),
      [['tools/call', `Bearer ${one}`, 'ucan', 'k']],
    );
  } finally {
    await mcp.close();
    await server.close();
  }
});

test('a token is not used up by a call that a server which is away has never seen', async () => {
  const first = await mcpGround(['closed']);
  const { clock, pass, token } = await open();
  const servers = [{ name: 'one', url: first.url, did: AUDIENCE, protected: true }];
  const mcp = await openMcp({ servers, pass, clock, onProblem: () => {} });
  const tool = mcp.tools()[0]!;
  const given = { ...context({ closed: await token() }), signal: new AbortController().signal };
  await first.close();
  const away = await Promise.resolve(tool.handler({}, given)).catch((error: TwinlineError) => error.code);
  assert.is(away, 'ERR_SERVICE');
  const back = await mcpGround(['closed'], Number(new URL(first.url).port));
  try {
    assert.is(await tool.handler({}, given), 'hello');
    assert.equal(back.called, ['closed']);
  } finally {
    await mcp.close();
    await back.close();
  }
});

test.run();

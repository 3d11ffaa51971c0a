// The rules for operators by themselves: which token opens, what guesses cost, and who is this machine.

import type { Context } from 'koa';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SERVER_LIMITS } from '../../../server/config/limits.ts';
import { Refusal } from '../../../server/http/errors.ts';
import { clientReader } from '../../../server/http/middleware/client.ts';
import {
  bearerCheck,
  type OperatorRule,
  operatorsOnly,
  operatorTokens,
} from '../../../server/http/middleware/operator.ts';

const test = suite('rules for operators');

const TOKENS = ['a-long-token-of-operators', 'another-token-of-operators'];
const readClient = clientReader({ proxies: ['192.0.2.1'], exempt: [] });
const KEY = Buffer.alloc(32, 7);

function open(tokens = TOKENS) {
  let now = 1_000;
  const wrong: string[] = [];
  const own = operatorTokens(tokens, {
    key: KEY,
    readClient,
    onWrong: (address) => wrong.push(address),
    now: () => now,
  });
  const wait = (ms: number) => {
    now += ms;
  };
  return { own, wrong, wait };
}

type Headers = Readonly<Record<string, string>>;

function request(headers: Headers = {}, peer = '203.0.113.9') {
  const set = new Map<string, string>();
  const ctx = {
    req: { headers, socket: { remoteAddress: peer } },
    state: {} as { operator?: string | undefined },
    get: (name: string) => headers[name] ?? '',
    set: (name: string, value: string) => void set.set(name, value),
    remove: (name: string) => void set.delete(name),
  };
  return { ctx: ctx as unknown as Context, set, state: ctx.state };
}

function refusalOf(act: () => unknown): Refusal {
  try {
    act();
  } catch (error) {
    assert.instance(error, Refusal);
    return error as Refusal;
  }
  return assert.unreachable('was not refused') as never;
}

test('each token opens and has a name of its own, which tells nothing of it', () => {
  const { own, wrong } = open();
  const { ctx } = request();
  const names = TOKENS.map((token) => own.identify(ctx, token));
  assert.equal(names, [...own.names]);
  for (const name of names) assert.match(name!, /^token [\w-]{8}$/);
  assert.is.not(names[0], names[1]);
  assert.equal(wrong, []);
  const others = operatorTokens(TOKENS, { key: Buffer.alloc(32, 8), readClient });
  assert.is.not(others.names[0], names[0], 'the name depends on the key');
  for (const text of ['', `${TOKENS[0]}x`, TOKENS[0]!.toUpperCase()]) assert.is(own.identify(ctx, text), undefined);
  assert.equal(wrong, Array(3).fill('203.0.113.9'));
});

test('wrong tokens of one address are refused until a minute after the first; the right one never is', () => {
  const { own, wait } = open();
  const { ctx, set } = request();
  const { operatorFailures, operatorFailureMs } = SERVER_LIMITS;
  for (let n = 0; n < operatorFailures; n++) {
    assert.ok(own.identify(ctx, TOKENS[0]!), 'a right one is no failure, and forgives none');
    assert.is(own.identify(ctx, 'wrong'), undefined);
    wait(1_000);
  }
  const refused = refusalOf(() => own.identify(ctx, 'wrong'));
  assert.is(refused.kind, 'too-many-requests');
  assert.match(refused.message, 'Too many wrong tokens of operators came from this address. Try later');
  assert.is(set.get('Retry-After'), String((operatorFailureMs - operatorFailures * 1_000) / 1_000));
  for (const token of TOKENS) assert.ok(own.identify(ctx, token), 'others may share the address');
  assert.is(own.identify(request({}, '203.0.113.10').ctx, 'wrong'), undefined, 'another address');
  wait(operatorFailureMs - operatorFailures * 1_000 - 1);
  refusalOf(() => own.identify(ctx, 'wrong'));
  assert.is(set.get('Retry-After'), '1');
  wait(1);
  assert.is(own.identify(ctx, 'wrong'), undefined);
});

test('who asks is recognized by a right token, and a wrong one is not counted there', () => {
  const { own, wrong } = open();
  assert.is(own.recognize(`Bearer ${TOKENS[1]}`), own.names[1]);
  for (const authorization of ['', TOKENS[0]!, `Basic ${TOKENS[0]}`, `Bearer ${TOKENS[0]}x`])
    assert.is(own.recognize(authorization), undefined, authorization);
  assert.equal(wrong, []);
});

test('failures are counted by what a client is counted under, and nobody has to be told', () => {
  const own = operatorTokens(TOKENS, { key: KEY, readClient });
  for (let n = 0; n < SERVER_LIMITS.operatorFailures; n++)
    assert.is(own.identify(request({}, `2001:db8::${n + 1}`).ctx, 'wrong'), undefined);
  refusalOf(() => own.identify(request({}, '2001:db8::99').ctx, 'wrong'));
  assert.is(own.identify(request({}, '2001:db8:0:1::1').ctx, 'wrong'), undefined);
});

/** Who passes as what, or how it is refused. */
function enter(rule: Partial<OperatorRule>, headers: Headers, peer = '127.0.0.1') {
  const { ctx, set, state } = request(headers, peer);
  const rules = { tokens: undefined, production: false, readClient, ...rule };
  const answer = (outcome: string) => ({ outcome, operator: state.operator, headers: Object.fromEntries(set) });
  try {
    assert.is(operatorsOnly(rules)(ctx as never, (() => 'next') as never), 'next');
    return answer('passes');
  } catch (error) {
    assert.instance(error, Refusal);
    return answer(`${(error as Refusal).kind}: ${(error as Refusal).message}`);
  }
}

test('where there are tokens, their holders pass under their names and others are asked for one', () => {
  const { own } = open();
  const uncached = { 'Cache-Control': 'no-store', 'Cross-Origin-Resource-Policy': 'same-origin' };
  assert.equal(enter({ tokens: own, production: true }, { authorization: `Bearer ${TOKENS[1]}` }), {
    outcome: 'passes',
    operator: own.names[1],
    headers: uncached,
  });
  assert.is(enter({ tokens: own }, { authorization: `bearer ${TOKENS[0]}` }).outcome, 'passes');
  const asked = {
    outcome: 'unauthorized: Unauthorized: send Authorization: Bearer <OPERATOR_TOKEN>',
    operator: undefined,
    headers: { ...uncached, 'WWW-Authenticate': 'Bearer realm="operator"' },
  };
  const headers = ['', TOKENS[0]!, `Basic ${TOKENS[0]}`, `Bearer ${TOKENS[0]} x`, `x Bearer ${TOKENS[0]}`, 'Bearer'];
  for (const authorization of headers) assert.equal(enter({ tokens: own }, { authorization }), asked, authorization);
  assert.equal(enter({ tokens: own }, { authorization: 'Bearer wrong' }), asked);
});

test('without tokens only this machine passes, by a name of its own, not through a proxy, and not in production', () => {
  const passes = (headers: Headers, peer?: string, production = false) =>
    enter({ production }, headers, peer).outcome === 'passes';
  for (const host of [
    'localhost',
    'LOCALHOST:3000',
    'app.localhost',
    'a-b.localhost:1',
    '127.0.0.1',
    '127.11.22.33:80',
  ])
    assert.ok(passes({ host }), host);
  assert.ok(passes({ host: '[::1]:3000' }, '::1'));
  assert.ok(passes({ host: '[::1]' }, '::1'));
  const others = [
    '',
    'evil.example',
    'localhost.evil.example',
    'xlocalhost',
    'a b.localhost',
    '.localhost',
    'localhost:',
  ];
  for (const host of [...others, '127.0.0', '127.0.0.1.evil.example', '1127.0.0.1', '[::1]x', 'localhost:80x'])
    assert.not(passes({ host }), host);
  const host = 'localhost';
  assert.not(passes({ host }, '203.0.113.9'));
  assert.not(passes({ host, 'x-forwarded-for': '127.0.0.1' }));
  assert.not(passes({ host, forwarded: 'for=127.0.0.1' }));
  assert.not(passes({ host }, '127.0.0.1', true));
  const refused = enter({}, { host: 'evil.example' });
  assert.equal([refused.outcome, refused.operator, refused.headers], ['not-found: Not found', undefined, {}]);
});

test('this machine is an operator named loopback, whose answers nobody keeps and no page of another site reads', () => {
  assert.equal(enter({}, { host: 'localhost' }), {
    outcome: 'passes',
    operator: 'loopback',
    headers: { 'Cache-Control': 'no-store', 'Cross-Origin-Resource-Policy': 'same-origin' },
  });
  assert.match(enter({}, { host: 'localhost', origin: 'https://evil.example' }).outcome, /^bad-request/);
});

test('a secret is known by its bearer token alone', () => {
  const matches = bearerCheck('s3cret!~');
  for (const header of ['Bearer s3cret!~', 'bearer s3cret!~']) assert.ok(matches(header), header);
  const others = ['', 's3cret!~', 'Bearer s3cret!', 'Bearer s3cret!~~', 'Bearer  s3cret!~', 'xBearer s3cret!~'];
  for (const header of [...others, 'Bearer s3cret!~ ']) assert.not(matches(header), header);
});

test.run();

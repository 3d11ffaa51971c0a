// Which caller an API key stands for, and what its roles let it do.

import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SimulatedClock } from '../../../lib/clock.ts';
import { type Action, type Caller, PERMITTED, ROLES, type Role, requireRole } from '../../../lib/domain/caller.ts';
import { TwinlineError } from '../../../lib/errors.ts';
import { apiKeys, authenticate, findRecheck, readCaller } from '../../../server/domain/api-keys.ts';

const test = suite('callers of the domain service');

const folder = mkdtempSync(join(tmpdir(), 'twinline-keys-'));
const file = join(folder, 'keys.json');
test.after(() => rmSync(folder, { recursive: true }));

const KEY = 'a-key-of-the-owner-1';
const OTHER = 'a-key-of-a-voter-22';
const OWNER = { key: KEY, principal: 'did:x:owner', roles: ['controller', 'voter'] };
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

interface Line {
  readonly fields: Readonly<Record<string, unknown>>;
  readonly words: string;
}

function open(entries: unknown, text = JSON.stringify(entries)) {
  writeFileSync(file, text);
  const lines: Line[] = [];
  const write = (fields: Line['fields'], words: string) => void lines.push({ fields, words });
  const clock = new SimulatedClock();
  const keys = apiKeys({ file, production: true, log: { info: write, error: write } as never, clock });
  return { keys, lines, clock };
}

/** The problems for which a file is refused. */
function problems(entries: unknown, text?: string): string[] {
  try {
    open(entries, text);
  } catch (error) {
    assert.instance(error, TwinlineError);
    assert.is((error as TwinlineError).code, 'ERR_CONFIG');
    return (error as TwinlineError).message.split('\n').map((line) => line.replace(`API_KEYS_FILE ${file}: `, ''));
  }
  return [];
}

test('a key stands for its principal, its roles and its tenant, and no other text does', () => {
  const second = { key: `sha256:${sha256(OTHER)}`, principal: 'did:x:voter', roles: ['voter'], tenant: 'farm' };
  const { keys } = open([OWNER, second]);
  assert.equal(keys.findCaller(KEY), {
    principal: 'did:x:owner',
    roles: new Set<Role>(['controller', 'voter']),
    tenant: 'default',
  });
  assert.equal(keys.findCaller(OTHER), { principal: 'did:x:voter', roles: new Set<Role>(['voter']), tenant: 'farm' });
  for (const text of ['', `${KEY} `, KEY.toUpperCase(), second.key, sha256(OTHER)])
    assert.is(keys.findCaller(text), undefined, text);
  assert.is(keys.developmentKey, undefined);
});

test('a hash is read in capitals too', () => {
  const { keys } = open([{ ...OWNER, key: `SHA256:${sha256(KEY).toUpperCase()}`.replace('SHA', 'sha') }]);
  assert.is(keys.findCaller(KEY)?.principal, 'did:x:owner');
});

test('what is held tells two files apart by any key, principal, role or tenant, and by nothing else', () => {
  const second = { key: OTHER, principal: 'did:x:voter', roles: ['voter'] };
  const { digest, keys } = open([OWNER, second]).keys.held!;
  assert.match(digest, /^[\w-]{43}$/);
  assert.is(keys, 2);
  const same = [second, { ...OWNER, key: `sha256:${sha256(KEY)}`, roles: ['voter', 'controller'], tenant: 'default' }];
  assert.equal(open(same).keys.held, { digest, keys });
  for (const change of [{ key: `${KEY}!` }, { principal: 'did:x:o' }, { roles: ['voter'] }, { tenant: 'farm' }])
    assert.is.not(open([{ ...OWNER, ...change }, second]).keys.held!.digest, digest, JSON.stringify(change));
  assert.equal(open([]).keys.held!.keys, 0);
});

test('the voters of a tenant are its principals with the role, once each, in order', () => {
  const entry = (n: number, principal: string, roles: string[], tenant?: string) => ({
    key: `a-key-of-somebody-${n}`,
    principal,
    roles,
    ...(tenant && { tenant }),
  });
  const { keys } = open([
    entry(1, 'did:x:b', ['voter']),
    entry(2, 'did:x:a', ['voter', 'operator']),
    entry(3, 'did:x:b', ['voter', 'issuer']),
    entry(4, 'did:x:c', ['operator']),
    entry(5, 'did:x:d', ['voter'], 'farm'),
  ]);
  assert.equal(keys.voters('default'), [
    { did: 'did:x:a', power: '1' },
    { did: 'did:x:b', power: '1' },
  ]);
  assert.equal(keys.voters('farm'), [{ did: 'did:x:d', power: '1' }]);
  assert.equal(keys.voters('none'), []);
});

test('every problem of a file is told, by its place, and no key is quoted', () => {
  assert.equal(problems([]), []);
  assert.equal(problems({}), ['/ must be array']);
  assert.equal(problems([{}]), [
    "/0 must have required property 'key'",
    "/0 must have required property 'principal'",
    "/0 must have required property 'roles'",
  ]);
  const broken = (more: object) => problems([{ ...OWNER, ...more }]);
  assert.equal(broken({ key: 'k'.repeat(15) }), ['/0/key must NOT have fewer than 16 characters']);
  assert.equal(broken({ key: 'k'.repeat(16) }), []);
  assert.equal(broken({ key: 'k'.repeat(512) }), []);
  assert.equal(broken({ key: 'k'.repeat(513) }), ['/0/key must NOT have more than 512 characters']);
  assert.equal(broken({ principal: 'joe' }), ['/0/principal must be a DID']);
  assert.equal(broken({ principal: 7 }), ['/0/principal must be string']);
  assert.match(broken({ principal: `did:x:${'a'.repeat(507)}` })[0]!, '/0/principal must NOT have more than 512');
  assert.equal(broken({ roles: ['king'] }), ['/0/roles/0 must be equal to one of the allowed values']);
  assert.equal(broken({ roles: 'voter' }), ['/0/roles must be array']);
  assert.match(broken({ roles: ['voter', 'voter'] })[0]!, '/0/roles must NOT have duplicate items');
  assert.equal(broken({ tenant: 'A-z_0.9' }), []);
  for (const tenant of ['', 'a b', 'x'.repeat(65)])
    assert.match(broken({ tenant })[0]!, '/0/tenant must match pattern');
  assert.equal(broken({ more: 1 }), ['/0 must NOT have additional properties']);
  assert.equal(problems([OWNER, null]), ['/1 must be object']);
  assert.equal(problems(['text']), ['/0 must be object']);
  assert.equal(broken({ key: 7 }), ['/0/key must be string']);
});

test('a key that stands twice is told, also when one of the two is a hash; several without a key are not', () => {
  const twin = { ...OWNER, principal: 'did:x:twin' };
  assert.equal(problems([OWNER, twin]), ['/1/key is the same as that of /0']);
  assert.equal(problems([OWNER, { ...twin, key: `sha256:${sha256(KEY)}` }, { ...twin, key: OTHER }]), [
    '/1/key is the same as that of /0',
  ]);
  const { key: _, ...keyless } = OWNER;
  assert.equal(problems([keyless, keyless]), [
    "/0 must have required property 'key'",
    "/1 must have required property 'key'",
  ]);
});

test('a hash that is none is told, and not taken for a key', () => {
  const malformed = '/0/key begins with sha256: and goes on with something else than 64 hex digits';
  for (const rest of ['', 'abc', `${sha256(KEY)}0`, `${sha256(KEY).slice(1)}g`])
    assert.equal(problems([{ ...OWNER, key: `sha256:${rest}`.padEnd(16, 'x') }]), [malformed], rest);
  const { keys } = open([{ ...OWNER, key: `x-sha256:${sha256(KEY)}` }]);
  assert.is(keys.findCaller(KEY), undefined);
  assert.ok(keys.findCaller(`x-sha256:${sha256(KEY)}`), 'a key like any other');
});

test('a file that cannot be read or is no JSON says why, and what to write', () => {
  const missing = () =>
    apiKeys({ file: join(folder, 'none.json'), production: true, log: {} as never, clock: new SimulatedClock() });
  assert.throws(missing, (error: TwinlineError) => /none\.json cannot be read \(ENOENT\)\./.test(error.message));
  assert.throws(missing, ({ cause }: TwinlineError) => (cause as NodeJS.ErrnoException).code === 'ENOENT');
  const [problem] = problems(undefined, '[{"key": }]');
  assert.match(problem!, 'Write a list of {"key", "principal", "roles"}.');
  assert.not.match(problem!, KEY);
});

test('without a file, development has one key that may do everything, and production knows nobody', () => {
  const log = {} as never;
  const development = apiKeys({ file: undefined, production: false, log, clock: new SimulatedClock() });
  const key = development.developmentKey!;
  assert.match(key, /^dev_[\w-]{24}$/);
  assert.equal(development.findCaller(key), {
    principal: 'did:ixo:development',
    roles: new Set(ROLES),
    tenant: 'default',
  });
  assert.is.not(apiKeys({ file: undefined, production: false, log, clock: new SimulatedClock() }).developmentKey, key);
  assert.equal(development.voters('default'), [{ did: 'did:ixo:development', power: '1' }]);
  const production = apiKeys({ file: undefined, production: true, log, clock: new SimulatedClock() });
  assert.equal(
    [production.developmentKey, production.findCaller(key), production.voters('default')],
    [undefined, undefined, []],
  );
});

test('a file that changes counts a second later; a broken one changes nothing and is told once', async () => {
  const { keys, lines, clock } = open([OWNER]);
  const write = (entries: unknown) =>
    writeFileSync(file, typeof entries === 'string' ? entries : JSON.stringify(entries));
  write([OWNER, { key: OTHER, principal: 'did:x:voter', roles: ['voter'] }]);
  await clock.advance(999);
  assert.is(keys.findCaller(OTHER), undefined, 'not looked at before each request');
  await clock.advance(1);
  assert.is(keys.findCaller(OTHER)?.principal, 'did:x:voter');
  assert.equal(lines.splice(0), [{ fields: { keys: 2 }, words: 'API keys were read again' }]);
  write('[');
  for (let second = 0; second < 3; second++) {
    await clock.advance(1_000);
    assert.is(keys.voters('default').length, 2);
  }
  assert.equal(
    lines.map(({ words }) => words),
    ['API_KEYS_FILE has changed and cannot be used; the keys before stay'],
  );
  assert.instance(lines[0]!.fields.err, TwinlineError);
  assert.ok(keys.findCaller(KEY) && keys.findCaller(OTHER));
  rmSync(file);
  await clock.advance(1_000);
  assert.ok(keys.findCaller(KEY));
  assert.is(lines.length, 2);
});

/** What a request with this Authorization header comes to. */
function pass(keys: Parameters<typeof authenticate>[0], authorization: string) {
  const ctx = { state: {}, get: (name: string) => (name === 'authorization' ? authorization : '') };
  try {
    assert.is(authenticate(keys)(ctx as never, (() => 'next') as never), 'next');
    return ctx;
  } catch (error) {
    assert.is((error as TwinlineError).reason, 'unauthorized');
    return (error as TwinlineError).message;
  }
}

test('a request passes as the caller of its bearer key; all others are refused in the same words', () => {
  const { keys } = open([OWNER]);
  for (const header of [`Bearer ${KEY}`, `bearer   ${KEY}`]) {
    const ctx = pass(keys, header);
    assert.ok(typeof ctx === 'object');
    assert.is(readCaller(ctx as never).principal, 'did:x:owner');
    assert.ok(findRecheck(ctx as never)());
  }
  const refused = 'Send an API key: Authorization: Bearer <key>.';
  for (const header of [
    '',
    KEY,
    `Basic ${KEY}`,
    'Bearer ',
    `Bearer${KEY}`,
    `Bearer ${KEY} x`,
    `x Bearer ${KEY}`,
    'Bearer x',
  ])
    assert.is(pass(keys, header), refused, header);
  const { keys: long } = open([{ ...OWNER, key: `sha256:${sha256('k'.repeat(1_025))}` }]);
  assert.is(pass(long, `Bearer ${'k'.repeat(1_025)}`), refused, 'longer than a key may be');
});

test('a key that is taken away, or given to another tenant, counts no more for a request under way', () => {
  const known = new Map<string, Caller>();
  const caller = (tenant: string): Caller => ({ principal: 'did:x:owner', roles: new Set(), tenant });
  known.set(KEY, caller('default'));
  const keys = {
    developmentKey: undefined,
    held: undefined,
    voters: () => [],
    findCaller: (token: string) => known.get(token),
  };
  const ctx = pass(keys, `Bearer ${KEY}`);
  const isKnown = findRecheck(ctx as never);
  assert.ok(isKnown());
  known.set(KEY, caller('farm'));
  assert.not(isKnown());
  known.delete(KEY);
  assert.not(isKnown());
});

const RIGHTS: Readonly<Record<Action, readonly Role[]>> = {
  'create twins': ['controller', 'operator'],
  'change twins': ['controller', 'operator'],
  'import in bulk': ['controller', 'operator'],
  'import records': ['operator'],
  'manage webhooks': ['controller', 'operator'],
  propose: ['representative', 'operator'],
  withdraw: ['representative', 'operator'],
  vote: ['voter'],
  veto: ['operator'],
  execute: ['operator'],
  export: ['operator'],
  'issue credits': ['issuer', 'operator'],
};

test('each action is open to exactly these roles, and each of them is enough', () => {
  assert.equal(Object.keys(PERMITTED).sort(), Object.keys(RIGHTS).sort());
  assert.equal([...ROLES], ['controller', 'representative', 'voter', 'issuer', 'operator']);
  for (const [action, permitted] of Object.entries(RIGHTS))
    for (const role of ROLES) {
      const caller = { principal: 'did:x:a', roles: new Set([role]), tenant: 'default' };
      const act = () => requireRole(caller, action as Action);
      if (permitted.includes(role)) act();
      else assert.throws(act, (error: TwinlineError) => error.reason === 'role-missing', `${role} may not ${action}`);
    }
});

test('who may not is told which role it takes, and which the key has', () => {
  const message = (action: Action, ...roles: Role[]) => {
    try {
      requireRole({ principal: 'did:x:a', roles: new Set(roles), tenant: 'default' }, action);
    } catch (error) {
      return (error as TwinlineError).message;
    }
    return '';
  };
  assert.is(
    message('propose', 'voter', 'issuer'),
    'To propose needs the role representative or operator; this API key has voter, issuer.',
  );
  assert.is(message('vote'), 'To vote needs the role voter; this API key has none.');
  assert.is(message('vote', 'operator', 'voter'), '');
});

test.run();

// The audit log: entries in order, whoever writes at the same time; any change, removal or insertion in the middle is found; and what a
// server writes into it.

import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SimulatedClock } from '../../../lib/clock.ts';
import { TwinlineError } from '../../../lib/errors.ts';
import { memoryDocuments } from '../../../lib/store/memory/index.ts';
import type { DocumentStore } from '../../../lib/store/store.ts';
import {
  AUDIT_HEAD_KIND,
  AUDIT_KIND,
  AUDIT_KINDS,
  type AuditEntry,
  formatId,
  HEAD_ID,
} from '../../../server/audit/audit.ts';
import { readAudit, verifyAudit } from '../../../server/audit/read.ts';
import { auditLog } from '../../../server/audit/writer.ts';
import { flowFiles } from '../../../server/menus/files.ts';
import { accountDesk } from '../../../server/ussd/account-desk.ts';
import { flowFixture } from '../../support/flow-fixture.ts';
import { withFolder } from '../../support/process.ts';
import { asker, COOKING, created, didOf, files, KEYS, PROTOCOL, path, view, YES } from '../domain/place.ts';
import { AUDIT_KEYS } from '../support/audit.ts';
import { run } from '../support/command.ts';
import { DIAL, json, type Served, withServer } from '../support/serve.ts';

const test = suite('audit log');
const RESTORED = '. It was removed, or the store was restored without it';
const EVENT = { action: 'account.unlock', by: 'cli', details: { phone: 'alias', b: 1, a: { y: 1, x: [2] } } } as const;

async function fresh() {
  const clock = new SimulatedClock();
  const documents = memoryDocuments({ clock });
  await documents.declare(AUDIT_KINDS);
  const lines: unknown[] = [];
  const log = { warn: (line: unknown) => void lines.push(line) };
  return { documents, clock, lines, audit: auditLog({ documents, keyring: AUDIT_KEYS, clock, log }) };
}

async function all(documents: DocumentStore, after = 0): Promise<AuditEntry[]> {
  const entries: AuditEntry[] = [];
  for await (const entry of readAudit(documents, after)) entries.push(entry);
  return entries;
}

test('each entry is bound to the one before and is a line of the log; the newest of an action is found', async () => {
  const { documents, audit, lines } = await fresh();
  for (let count = 0; count < 4; count++) await audit.append(EVENT);
  const entries = await all(documents);
  assert.equal(
    entries.map(({ previous }) => previous),
    ['', ...entries.slice(0, 3).map(({ mac }) => mac)],
  );
  assert.equal(
    lines.map((line) => (line as { number: number }).number),
    [1, 2, 3, 4],
  );
  assert.is((await audit.findLast('account.unlock'))?.number, 4);
  assert.is(await audit.findLast('records.import'), undefined);
  assert.equal(await all(documents, 3), entries.slice(3));
});

test('a changed, a removed and an inserted entry are found, and one of a key that is not known', async () => {
  const broken = async (harm: (documents: Awaited<ReturnType<typeof fresh>>['documents']) => Promise<unknown>) => {
    const { documents, audit } = await fresh();
    for (let count = 0; count < 4; count++) await audit.append(EVENT);
    await harm(documents);
    return verifyAudit(documents, AUDIT_KEYS);
  };
  const change = (number: number, part: object) =>
    broken(async (documents) => {
      const { body, revision } = (await documents.get(AUDIT_KIND, formatId(number)))!;
      await documents.replace(AUDIT_KIND, formatId(number), revision, { ...body, ...part });
    });
  const changed = { kind: 'broken', number: 2, why: 'it was changed after it was written' };
  assert.equal(await change(2, { by: 'somebody' }), changed);
  assert.equal(await change(2, { details: { phone: 'alias', b: 1, a: { y: 1, x: [3] } } }), changed);
  const asList = [
    [
      'a',
      [
        ['x', [2]],
        ['y', 1],
      ],
    ],
    ['b', 1],
    ['phone', 'alias'],
  ];
  for (const details of [asList, { ...EVENT.details, a: asList[0]![1] }])
    assert.equal(await change(2, { details }), changed);
  assert.equal(await change(2, { at: '2020-01-01T00:00:00.000Z' }), changed);
  assert.equal(
    await change(2, { details: { a: { x: [2], y: 1 }, b: 1, phone: 'alias' } }),
    {
      ...(await broken(async () => {})),
    },
    'the order of fields says nothing',
  );
  assert.match(JSON.stringify(await change(2, { kid: 'gone' })), /the key \\"gone\\", which is not configured/);
  const removed = await broken((documents) => documents.remove(AUDIT_KIND, formatId(3)));
  assert.equal(removed, { kind: 'broken', number: 3, why: `it is missing: entry 4 comes in its place${RESTORED}` });
  const other = await broken(async (documents) => {
    const { body, revision } = (await documents.get(AUDIT_KIND, formatId(1)))!;
    await documents.replace(AUDIT_KIND, formatId(3), revision + 2, { ...body, number: 3 });
    const third = (await documents.get(AUDIT_KIND, formatId(3)))!;
    await documents.replace(AUDIT_KIND, formatId(3), third.revision, { ...body, number: 3 });
  });
  assert.is(other.kind === 'broken' && other.number, 3);
});

type Bench = Awaited<ReturnType<typeof fresh>>;
const cut = async ({ documents }: Bench, ...numbers: number[]) => {
  for (const number of numbers) await documents.remove(AUDIT_KIND, formatId(number));
};
/** Changes the head, and takes away the copies of the newest entries that it has. */
const behead = async ({ documents }: Bench, part: object = {}) => {
  const { body, revision } = (await documents.get(AUDIT_HEAD_KIND, HEAD_ID))!;
  await documents.replace(AUDIT_HEAD_KIND, HEAD_ID, revision, { ...body, entries: [], ...part });
};
/** By another process. */
const append = ({ documents, clock }: Bench) =>
  auditLog({ documents, keyring: AUDIT_KEYS, clock, log: { warn: () => {} } }).append(EVENT);
const cutTwo = (place: Bench) => behead(place).then(() => cut(place, 3, 4));
const shorten = async (place: Bench) => {
  const { mac } = (await all(place.documents))[1]!;
  await behead(place, { number: 2, mac });
  await cut(place, 3, 4);
};
const takeHead = async (place: Bench) => {
  await place.documents.remove(AUDIT_HEAD_KIND, HEAD_ID);
  await cut(place, 3, 4);
};
const setBack = async (place: Bench) => {
  const { body } = (await place.documents.get(AUDIT_HEAD_KIND, HEAD_ID))!;
  await place.audit.append(EVENT);
  await cut(place, 5);
  await behead(place, body);
  await place.audit.append(EVENT);
};

/** What is done to four entries, what is found then, and which entry is the first that is checked. */
const CUTS: readonly [done: readonly ((place: Bench) => Promise<unknown>)[], found: RegExp, after?: number][] = [
  // The newest is in the head as well.
  [[(place) => cut(place, 4)], /^4 whole/],
  [[cutTwo], /^3: it is missing: 4 entries were written/],
  [[cutTwo, append], /^3: it is missing: entry 5 comes in its place/],
  [[cutTwo, ({ audit }) => audit.append(EVENT)], /^3: it is missing: entry 5 comes in its place/],
  [[cutTwo, append, append], /^2 whole/, 4],
  [[shorten], /^3: the head of the log.* was changed/],
  [[shorten, append], /^3: the head of the log was changed.* when it was written/],
  [[takeHead], /^3: the head of the log.* is missing/],
  [[takeHead, append], /^3: the head of the log was missing when it was written/],
  // A process remembers how far it was.
  [[setBack], /^5: it is missing: entry 6/],
];

test('that the newest entries are missing is known, also after the log went on; so is a head that is missing, changed or older', async () => {
  for (const [done, found, after = 0] of CUTS) {
    const place = await fresh();
    for (let count = 0; count < 4; count++) await place.audit.append(EVENT);
    for (const work of done) await work(place);
    const verdict = await verifyAudit(place.documents, AUDIT_KEYS, after);
    assert.match('why' in verdict ? `${verdict.number}: ${verdict.why}` : `${verdict.entries} whole`, found);
  }
});

// Of one test only.
const TOKEN = 'q8ZkW3mT5vXb7NcR1yJ0dLfGhPsAeUiO';
const KEY = 'c4b1e0f3a2d59687786950a1b2c3d4e5f60718293a4b5c6d7e8f9012a3b4c5d7';
const NRC = '884213/77/1';

test('private values are shown to an operator who asks, and the audit log of the server says so; twinline audit reads it', () =>
  withFolder(async (folder) => {
    writeFileSync(join(folder, 'main.flow.json'), JSON.stringify(flowFixture('private')));
    const settings = { DATA_DIR: join(folder, 'data'), PIN_ENCRYPTION_KEY: KEY };
    const env = { ...settings, OPERATOR_TOKEN: TOKEN, MENUS_DIR: folder };
    const headers = { authorization: `Bearer ${TOKEN}` };
    await withServer({ env }, async (server) => {
      for (const text of ['', NRC]) await server.ussd({ ...DIAL, sessionId: 'telecom-9', text });
      const stream = await fetch(`${server.url}/inspector/stream`, { headers });
      const reader = stream.body!.getReader();
      let seen = '';
      while (!seen.includes('"actor"') && !seen.includes('sessionId'))
        seen += new TextDecoder().decode((await reader.read()).value);
      await reader.cancel();
      assert.not.ok(seen.includes(NRC));
      assert.match(seen, /"nrc":"\*{4}"/);
      const actor = /"sessionId":"([^"]+)"/.exec(seen)![1]!;
      const ask = (name: string, more = {}) =>
        fetch(`${server.url}/inspector/sessions/${name}/private`, { method: 'POST', headers: { ...headers, ...more } });
      const answer = await ask(actor);
      assert.equal([answer.status, await answer.json()], [200, { values: { nrc: NRC } }]);
      assert.is(answer.headers.get('cache-control'), 'no-store');
      assert.is((await ask('nobody')).status, 404);
      assert.is((await ask(actor, { authorization: 'Bearer another' })).status, 401);
      const debug = await server.ask('/api/ussd/debug/telecom-9', { headers });
      assert.equal((debug.json() as { debugInfo: unknown }).debugInfo, {
        state: 'sure',
        context: {
          sessionId: 'telecom-9',
          phoneNumber: DIAL.phoneNumber,
          message: 'Is it ***********?\n1. Yes\n0. Back',
          isAuthenticated: false,
        },
        status: 'active',
      });
      assert.is((await server.ask('/api/ussd/debug/nobody', { headers })).status, 404);
      assert.not.ok(JSON.stringify(server.logged).includes(NRC));
    });
    const shown = await run(['audit', 'show', '--json'], settings);
    const entries = shown.out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    assert.equal(
      entries.map(({ number, action }) => [number, action]),
      [
        [1, 'session.private'],
        [2, 'session.shown'],
      ],
    );
    assert.is(entries[1].by, entries[0].by);
    assert.not.match(JSON.stringify(entries[1]), /9712300/);
    assert.match(entries[0].by, /^token [\w-]{8}$/);
    assert.equal([entries[0].details.session, entries[0].details.names], ['telecom-9', ['nrc']]);
    assert.not.ok(shown.out.includes(NRC));
    const verified = await run(['audit', 'verify'], settings);
    assert.equal([verified.code, /^✓ 2 entries are whole/.test(verified.out)], [0, true], verified.out);
    assert.match(
      (await run(['audit', 'show'], settings)).out,
      /token [\w-]{8}: an operator was shown private values of a session/,
    );
    const other = await run(['audit', 'verify'], {
      ...settings,
      PIN_ENCRYPTION_KEY: 'd4b1e0f3a2d59687786950a1b2c3d4e5f60718293a4b5c6d7e8f9012a3b4c5d7',
    });
    assert.is(other.code, 78);
    for (const args of [[], ['sho'], ['show', 'x'], ['show', '--after', '-1']])
      assert.is((await run(['audit', ...args], settings)).code, 2, args.join(' '));
  }));

test('rules of votes that are others than at the last start are noted once', () =>
  withFolder(async (folder) => {
    const file = join(folder, 'governance.json');
    const settings = { DATA_DIR: join(folder, 'data'), PIN_ENCRYPTION_KEY: KEY };
    const start = (env: object) => withServer({ env: { ...settings, ...env } }, async () => {});
    await start({});
    writeFileSync(file, JSON.stringify({ quorum: '0.9' }));
    await start({ GOVERNANCE_FILE: file });
    await start({ GOVERNANCE_FILE: file });
    writeFileSync(file, JSON.stringify({ quorum: '0.8' }));
    await start({ GOVERNANCE_FILE: file });
    const { out } = await run(['audit', 'show', '--json'], settings);
    const entries = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    assert.equal(
      entries.map(({ action, by }) => [action, by]),
      Array(2).fill(['governance.changed', 'server']),
    );
    assert.is(entries[1].details.before, entries[0].details.digest);
  }));

test('what votes have decided, what an operator stops and which keys are read is noted', () =>
  withFolder(async (folder) => {
    const data = { DATA_DIR: join(folder, 'data'), PIN_ENCRYPTION_KEY: KEY };
    const env: Record<string, string> = { ...data, ...files(folder) };
    const decide = async ({ ask }: Served): Promise<readonly [verified: string, stopped: string]> => {
      const by = asker(() => ask);
      created(await by('owner', 'POST /v1/protocols', PROTOCOL));
      const open = async (): Promise<[string, string]> => {
        const { did } = created(await by('owner', 'POST /v1/domains', { type: 'Project', class: COOKING }));
        return [did, created(await by('rep', `POST ${path(did)}/proposals`, { kind: 'verify' })).id];
      };
      const [did, proposal] = await open();
      for (const name of ['ann', 'bob'] as const) created(await by(name, `POST /v1/proposals/${proposal}/votes`, YES));
      const { status } = view(await by('owner', `GET ${path(did)}`));
      assert.is(status, 'Verified');
      const [, stopped] = await open();
      view(await by('operator', `POST /v1/proposals/${stopped}/veto`, { reason: 'Two meters are missing.' }));
      return [proposal, stopped];
    };
    const [verified, stopped] = await withServer({ env }, decide);
    writeFileSync(env.API_KEYS_FILE!, JSON.stringify(KEYS.slice(1)));
    await withServer({ env }, async () => {});
    const { out } = await run(['audit', 'show', '--json'], data);
    const entries = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    assert.equal(
      entries.map(({ action, by, details }) => [action, by, details.proposal ?? details.keys ?? '']),
      [
        ['governance.changed', 'server', ''],
        ['keys.changed', 'server', KEYS.length],
        ['proposal.executed', 'votes', verified],
        ['proposal.vetoed', didOf('operator'), stopped],
        ['keys.changed', 'server', KEYS.length - 1],
      ],
    );
    assert.equal([entries[2].details.kind, entries[2].details.status], ['verify', 'Verified']);
    for (const { key } of KEYS) assert.not.ok(out.includes(key), key);
  }));

test('an export, issued credits, credits that were added, and files of menus that were written in a browser are noted with who did it', () =>
  withFolder(async (folder) => {
    const menus = join(folder, 'menus');
    cpSync('menus', menus, { recursive: true });
    const data = { DATA_DIR: join(folder, 'data'), PIN_ENCRYPTION_KEY: KEY };
    const env = { ...data, ...files(folder), MENUS_DIR: menus, PLUGINS: 'credits' };
    await withServer({ env }, async ({ ask, url }) => {
      const by = asker(() => ask);
      created(await by('owner', 'POST /v1/protocols', PROTOCOL));
      const { did } = created(await by('owner', 'POST /v1/domains', { type: 'Project', class: COOKING }));
      const { id } = created(await by('rep', `POST ${path(did)}/proposals`, { kind: 'verify' }));
      for (const name of ['ann', 'bob'] as const) created(await by(name, `POST /v1/proposals/${id}/votes`, YES));
      created(await by('issuer', `POST ${path(did)}/credits`, { amount: '12.5' }));
      assert.is((await by('operator', 'GET /v1/export')).status, 200);
      const grant = json({ amount: 20, plan: 'starter' }, { 'idempotency-key': 'once' });
      for (const _ of [1, 2]) assert.is((await ask('/credits/did:key:zUser', grant)).status, 201);
      const { flow } = (await ask('/studio/flows/main')).json() as { flow: { text: string; hash: string } };
      const save = { flow: 'main', text: flow.text, base: flow.hash };
      const post = async (where: string, body: object) => {
        const answer = await ask(where, json(body, { origin: url }));
        assert.is(answer.status, 200, answer.text);
      };
      await post('/studio/save', save);
      await post('/studio/new', { flow: 'fresh', starter: 'menu' });
      await ask('/simulator/dial', json({ ...DIAL, sessionId: 'sim-1' }, { origin: url }));
      const dialogue = { sessionId: 'sim-1', phoneNumber: DIAL.phoneNumber, inputs: [''], name: 'a dial' };
      await post('/simulator/flow-test', dialogue);
    });
    const { out } = await run(['audit', 'show', '--json'], data);
    const noted = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
      .filter(({ action }) => /^(records|credits|menus)/.test(action));
    // The journal is read beside what is done at the door.
    const isOwn = ({ action }: { action: string }) => action !== 'credits.issued';
    assert.equal(
      noted
        .filter(isOwn)
        .map(({ action, by, details }) => [action, by, details.amount ?? details.flow ?? '', details.wrote ?? []]),
      [
        ['records.export', didOf('operator'), '', []],
        ['credits.added', 'loopback', '', []],
        ['credits.added', 'loopback', '', []],
        ['menus.edited', 'loopback', 'main', ['flow']],
        ['menus.edited', 'loopback', 'fresh', ['flow', 'tests']],
        ['menus.edited', 'loopback', 'main', ['tests']],
      ],
    );
    const [{ by, details: issued }] = noted.filter((entry) => !isOwn(entry));
    assert.equal(
      [by, issued.amount, issued.tenant, Number.isInteger(issued.event)],
      [didOf('issuer'), '12.5', 'one', true],
    );
    const added = { did: 'did:key:zUser', credits: 20, plan: 'starter' };
    assert.equal(
      noted.filter(({ action }) => action === 'credits.added').map(({ details }) => details),
      [
        { ...added, before: 0, repeated: false },
        { ...added, before: 20, repeated: true },
      ],
    );
    const shown = await run(['audit', 'show'], data);
    assert.match(
      shown.out,
      /loopback: an operator wrote files of a menu in the browser\n +flow="main" wrote=\["flow"\]/,
    );
    assert.is((await run(['audit', 'verify'], data)).code, 0);
    assert.not.match(out, DIAL.phoneNumber.slice(1));
  }));

test('what is noted before it is done is not done when that cannot be written', () =>
  withFolder(async (folder) => {
    const refuse = () => Promise.reject(new TwinlineError('ERR_STORE', 'The store is away.'));
    const done: string[] = [];
    const standing = async () => ({ customerId: 'C1', state: 'held', failuresInWindow: 10, locks: 3 });
    const unlock = async () => done.push('unlock');
    const desk = accountDesk({
      accounts: { standing, unlock },
      aliases: (phone: string) => [['k', phone]],
      audit: { append: refuse },
    } as never);
    const file = join(folder, 'main.flow.json');
    writeFileSync(file, '{}');
    const files = flowFiles(folder);
    const { flow } = await files.read('main');
    const deeds = [
      () => desk.unlock('+260971230001', 'cli'),
      () => files.write('main', { flow: { text: '{"a":1}', base: flow.hash }, note: refuse }),
      () => files.create('other', { flow: '{}', tests: '{}', note: refuse }),
    ];
    for (const deed of deeds)
      assert.is(await deed().then(String, ({ code }: { code: string }) => code), 'ERR_STORE', String(deed));
    assert.equal([done, readFileSync(file, 'utf8'), readdirSync(folder)], [[], '{}', ['main.flow.json']]);
  }));

test.run();

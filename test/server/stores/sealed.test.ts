// Changing PIN_ENCRYPTION_KEY: what each key seals is counted, moved to the active key, and missed when its key is gone.

import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { pinVault } from '../../../lib/account/pin.ts';
import { ACCOUNT_KINDS, ACCOUNTS, type Account } from '../../../lib/account/records.ts';
import { DELEGATION, DELEGATION_KINDS, delegationSeal } from '../../../lib/delegation/delegations.ts';
import { openSecret, sealSecret } from '../../../lib/domain/feed/webhook.ts';
import { DOMAIN_KINDS, WEBHOOK } from '../../../lib/domain/kinds.ts';
import type { JsonObject } from '../../../lib/json/json.ts';
import { parseKeyring } from '../../../lib/keyring.ts';
import { openText, readKeyId, sealText } from '../../../lib/sealing.ts';
import { memoryDocuments } from '../../../lib/store/memory/index.ts';
import { sqliteDocuments } from '../../../lib/store/sqlite/index.ts';
import type { DocumentStore } from '../../../lib/store/store.ts';
import { keysInUse } from '../../../server/doctor/keys.ts';
import { countSealed, resealAll } from '../../../server/stores/sealed.ts';
import { withFolder } from '../../support/process.ts';
import { numbersFrom } from '../../support/random.ts';
import { run } from '../support/command.ts';

const test = suite('changing the PIN key');
const KEYS = {
  a: 'a:8f1de1e2c1a53b2d7f6a90e4b35c7d2818aa4cfe0b61d9f3e27c5b8490ad6f13',
  b: 'b:0b61d9f3e27c5b8490ad6f138f1de1e2c1a53b2d7f6a90e4b35c7d2818aa4cfe',
  c: 'c:c1a53b2d7f6a90e4b35c7d2818aa4cfe0b61d9f3e27c5b8490ad6f138f1de1e2',
};
type KeyName = keyof typeof KEYS;
const ring = (...names: KeyName[]) => parseKeyring(names.map((name) => KEYS[name]).join());
const derive = async (pin: Buffer) => Buffer.alloc(32, pin);
const vaultOf = (...names: KeyName[]) => pinVault({ keyring: ring(...names), derive });
const phone = (n: number) => `+2609712${String(n).padStart(5, '0')}`;

/** One account, webhook and delegation for each name of a key. */
async function fill(documents: DocumentStore, keys: readonly KeyName[]): Promise<void> {
  await documents.declare([...ACCOUNT_KINDS, ...DOMAIN_KINDS, ...DELEGATION_KINDS]);
  for (const [n, key] of keys.entries()) {
    const keyring = ring(key);
    const pin = await vaultOf(key).seal('2580', phone(n));
    await documents.insert(ACCOUNTS, `C${n}`, { customerId: `C${n}`, phone: phone(n), pin });
    const secret = sealSecret(keyring, { tenant: 't', id: `w${n}` }, `whsec_${n}`);
    await documents.insert(WEBHOOK, `w${n}`, { tenant: 't', created: n, secret });
    const sealed = n % 2 ? null : sealText(keyring, delegationSeal(`did:${n}`), `token ${n}`);
    await documents.insert(DELEGATION, `did:${n}`, { dueAt: null, machine: { context: { sealed } } });
  }
}

test('everything moves to the active key and opens as before, whatever was written meanwhile; a second run moves nothing', async () => {
  const next = numbersFrom(Number(process.env.TEST_SEED ?? 1));
  const keys = Array.from({ length: 40 }, () => (['a', 'b'] as const)[Math.floor(next() * 2)]!);
  const documents = memoryDocuments();
  await fill(documents, keys);
  // A PIN that changes between the read and the write of the reseal.
  const changed = keys.indexOf('a');
  const racing: DocumentStore = {
    ...documents,
    replace: async (kind, id, revision, body) => {
      if (id !== `C${changed}` || revision !== 1) return documents.replace(kind, id, revision, body);
      const pin = await vaultOf('a').seal('1379', phone(changed));
      await documents.replace(ACCOUNTS, id, 1, { customerId: id, phone: phone(changed), pin });
      return documents.replace(kind, id, revision, body);
    },
  };
  const older = keys.filter((key) => key === 'a').length;
  const delegations = keys.filter((_, n) => n % 2 === 0);
  const expected = { moved: 2 * older + delegations.filter((key) => key === 'a').length, unopened: {} };
  const report = await resealAll({ documents: racing, keyring: ring('b', 'a'), dryRun: false }, () => {});
  assert.equal({ ...report, current: 0 }, { ...expected, current: 0 });
  assert.equal(await countSealed(documents), {
    accounts: { b: 40 },
    'webhook secrets': { b: 40 },
    delegations: { b: delegations.length },
  });
  for (const n of keys.keys()) {
    const account = (await documents.get<Account>(ACCOUNTS, `C${n}`))!.body;
    const pin = n === changed ? '1379' : '2580';
    assert.is((await vaultOf('b').check(pin, phone(n), account.pin)).match, true, `PIN ${n}`);
    const secret = (await documents.get<{ secret: string }>(WEBHOOK, `w${n}`))!.body.secret;
    assert.is(openSecret(ring('b'), { tenant: 't', id: `w${n}` }, secret), `whsec_${n}`);
    const { machine } = (await documents.get<JsonObject & { machine: { context: { sealed: string | null } } }>(
      DELEGATION,
      `did:${n}`,
    ))!.body;
    const { sealed } = machine.context;
    if (sealed !== null) assert.is(openText(ring('b'), delegationSeal(`did:${n}`), sealed), `token ${n}`);
  }
  assert.is((await resealAll({ documents, keyring: ring('b', 'a'), dryRun: false }, () => {})).moved, 0);
});

test('stopped after any document, the next run goes on; a dry run writes nothing', async () => {
  const keyring = ring('b', 'a');
  for (let writes = 0; writes < 6; writes++) {
    const documents = memoryDocuments();
    await fill(documents, ['a', 'b', 'a']);
    assert.is((await resealAll({ documents, keyring, dryRun: true }, () => {})).moved, 6);
    let left = writes;
    const dying: DocumentStore = {
      ...documents,
      replace: (...args) => {
        if (left-- === 0) throw new Error('killed');
        return documents.replace(...args);
      },
    };
    await resealAll({ documents: dying, keyring, dryRun: false }, () => {}).catch(() => {});
    const { moved, current } = await resealAll({ documents, keyring, dryRun: false }, () => {});
    assert.equal([moved, current], [6 - writes, 2 + writes]);
  }
});

test('a key that still seals something and is not configured is told by doctor, upgrade and reseal, with exit code 1', () =>
  withFolder(async (folder) => {
    const env = { DATA_DIR: folder, PORT: '0' };
    const documents = sqliteDocuments({ path: join(folder, 'twinline.db') });
    await fill(documents, ['a', 'b', 'b']);
    await documents.close();
    const withKeys = (...names: KeyName[]) => ({
      ...env,
      PIN_ENCRYPTION_KEY: names.map((name) => KEYS[name]).join(),
      ORACLE_KEY: 'MgCYKXoHVy7Vk4/QjcEGi+MCqjntUiasxXJ8uJKY0qh11e+0Bs8WsdqGK7xothgrDzzWD0ME7ynPjz2okXDh8537lId8=',
    });
    for (const verb of [['doctor'], ['upgrade', '--check']]) {
      const { code, out } = await run(verb, withKeys('b'));
      assert.is(code, 1, out);
      assert.match(
        out,
        /The key "a" is not configured, and only it opens some data \(accounts: 1, webhook secrets: 1, delegations: 1\)/,
      );
    }
    const kept = await run(['account', 'reseal'], withKeys('b'));
    assert.is(kept.code, 1, kept.out);
    assert.match(kept.out, /3 documents sealed with the key "a" cannot be opened/);
    assert.match(
      (await run(['doctor'], withKeys('b', 'a'))).out,
      /! older keys .* accounts: 1, webhook secrets: 1, delegations: 1/,
    );
    const moved = await run(['account', 'reseal'], withKeys('b', 'a'));
    assert.is(moved.code, 0, moved.err);
    assert.match(moved.out, /^3 documents moved to the key "b", 5 had it already/);
    const { out } = await run(['doctor'], withKeys('b', 'a'));
    assert.match(out, /✓ the older keys seal nothing any more: drop them/);
    assert.is((await run(['upgrade', '--check'], withKeys('b'))).code, 0);
  }));

test('what the doctor says follows from the counts alone', () => {
  const counts = { accounts: { a: 2, b: 1 }, sessions: { b: 3 } };
  const levels = (...names: KeyName[]) => keysInUse(counts, ring(...names)).map(({ level }) => level);
  assert.equal(levels('a', 'b'), ['advice']);
  assert.equal(levels('c'), ['broken', 'broken']);
  assert.equal(
    keysInUse({}, ring('a')).map(({ level }) => level),
    ['fine'],
  );
});

test('whoever logs in to an account whose key is gone is counted as trouble, with the reason', async () => {
  const reasons: string[] = [];
  const vault = pinVault({ keyring: ring('b'), derive, onUnopened: ({ message }) => void reasons.push(message) });
  const record = await vaultOf('a').seal('2580', phone(1));
  assert.is(readKeyId(record), 'a');
  const refusal = await vault.check('2580', phone(1), record).catch((error: Error) => error.message);
  assert.match(String(refusal), /"a", which is not configured/);
  assert.is(reasons.length, 1);
});

test.run();

// The ledger of the audit log: of every deed as many entries as were acknowledged at least, and as were begun at most, whoever writes
// at the same time and wherever a process dies.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SimulatedClock } from '../../../lib/clock.ts';
import { bulk } from '../../../lib/domain/bulk/bulk.ts';
import { idempotency } from '../../../lib/domain/idempotency.ts';
import { CREDIT, DOMAIN } from '../../../lib/domain/kinds.ts';
import { verification } from '../../../lib/domain/verification.ts';
import { credits } from '../../../lib/domain/voting/credits.ts';
import type { JsonObject } from '../../../lib/json/json.ts';
import { memoryDocuments } from '../../../lib/store/memory/index.ts';
import type { DocumentStore } from '../../../lib/store/store.ts';
import {
  AUDIT_HEAD_KIND,
  AUDIT_KIND,
  AUDIT_KINDS,
  type AuditEntry,
  computeMac,
  formatId,
} from '../../../server/audit/audit.ts';
import { copyAudit } from '../../../server/audit/copy.ts';
import { auditJournal } from '../../../server/audit/journal.ts';
import { readAudit, verifyAudit } from '../../../server/audit/read.ts';
import { auditLog } from '../../../server/audit/writer.ts';
import { mortal } from '../../agent/mortal.ts';
import { caller, governance, operator, polls, rep, voter } from '../../domain/voting.ts';
import { AUDIT_KEYS } from '../support/audit.ts';
import { importedLine, newBook } from '../support/deeds.ts';

const test = suite('ledger of the audit log');
const RULES = governance({ ann: 1 });
const issuer = caller('issuer', 'issuer');

/** What one process has: its audit log, and how it reads the journal. */
function openProcess(documents: DocumentStore, clock: SimulatedClock) {
  const audit = auditLog({ documents, keyring: AUDIT_KEYS, clock, log: { warn: () => {} } });
  return { audit, journal: auditJournal({ audit, documents }) };
}

async function openStore() {
  const clock = new SimulatedClock();
  const documents = memoryDocuments({ clock });
  await documents.declare(AUDIT_KINDS);
  return { clock, documents };
}

async function readAll(documents: DocumentStore): Promise<AuditEntry[]> {
  const entries: AuditEntry[] = [];
  for await (const entry of readAudit(documents)) entries.push(entry);
  return entries;
}

test('three processes that append at the same time lose nothing and refuse nobody; what waits is written together', async () => {
  const { clock, documents } = await openStore();
  let heads = 0;
  const counted: DocumentStore = {
    ...documents,
    replace: (kind, ...rest) => {
      if (kind === AUDIT_HEAD_KIND) heads++;
      return documents.replace(kind, ...rest);
    },
  };
  const append = (process: string) => {
    const { audit } = openProcess(counted, clock);
    const event = (key: number) => ({ action: 'account.unlock', by: process, details: { key } }) as const;
    return Promise.all(Array.from({ length: 80 }, (_, key) => audit.append(event(key))));
  };
  const answers = (await Promise.all(['a', 'b', 'c'].map(append))).flat();
  const entries = await readAll(documents);
  assert.equal(
    entries.map(({ number }) => number),
    Array.from({ length: 240 }, (_, at) => at + 1),
  );
  assert.is(new Set(entries.map(({ by, details: { key } }) => `${by} ${key}`)).size, 240);
  assert.equal(
    answers.sort((a, b) => a.number - b.number),
    entries,
  );
  assert.is((await verifyAudit(documents, AUDIT_KEYS)).kind, 'whole');
  assert.ok(heads < 24, `${heads} writes of heads`);
});

/** Votes, vetoes, credits, an import and a deed without a journal, in a process that dies after so many calls of its store; another goes on. */
async function dieAfter(calls: number, lastWrite: boolean) {
  const { clock, documents } = await openStore();
  const place = await polls(documents, clock, { rules: RULES });
  await openProcess(documents, clock).audit.readCursor();
  const propose = async () => {
    const did = await place.domain();
    return { did, id: (await place.service.propose(rep, { did, body: { kind: 'verify' } })).id };
  };
  const [verified, decided, stopped] = [await place.domain(), await propose(), await propose()];
  const { body } = (await documents.get<JsonObject>(DOMAIN, verified))!;
  await documents.replace(DOMAIN, verified, 1, { ...body, status: 'Verified' });

  const dying = mortal({ documents } as Parameters<typeof mortal>[0], { calls, lastWrite });
  const mine = dying.stores.documents;
  const { audit, journal } = openProcess(mine, clock);
  const service = verification({ documents: mine, clock, governance: RULES });
  const ledger = credits({ documents: mine, clock });
  const imports = bulk({ documents: mine, clock, idempotency: idempotency({ documents: mine, clock }) });
  const book = newBook();
  book.begin('proposal.executed', decided.id);
  const deed = async (kind: Parameters<typeof book.begin>[0], key: string, work: () => Promise<unknown>) => {
    book.begin(kind, key);
    await work();
    book.acknowledge(kind, key);
  };
  const unlock = async () => {
    await audit.append({ action: 'account.unlock', by: 'x', details: { phone: 'p' } });
    await mine.insert(AUDIT_KIND, 'the deed', {});
  };
  const readImport = async () => {
    const lines = (async function* () {
      const text = importedLine(1);
      yield { line: 1, text, value: JSON.parse(text) };
    })();
    const beforeRecords = async () => void (await audit.append({ action: 'records.importing', by: 'x', details: {} }));
    for await (const row of imports(operator, { lines, dryRun: false, beforeRecords })) assert.ok(row.did, 'refused');
  };
  const isDone = await Promise.race([
    dying.death.then(() => false),
    Promise.all([
      service.vote(voter('ann'), { id: decided.id, body: { vote: 'yes' } }),
      deed('proposal.vetoed', stopped.id, () => service.veto(operator, { id: stopped.id, body: {} })),
      ...['1', '2'].map((amount) =>
        deed('credits.issued', amount, () => ledger.issue(issuer, { did: verified, body: { amount } })),
      ),
      deed('account.unlock', 'p', unlock),
      deed('records.importing', '', readImport),
      journal.round().then(journal.round).then(journal.round),
    ]).then(() => true),
  ]);

  await clock.advance(60_000);
  while (await place.service.sweep());
  await openProcess(documents, clock).journal.catchUp();
  const entries = await readAll(documents);
  const told = `after ${calls} calls, the last one ${lastWrite ? 'done' : 'not done'}`;
  assert.equal(book.check(entries), [], told);
  assert.equal(await verifyAudit(documents, AUDIT_KEYS), {
    kind: 'whole',
    entries: entries.length,
    last: entries.at(-1),
  });
  const count = (action: string) => entries.filter((entry) => entry.action === action).length;
  const status = async (did: string) => (await documents.get<JsonObject>(DOMAIN, did))?.body.status;
  assert.is(count('proposal.executed'), (await status(decided.did)) === 'Verified' ? 1 : 0, told);
  const { items } = await documents.find<JsonObject>(CREDIT);
  assert.is(count('credits.issued'), items.filter(({ body: { state } }) => state === 'issued').length, told);
  if ((await documents.get(AUDIT_KIND, 'the deed')) !== undefined) assert.is(count('account.unlock'), 1, told);
  if ((await status(importedDid)) !== undefined) assert.is(count('records.importing'), 1, told);
  return isDone;
}
const importedDid = JSON.parse(importedLine(1)).did as string;

test('wherever a process dies between a deed and its entry, there is exactly one for what was done, and none too many', async () => {
  let calls = 0;
  while (!(await dieAfter(calls, true))) await dieAfter(calls++, false);
  assert.ok(calls > 50, `${calls} calls`);
});

/** As versions before the head wrote it, after the newest entry that is in its place. */
async function appendAsBefore(documents: DocumentStore, details: JsonObject): Promise<void> {
  const { items } = await documents.find<AuditEntry & JsonObject>(AUDIT_KIND, { descending: true, limit: 1 });
  const { number = 0, mac: previous = '' } = items[0]?.body ?? {};
  const event = { action: 'session.ended', by: 'old', details, at: '2026-01-01T00:00:00.000Z' } as const;
  const open = { ...event, number: number + 1, previous, kid: AUDIT_KEYS.active };
  await documents.insert(AUDIT_KIND, formatId(number + 1), { ...open, mac: computeMac(AUDIT_KEYS, open)! });
}

test('entries of earlier versions hold and are gone on with; an instance of one that writes meanwhile costs no entry', async () => {
  const { clock, documents } = await openStore();
  for (const key of ['a', 'b']) await appendAsBefore(documents, { key, more: { claims: ['x'] } });
  assert.is((await verifyAudit(documents, AUDIT_KEYS)).kind, 'whole');
  const { audit } = openProcess(documents, clock);
  for (const key of ['c', 'd']) await audit.append({ action: 'account.unlock', by: 'x', details: { key } });
  // As if the process had died before it copied the entry from the head to its place, which an old instance takes.
  await documents.remove(AUDIT_KIND, formatId(4));
  await appendAsBefore(documents, { key: 'e' });
  await openProcess(documents, clock).audit.append({ action: 'account.unlock', by: 'x', details: { key: 'f' } });
  const keys = (await readAll(documents)).map(({ number, details: { key } }) => `${number}${key}`);
  assert.is(keys.join(), '1a,2b,3c,4e,5d,6f');
  assert.is((await verifyAudit(documents, AUDIT_KEYS)).kind, 'whole');
  const { body, revision } = (await documents.get<AuditEntry & JsonObject>(AUDIT_KIND, formatId(2)))!;
  for (const details of [[['key', 'b']], { key: 'b', more: [['claims', ['x']]] }])
    await documents.replace(AUDIT_KIND, formatId(2), revision, { ...body, details } as never);
  assert.equal(await verifyAudit(documents, AUDIT_KEYS), {
    kind: 'broken',
    number: 2,
    why: 'it was changed after it was written',
  });
});

test('a copy in another store has the chain and its end, and goes on there without an entry for what was copied', async () => {
  const { clock, documents } = await openStore();
  const { audit } = openProcess(documents, clock);
  for (const key of [1, 2, 3]) await audit.append({ action: 'account.unlock', by: 'x', details: { key } });
  const { documents: other } = await openStore();
  for (const _ of [1, 2]) assert.is(await copyAudit({ from: documents, to: other, keyring: AUDIT_KEYS }), 3);
  assert.equal(await readAll(other), await readAll(documents));
  const there = openProcess(other, clock);
  await there.journal.catchUp();
  await there.audit.append({ action: 'account.unlock', by: 'x', details: { key: 4 } });
  assert.is((await readAll(other)).length, 4);
  assert.is((await verifyAudit(other, AUDIT_KEYS)).kind, 'whole');
  await other.remove(AUDIT_KIND, formatId(3));
  assert.is((await verifyAudit(other, AUDIT_KEYS)).kind, 'broken');
});

test.run();

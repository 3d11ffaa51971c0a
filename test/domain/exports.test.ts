// Exports as files: one that was cut, put together or reordered is told, one that only looks different is not, and lines without a
// manifest come to the same whatever order they are sent in. On a random world of twins, votes, credits and cards.

import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SimulatedClock } from '../../lib/clock.ts';
import { bulk, type LineResult } from '../../lib/domain/bulk/bulk.ts';
import { exportLines } from '../../lib/domain/bulk/export-lines.ts';
import { writeExport } from '../../lib/domain/bulk/manifest.ts';
import { readLines } from '../../lib/domain/bulk/ndjson.ts';
import type { Issuer } from '../../lib/domain/credential/status-list.ts';
import { statusLists } from '../../lib/domain/credential/status-list.ts';
import { NO_VOTES } from '../../lib/domain/find.ts';
import { idempotency } from '../../lib/domain/idempotency.ts';
import { DOMAIN_KINDS } from '../../lib/domain/kinds.ts';
import { credits } from '../../lib/domain/voting/credits.ts';
import { memoryDocuments } from '../../lib/store/memory/index.ts';
import type { DocumentStore } from '../../lib/store/store.ts';
import { caller, governance, operator, owner, polls, rep, voter } from './voting.ts';

const test = suite('exports');

const seed = Number(process.env.TEST_SEED ?? 1);
const RULES = governance({ ann: 1, bob: 1 });
const SIGNER: Issuer = { did: 'did:key:a', issue: async (credential) => credential };

interface Ground {
  readonly documents: DocumentStore;
  readonly clock: SimulatedClock;
}

async function emptyGround(now = 0): Promise<Ground> {
  const clock = new SimulatedClock();
  await clock.advance(now);
  const documents = memoryDocuments({ clock });
  await documents.declare(DOMAIN_KINDS);
  return { documents, clock };
}

async function exportOf({ documents }: Ground): Promise<string[]> {
  const lines: string[] = [];
  const records = exportLines({ documents, settleVotes: NO_VOTES }, operator);
  for await (const line of writeExport(records, { version: '0.0.0', leftOut: ['keys'] })) lines.push(line);
  return lines;
}

async function importOf({ documents, clock }: Ground, text: string, more: { dryRun?: boolean; isPart?: boolean } = {}) {
  const lines = readLines(
    (async function* () {
      yield Buffer.from(text);
    })(),
  );
  const take = bulk({ documents, clock, idempotency: idempotency({ documents, clock }) });
  const rows: LineResult[] = [];
  for await (const row of take(operator, { lines, dryRun: false, ...more })) rows.push(row);
  return rows;
}

const refused = (rows: readonly LineResult[]) => rows.filter(({ error }) => error !== undefined);
const words = (rows: readonly LineResult[]) => refused(rows).map(({ error }) => (error as Error).message);

/** Protocols with versions and a parent, twins with histories, an open vote, decided ones, credits, cards of two epochs. */
async function fullGround(): Promise<Ground> {
  const { documents, clock } = await emptyGround();
  const place = await polls(documents, clock, { rules: RULES });
  const { twins, service } = place;
  const verified = await place.twin();
  const parent = { type: 'Protocol', alsoKnownAs: 'did:x:child', parent: 'did:ixo:protocol/stove', properties: {} };
  await twins.protocols.create(owner, parent);
  const child = (await twins.create(owner, { body: { type: 'Organisation', class: 'did:x:child' } })).id;
  for (const burns of [2, 3]) {
    const patch = { type: 'merge', patch: { properties: { burns } } } as const;
    await twins.patch(owner, { did: verified, patch, expected: burns - 1 });
  }
  const cards = async (did: string) =>
    statusLists({ documents, issuers: [SIGNER], clock }).place(await twins.get(owner, did));
  for (const did of [verified, child]) await cards(did);
  const { id } = await service.propose(rep, { did: verified, body: { kind: 'verify' } });
  for (const name of ['ann', 'bob']) await service.vote(voter(name), { id, body: { vote: 'yes' } });
  await cards(verified);
  const issuing = credits({ documents, clock, settleVotes: service.settle });
  await issuing.issue(caller('issuer', 'issuer'), { did: verified, body: { amount: '1.5' } });
  await service.propose(rep, { did: child, body: { kind: 'verify' } });
  const ended = (await twins.create(owner, { body: { type: 'Device', class: 'did:ixo:protocol/stove' } })).id;
  await cards(ended);
  await twins.deactivate(owner, { did: ended });
  return { documents, clock };
}

test('an export goes into an empty store as it was, after a trial, and again without a change; its end counts what it has', async () => {
  const full = await fullGround();
  const lines = await exportOf(full);
  const { records, leftOut } = JSON.parse(lines.at(-1)!);
  assert.equal(leftOut, ['keys']);
  const kinds: Record<string, number> = {};
  for (const line of lines.slice(1, -1)) kinds[JSON.parse(line).kind] = (kinds[JSON.parse(line).kind] ?? 0) + 1;
  assert.equal(records, kinds);
  assert.equal(Object.keys(kinds).sort(), ['credit', 'domain', 'place', 'proposal', 'protocol', 'revision']);
  const other = await emptyGround(1_000);
  assert.equal(words(await importOf(other, lines.join(''), { dryRun: true })), []);
  assert.is((await exportOf(other)).length, 2);
  for (const isNew of [true, false]) {
    const rows = await importOf(other, lines.join(''));
    assert.equal(words(rows), []);
    assert.ok(rows.every((row) => 'isManifest' in row || (row.did !== undefined && row.created === isNew)));
    assert.equal(await exportOf(other), lines);
  }
});

test('a file that was cut, changed, reordered or put together is told; other line ends, a mark of byte order and empty lines are not', async () => {
  const lines = await exportOf(await fullGround());
  const last = lines.length - 1;
  const at = (fraction: number, most: number) => Math.floor(fraction * (most + 1));
  type Damage = (a: number, b: number) => readonly string[];
  const damages: { readonly [name: string]: Damage } = {
    cut: (a) => lines.slice(0, at(a, last - 1) + 1),
    'begun late': (a) => lines.slice(at(a, last - 1) + 1),
    'without a line': (a) => lines.filter((_, n) => n !== at(a, last)),
    swapped: (a, b) => {
      const [x, y] = [at(a, last), at(b, last)];
      return x === y ? lines.slice(1) : lines.map((_, n) => lines[n === x ? y : n === y ? x : n]!);
    },
    doubled: (a) => lines.flatMap((line, n) => (n === at(a, last) ? [line, line] : [line])),
    changed: (a) =>
      lines.map((line, n) => (n === 1 + at(a, last - 2) ? line.replace(/"revision":\d+/, '"revision":9') : line)),
    'with another behind it': () => [...lines, ...lines],
    'with another in it': (a) => [...lines.slice(0, at(a, last)), ...lines, ...lines.slice(at(a, last))],
    'with more behind it': () => [...lines, '{"type":"Device"}\n'],
  };
  const unit = fc.double({ min: 0, max: 0.999, noNaN: true });
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...Object.keys(damages)), unit, unit, async (name, a, b) => {
      const damaged = damages[name]!(a, b);
      const rows = await importOf(await emptyGround(1_000), damaged.join(''));
      const isBare = damaged.every((line) => !/"kind":"(export|end)"/.test(line.slice(0, 40)));
      const told = isBare ? rows.filter(({ warning }) => warning) : refused(rows);
      assert.ok(told.length > 0 || damaged.length === 0, `${name} ${a} ${b}`);
    }),
    { numRuns: 120, seed },
  );
  for (const [name, text] of Object.entries({
    CRLF: lines.join('').replaceAll('\n', '\r\n'),
    'a mark of byte order': `\ufeff${lines.join('')}`,
    'no last line end': lines.join('').trimEnd(),
    'empty lines': lines.join('\n'),
  }))
    assert.equal(words(await importOf(await emptyGround(1_000), text)), [], name);
  const newer = [lines[0]!.replace('"format":1', '"format":2'), ...lines.slice(1)].join('');
  const rows = await importOf(await emptyGround(), newer);
  assert.match(words(rows)[0]!, /has the format 2; this version reads 1/);
  assert.ok(
    rows.every(({ did }) => did === undefined),
    'nothing of it is taken',
  );
  assert.equal(
    words(await importOf(await emptyGround(1_000), newer, { isPart: true })),
    [],
    'who sends a part checks it',
  );
});

test('lines without a manifest are taken with a warning; in any order each is taken as it was, or refused until what it builds on is there, though votes end meanwhile', async () => {
  const records = (await exportOf(await fullGround())).slice(1, -1);
  const afterVotes = async () => {
    const ground = await emptyGround(200_000);
    const { service } = await polls(ground.documents, ground.clock, { rules: RULES });
    return { ground, close: () => service.sweep() };
  };
  const control = await afterVotes();
  const [first, ...rest] = await importOf(control.ground, records.join(''));
  assert.match(first!.warning ?? '', /have no first and last line/);
  assert.equal([words([first!, ...rest]), rest.filter(({ warning }) => warning)], [[], []]);
  await control.close();
  const expected = await exportOf(control.ground);
  assert.ok(expected.join('').includes('"status":"rejected"'), 'the open vote has ended');
  const order = fc.shuffledSubarray(records, { minLength: records.length });
  await fc.assert(
    fc.asyncProperty(order, async (shuffled) => {
      const { ground, close } = await afterVotes();
      let left = shuffled;
      for (let rounds = 0; left.length > 0; rounds++) {
        assert.ok(rounds < 12, `${left.length} lines are refused for good`);
        const rows = await importOf(ground, left.join(''));
        left = left.filter((_, n) => rows[n]!.error !== undefined);
        await close();
      }
      assert.equal(await exportOf(ground), expected);
    }),
    { numRuns: 30, seed },
  );
});

test.run();

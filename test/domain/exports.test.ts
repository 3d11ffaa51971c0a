// Exports as files: one that was cut, put together or reordered is told, one that only looks different is not, and lines without a
// manifest come to the same whatever order they are sent in. On a random world of twins, votes, credits and cards.

import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { LineResult } from '../../lib/domain/bulk/bulk.ts';
import { type Issuer, statusLists } from '../../lib/domain/credential/status-list.ts';
import { credits } from '../../lib/domain/voting/credits.ts';
import { emptyGround, exportFrom, type Ground, importInto } from './moving.ts';
import { caller, governance, operator, owner, polls, rep, voter } from './voting.ts';

const test = suite('exports');

const seed = Number(process.env.TEST_SEED ?? 1);
const RULES = governance({ ann: 1, bob: 1 });
const SIGNER: Issuer = { did: 'did:key:a', issue: async (credential) => credential };

/** An empty store, later than the others. */
async function laterGround(ms = 1_000): Promise<Ground> {
  const ground = await emptyGround();
  await ground.clock.advance(ms);
  return ground;
}
const exportOf = (ground: Ground) => exportFrom(ground, operator);
const importOf = (ground: Ground, text: string, more: { dryRun?: boolean; isPart?: boolean } = {}) =>
  importInto(ground, operator, { text, ...more });
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
  const other = await laterGround();
  assert.equal(words(await importOf(other, lines.join(''), { dryRun: true })), []);
  assert.is((await exportOf(other)).length, 2);
  for (const isNew of [true, false]) {
    const rows = await importOf(other, lines.join(''));
    assert.equal(words(rows), []);
    assert.ok(rows.every((row) => 'isManifest' in row || (row.did !== undefined && row.created === isNew)));
    assert.equal(await exportOf(other), lines);
  }
  const others = lines.slice(1, -1).join('').replaceAll('"action":"create"', '"action":"made"');
  const clashes = refused(await importOf(other, others)).map(({ error }) => (error as { reason?: string }).reason);
  assert.ok(clashes.length > 3 && clashes.every((reason) => reason === 'already-exists'), 'another history is refused');
  assert.equal(await exportOf(other), lines);
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
      const rows = await importOf(await laterGround(), damaged.join(''));
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
    assert.equal(words(await importOf(await laterGround(), text)), [], name);
  const newer = [lines[0]!.replace('"format":1', '"format":2'), ...lines.slice(1)].join('');
  const rows = await importOf(await emptyGround(), newer);
  assert.match(words(rows)[0]!, /has the format 2; this version reads 1/);
  assert.ok(
    rows.every(({ did }) => did === undefined),
    'nothing of it is taken',
  );
  assert.equal(words(await importOf(await laterGround(), newer, { isPart: true })), [], 'who sends a part checks it');
});

test('lines without a manifest are taken with a warning; in any order each is taken as it was, or refused until what it builds on is there, though votes end meanwhile', async () => {
  const records = (await exportOf(await fullGround())).slice(1, -1);
  const afterVotes = async () => {
    const ground = await laterGround(200_000);
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

// The registry on SQLite: what size does to reads and lists, and what a creation, a patch, a vote cost beside bare writes.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../lib/clock.ts';
import type { Caller, Role } from '../../lib/domain/caller.ts';
import { mintDid } from '../../lib/domain/did/did.ts';
import { DOMAIN, DOMAIN_KINDS } from '../../lib/domain/kinds.ts';
import { type Registry, registry } from '../../lib/domain/registry.ts';
import type { StoredDomain } from '../../lib/domain/twin/record.ts';
import { verification } from '../../lib/domain/verification.ts';
import { DEFAULT_GOVERNANCE } from '../../lib/domain/voting/governance.ts';
import { sqliteDocuments } from '../../lib/store/sqlite/index.ts';
import type { DocumentStore } from '../../lib/store/store.ts';
import { atOnce, type Case, measure, type Row, us } from './measure.ts';

const FEW = 1_000;
const MANY = 200_000;
const PER_TYPE = 100;
const PROTOCOL = 'did:x:bench';
const VOTERS = 16;
const POLLS = 64;

const caller = (name: string, ...roles: Role[]): Caller => ({
  principal: `did:x:${name}`,
  roles: new Set(roles),
  tenant: 'bench',
});
const OWNER = caller('owner', 'controller', 'representative');

interface Place {
  readonly documents: DocumentStore;
  readonly twins: Registry;
  readonly template: StoredDomain;
  readonly dids: string[];
}

export async function domainRows(): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'twinline-bench-'));
  const few = await filled(join(folder, 'few.db'), FEW);
  const many = await filled(join(folder, 'many.db'), MANY);
  try {
    return [...(await sizeRows(few, many)), ...(await writeRows(few))];
  } finally {
    await few.documents.close();
    await many.documents.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function filled(path: string, count: number): Promise<Place> {
  const documents = sqliteDocuments({ path, clock: systemClock });
  await documents.declare(DOMAIN_KINDS);
  const twins = registry({ documents, clock: systemClock });
  await twins.protocols.create(OWNER, { type: 'Protocol', alsoKnownAs: PROTOCOL, properties: { n: 'number' } });
  const { body: template } = await twins.create(OWNER, { body: twin(0) });
  const dids: string[] = [];
  const fill = async (n: number) => {
    const body = copy(template, n);
    dids[n] = body.did;
    await documents.insert(DOMAIN, body.did, body);
  };
  await atOnce(count, fill, 1_000);
  return { documents, twins, template, dids };
}

function twin(n: number) {
  const metadata = { name: `Twin ${n}`, place: 'Lusaka' };
  return { type: 'Bench/T0', class: PROTOCOL, metadata, properties: { n: n % PER_TYPE }, externalId: mintDid() };
}

// As the registry writes it; the place among all twins is in type and name.
function copy(template: StoredDomain, n: number): StoredDomain {
  const { metadata, properties } = twin(n);
  const [did, type] = [mintDid(), `Bench/T${Math.floor(n / PER_TYPE)}`];
  return { ...template, did, type, metadata, properties, externalId: did };
}

async function sizeRows(few: Place, many: Place): Promise<Row[]> {
  const row = async (what: string, count: number, of: (place: Place, within: number) => Case): Promise<Row[]> => {
    const [small, recent, all] = await measure([of(few, FEW), of(many, FEW), of(many, MANY)], {
      count,
      rounds: 9,
    });
    const line = (words: string, own: number, target: Row['target']): Row => ({
      what: words,
      measured: `${us(own)} · ${us(small!.cpuUs)}`,
      ratio: own / small!.cpuUs,
      target,
    });
    return [
      line(`${what}, of 1,000 twins among 200,000 against 1,000 in all (SQLite)`, recent!.cpuUs, { atMost: 1.25 }),
      line('the same, of all 200,000 in random order', all!.cpuUs, undefined),
    ];
  };
  const typeOf = (at: number, within: number) => `Bench/T${spread(at, within / PER_TYPE)}`;
  return [
    ...(await row('read a twin by its DID', 1_000, ({ twins, dids }, within) =>
      repeat('read', async (at) => void (await twins.get(OWNER, dids[spread(at, within)]!))),
    )),
    ...(await row('list of 20 by type, with a filter on a property', 100, ({ twins }, within) =>
      repeat('list', async (at) => {
        const filter = `and(eq(type,"${typeOf(at, within)}"),ge(properties.n,50))`;
        const { items } = await twins.list(OWNER, { filter, limit: 20 });
        if (items.length !== 20) throw new Error(`${items.length} items`);
      }),
    )),
  ];
}

async function writeRows({ documents, twins, template, dids }: Place): Promise<Row[]> {
  const polls = await opened(documents, template);
  const revisions = new Map<string, number>();
  const next = (id: string) => {
    const revision = revisions.get(id) ?? 1;
    revisions.set(id, revision + 1);
    return revision;
  };
  const half = FEW / 2;
  let written = 0;
  const cases: Case[] = [
    repeat('bare insert', async () => {
      const body = copy(template, written++);
      await documents.insert(DOMAIN, body.did, body);
    }),
    repeat('create', async () => void (await twins.create(OWNER, { body: twin(written++) }))),
    repeat('bare replace', async (at) => {
      const did = dids[at % half]!;
      await documents.replace(DOMAIN, did, next(did), { ...copy(template, written++), did });
    }),
    repeat('patch', async (at) => {
      const did = dids[half + (at % half)]!;
      const patch = { type: 'merge', patch: { metadata: { name: `Patched ${written++}` } } } as const;
      await twins.patch(OWNER, { did, expected: next(did), patch });
    }),
    repeat('vote', polls),
  ];
  const seconds = cases.map(() => [0, 0] as [operations: number, seconds: number]);
  const timed = cases.map(
    ({ name, run }, at): Case => ({ name, run: (count) => clocked(seconds[at]!, count, () => run(count)) }),
  );
  const [insert, create, replace, patch, vote] = await measure(timed, { count: 320, rounds: 7 });
  const perSecond = (at: number) => `${Math.round(seconds[at]![0] / seconds[at]![1])}/s`;
  const row = (
    what: string,
    [own, floor]: readonly [number, number],
    [at, floorAt]: readonly [number, number],
  ): Row => ({
    what,
    measured: `${us(own)}, ${perSecond(at)} · ${us(floor)}, ${perSecond(floorAt)}`,
    ratio: own / floor,
    target: undefined,
  });
  return [
    row(
      'create a twin against a bare insert of its document (SQLite, 32 at once)',
      [create!.cpuUs, insert!.cpuUs],
      [1, 0],
    ),
    row('patch a twin, its old revision kept, against a bare replace', [patch!.cpuUs, replace!.cpuUs], [3, 2]),
    row('cast a vote, every ballot kept, against a bare replace', [vote!.cpuUs, replace!.cpuUs], [4, 2]),
  ];
}

/** Proposals on which everybody may vote again and again; casts a vote. */
async function opened(documents: DocumentStore, template: StoredDomain): Promise<(at: number) => Promise<void>> {
  const voters = Array.from({ length: VOTERS }, (_, n) => caller(`voter${n}`, 'voter'));
  const governance = {
    ...DEFAULT_GOVERNANCE,
    allowRevoting: true,
    voters: voters.map(({ principal: did }) => ({ did, power: '1' })),
  };
  const service = verification({ documents, clock: systemClock, governance });
  const ids: string[] = [];
  await atOnce(POLLS, async (n) => {
    const body = copy(template, n);
    await documents.insert(DOMAIN, body.did, body);
    ids[n] = (await service.propose(OWNER, { did: body.did, body: { kind: 'verify' } })).id;
  });
  let cast = 0;
  return async () => {
    const turn = cast++;
    const voter = voters[Math.floor(turn / POLLS) % VOTERS]!;
    const vote = Math.floor(turn / POLLS / VOTERS) % 2 ? 'no' : 'yes';
    await service.vote(voter, { id: ids[turn % POLLS]!, body: { vote } });
  };
}

async function clocked(sum: [number, number], count: number, run: () => Promise<void> | void): Promise<void> {
  const begun = performance.now();
  await run();
  sum[0] += count;
  sum[1] += (performance.now() - begun) / 1_000;
}

const spread = (at: number, within: number) => (at * 7_919) % within;

/** Does `work` with one number after the other, several at a time. */
function repeat(name: string, work: (at: number) => Promise<void>): Case {
  let taken = 0;
  return {
    name,
    run: (count) => {
      const from = taken;
      taken += count;
      return atOnce(count, (at) => work(from + at));
    },
  };
}

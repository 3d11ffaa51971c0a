// The registry on SQLite: what size does to reads and lists.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../lib/clock.ts';
import type { Caller, Role } from '../../lib/domain/caller.ts';
import { mintDid } from '../../lib/domain/did/did.ts';
import { DOMAIN, DOMAIN_KINDS } from '../../lib/domain/kinds.ts';
import { type Registry, registry } from '../../lib/domain/registry.ts';
import type { StoredDomain } from '../../lib/domain/twin/record.ts';
import { sqliteDocuments } from '../../lib/store/sqlite/index.ts';
import type { DocumentStore } from '../../lib/store/store.ts';
import { atOnce, type Case, measure, type Row, us } from './measure.ts';

const FEW = 1_000;
const MANY = 200_000;
const PER_TYPE = 100;
const PROTOCOL = 'did:x:bench';

const caller = (name: string, ...roles: Role[]): Caller => ({
  principal: `did:x:${name}`,
  roles: new Set(roles),
  tenant: 'bench',
});
const OWNER = caller('owner', 'controller', 'representative');

interface Place {
  readonly documents: DocumentStore;
  readonly twins: Registry;
  readonly dids: string[];
}

export async function domainRows(): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'twinline-bench-'));
  const few = await filled(join(folder, 'few.db'), FEW);
  const many = await filled(join(folder, 'many.db'), MANY);
  try {
    return await sizeRows(few, many);
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
  return { documents, twins, dids };
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

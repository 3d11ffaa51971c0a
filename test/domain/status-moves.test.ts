// What was signed outlives every move. Random histories of cards, revocations, exports, imports, copies, restores, restarts and new
// keys: a model says which credentials are good, the library of others whether their status says so.

import { checkStatus } from '@digitalbazaar/vc-bitstring-status-list';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SimulatedClock } from '../../lib/clock.ts';
import { bulk, type LineResult } from '../../lib/domain/bulk/bulk.ts';
import { exportLines } from '../../lib/domain/bulk/export-lines.ts';
import { writeExport } from '../../lib/domain/bulk/manifest.ts';
import { readLines } from '../../lib/domain/bulk/ndjson.ts';
import type { Caller } from '../../lib/domain/caller.ts';
import { makeCard } from '../../lib/domain/credential/card.ts';
import { findLostIssuers, type StatusEntry, type StatusPurpose } from '../../lib/domain/credential/places.ts';
import { type Issuer, type StatusLists, statusLists } from '../../lib/domain/credential/status-list.ts';
import { NO_VOTES } from '../../lib/domain/find.ts';
import { idempotency } from '../../lib/domain/idempotency.ts';
import { DOMAIN_KINDS } from '../../lib/domain/kinds.ts';
import { registry } from '../../lib/domain/registry.ts';
import { memoryDocuments } from '../../lib/store/memory/index.ts';
import type { DocumentStore, JsonObject } from '../../lib/store/store.ts';

const test = suite('status lists and moves');

const BASE = 'https://twins.example.com';
const PROTOCOL = 'did:x:protocol';
const OPERATOR: Caller = { principal: 'did:x:op', tenant: 't', roles: new Set(['operator', 'controller'] as const) };
// Small lists: chance alone would soon give a place a second time.
const SIZE = 32;

// Signatures are proved in domain/issuer and over HTTP.
const KEYS = ['a', 'b', 'c'].map((name): Issuer => {
  const did = `did:key:${name}`;
  return { did, issue: async (credential) => ({ issuer: did, ...credential }) };
});
const RINGS = ['a', 'ab', 'ba', 'b', 'bca', 'c', 'cb'] as const;
const ringOf = (words: string) => [...words].map((name) => KEYS['abc'.indexOf(name)]!) as [Issuer, ...Issuer[]];

/** What the model knows of a store: which domains are alive, by DID, and whose places it has. */
interface Known {
  readonly domains: ReadonlyMap<string, boolean>;
  readonly places: ReadonlySet<string>;
}

interface Given {
  readonly place: StatusEntry;
  readonly card: JsonObject;
}

type Step = { readonly do: keyof ReturnType<typeof world>['steps']; readonly n: number };

const nameOf = ({ list, index }: StatusEntry) => `${list}/${index}`;

async function emptyStore(clock: SimulatedClock): Promise<DocumentStore> {
  const documents = memoryDocuments({ clock });
  await documents.declare(DOMAIN_KINDS);
  return documents;
}

async function copyOf(documents: DocumentStore, clock: SimulatedClock): Promise<DocumentStore> {
  const copy = await emptyStore(clock);
  for (const kind of DOMAIN_KINDS)
    for (const { id, revision, body } of (await documents.find(kind, { limit: 500 })).items) {
      await copy.insert(kind, id, body);
      for (let count = 1; count < revision; count++) await copy.replace(kind, id, count, body);
    }
  return copy;
}

async function takeIn(documents: DocumentStore, clock: SimulatedClock, text: string): Promise<LineResult[]> {
  const lines = readLines(
    (async function* () {
      yield Buffer.from(text);
    })(),
  );
  const take = bulk({ documents, clock, idempotency: idempotency({ documents, clock }) });
  const rows: LineResult[] = [];
  for await (const row of take(OPERATOR, { lines, dryRun: false })) rows.push(row);
  return rows;
}

function world(clock: SimulatedClock, first: DocumentStore) {
  let documents = first;
  let known: Known = { domains: new Map(), places: new Set() };
  let ring = ringOf('a');
  let instances: StatusLists[] = [];
  const given = new Map<string, Given>();
  const copies: { readonly documents: DocumentStore; readonly known: Known }[] = [];
  const files: { readonly text: string; readonly known: Known }[] = [];
  const startOne = () => statusLists({ documents, issuers: ring, clock, size: SIZE });
  const start = () => {
    instances = [startOne(), startOne()];
  };
  const twins = () => registry({ documents, clock });
  const pick = <T>(items: Iterable<T>, n: number): T | undefined => {
    const all = [...items];
    return all[n % Math.max(1, all.length)];
  };
  const living = () => [...known.domains].flatMap(([did, isAlive]) => (isAlive ? [did] : []));
  start();

  const steps = {
    async twin() {
      const { id } = await twins().create(OPERATOR, { body: { type: 'Project', class: PROTOCOL } });
      known = { ...known, domains: new Map(known.domains).set(id, true) };
    },
    async card(n: number) {
      const did = pick(living(), n);
      if (did === undefined) return;
      const domain = await twins().get(OPERATOR, did);
      const place = await instances[n % 2]!.place(domain);
      const before = given.get(nameOf(place));
      if (before) assert.equal(place, before.place, 'a place was given to a second credential');
      const card = { issuer: place.issuer, ...makeCard(domain, { place, base: BASE }) };
      given.set(nameOf(place), { place, card });
      known = { ...known, places: new Set(known.places).add(nameOf(place)) };
    },
    async end(n: number) {
      const did = pick(living(), n);
      if (did === undefined) return;
      await twins().deactivate(OPERATOR, { did });
      known = { ...known, domains: new Map(known.domains).set(did, false) };
    },
    async copy() {
      copies.push({ documents: await copyOf(documents, clock), known });
    },
    async restore(n: number) {
      const copy = pick(copies, n);
      if (!copy) return;
      documents = await copyOf(copy.documents, clock);
      known = copy.known;
      start();
    },
    async export() {
      let text = '';
      const records = exportLines({ documents, settleVotes: NO_VOTES }, OPERATOR);
      for await (const line of writeExport(records, { version: '0.0.0', leftOut: [] })) text += line;
      files.push({ text, known });
    },
    async move(n: number) {
      const file = pick(files, n);
      if (!file) return;
      documents = await emptyStore(clock);
      known = file.known;
      const rows = await takeIn(documents, clock, file.text);
      assert.equal(
        rows.filter(({ error }) => error),
        [],
      );
      start();
    },
    async merge(n: number) {
      const file = pick(files, n);
      if (!file) return;
      await takeIn(documents, clock, file.text);
      const domains = new Map([...file.known.domains, ...known.domains]);
      known = { domains, places: new Set([...known.places, ...file.known.places]) };
    },
    async restart(n: number) {
      instances[n % 2] = startOne();
    },
    async keys(n: number) {
      ring = ringOf(RINGS[n % RINGS.length]!);
      start();
    },
    async check(n: number) {
      const lists = instances[n % 2]!;
      const lookUp = async (url: string) => {
        const [, list, purpose] = /\/([^/]+)-(\w+)$/.exec(url)!;
        const document = await lists.credential({ list: list!, purpose: purpose as StatusPurpose, url });
        if (!document) throw new Error(`nothing is at ${url}`);
        return { documentUrl: url, document };
      };
      for (const [name, { place, card }] of given) {
        const isKept = known.places.has(name) && ring.some(({ did }) => did === place.issuer);
        const isGood = isKept && known.domains.get(place.did) === true;
        assert.is(await verifies(card, lookUp), isGood, `${name} of ${place.did}`);
      }
      const lost = new Set(
        [...given].flatMap(([name, { place }]) =>
          known.places.has(name) && known.domains.get(place.did) && !ring.some(({ did }) => did === place.issuer)
            ? [place.issuer]
            : [],
        ),
      );
      const keys = ring.map(({ did }) => did);
      assert.equal(await findLostIssuers(documents, keys), [...lost].sort());
    },
  };
  return { steps, twins };
}

async function verifies(
  credential: JsonObject,
  documentLoader: (url: string) => Promise<{ documentUrl: string; document: JsonObject }>,
): Promise<boolean> {
  const options = { credential, documentLoader, verifyBitstringStatusListCredential: false };
  const { verified, results = [] } = await checkStatus(options);
  return verified && results.length > 0 && results.every(({ status }) => status === false);
}

async function live(script: readonly Step[]): Promise<void> {
  const clock = new SimulatedClock();
  const { steps, twins } = world(clock, await emptyStore(clock));
  await twins().protocols.create(OPERATOR, { type: 'Protocol', alsoKnownAs: [PROTOCOL] });
  await steps.twin();
  for (const one of script) {
    await steps[one.do](one.n);
    await clock.advance(1);
  }
  await steps.check(0);
}

test('a credential that was revoked never verifies, a good one does, and a place is never given twice, whatever is moved', async () => {
  const names: readonly Step['do'][] = ['twin', 'card', 'card', 'end', 'copy', 'restore', 'export', 'move', 'merge'];
  const step = fc.record({
    do: fc.constantFrom(...names, 'restart', 'keys', 'check'),
    n: fc.nat(40),
  }) as fc.Arbitrary<Step>;
  await fc.assert(fc.asyncProperty(fc.array(step, { minLength: 8, maxLength: 60 }), live), {
    numRuns: 150,
    seed: Number(process.env.TEST_SEED ?? 1),
  });
});

test.run();

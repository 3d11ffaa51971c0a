// What was signed outlives every move. Random histories of cards, revocations, exports, imports, copies, restores, restarts and new
// keys: a model says which credentials are good, the library of others whether their status says so.

import { checkStatus } from '@digitalbazaar/vc-bitstring-status-list';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Caller } from '../../lib/domain/caller.ts';
import { makeCard } from '../../lib/domain/credential/card.ts';
import { findLostIssuers, type StatusEntry, type StatusPurpose } from '../../lib/domain/credential/places.ts';
import { type Issuer, type StatusLists, statusLists } from '../../lib/domain/credential/status-list.ts';
import { registry } from '../../lib/domain/registry.ts';
import type { JsonObject } from '../../lib/json/json.ts';
import { copyGround, emptyGround, exportFrom, type Ground, importInto } from './moving.ts';

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

function world(first: Ground) {
  let ground = first;
  let known: Known = { domains: new Map(), places: new Set() };
  let ring = ringOf('a');
  let instances: StatusLists[] = [];
  const given = new Map<string, Given>();
  const copies: { readonly ground: Ground; readonly known: Known }[] = [];
  const files: { readonly text: string; readonly known: Known }[] = [];
  const startOne = () => statusLists({ ...ground, issuers: ring, size: SIZE });
  const start = () => {
    instances = [startOne(), startOne()];
  };
  const twins = () => registry(ground);
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
      copies.push({ ground: await copyGround(ground), known });
    },
    async restore(n: number) {
      const copy = pick(copies, n);
      if (!copy) return;
      ground = await copyGround(copy.ground);
      known = copy.known;
      start();
    },
    async export() {
      files.push({ text: (await exportFrom(ground, OPERATOR)).join(''), known });
    },
    async move(n: number) {
      const file = pick(files, n);
      if (!file) return;
      ground = await emptyGround(ground.clock);
      known = file.known;
      const rows = await importInto(ground, OPERATOR, file);
      assert.equal(
        rows.filter(({ error }) => error),
        [],
      );
      start();
    },
    async merge(n: number) {
      const file = pick(files, n);
      if (!file) return;
      await importInto(ground, OPERATOR, file);
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
      assert.equal(await findLostIssuers(ground.documents, keys), [...lost].sort());
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
  const ground = await emptyGround();
  const { steps, twins } = world(ground);
  await twins().protocols.create(OPERATOR, { type: 'Protocol', alsoKnownAs: [PROTOCOL] });
  await steps.twin();
  for (const one of script) {
    await steps[one.do](one.n);
    await ground.clock.advance(1);
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

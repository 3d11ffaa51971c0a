// Credits beside everything that happens to their domain at the same moment: a store that fails at any of its calls, before or
// after it has done its work, a domain that is suspended and reinstated at any of them, and requests that are repeated.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SimulatedClock } from '../../lib/clock.ts';
import type { Caller } from '../../lib/domain/caller.ts';
import { mintDid } from '../../lib/domain/did/did.ts';
import { CREDIT, DOMAIN, DOMAIN_KINDS } from '../../lib/domain/kinds.ts';
import { credits } from '../../lib/domain/voting/credits.ts';
import { TwinlineError } from '../../lib/errors.ts';
import type { JsonObject } from '../../lib/json/json.ts';
import { memoryDocuments } from '../../lib/store/memory/index.ts';
import type { DocumentStore, Kind } from '../../lib/store/store.ts';

const test = suite('credits');

const ISSUER: Caller = { principal: 'did:x:issuer', roles: new Set(['issuer']), tenant: 't' };

type Status = 'Verified' | 'Suspended';

/** What happens at one call of the store, counted from 0. */
interface Faults {
  readonly suspend?: number;
  readonly reinstate?: number;
  readonly fail?: { readonly at: number; readonly when: 'before' | 'after' };
  /** The suspension is that of the domain above. */
  readonly above?: boolean;
}

async function bench({ suspend, reinstate, fail, above = false }: Faults) {
  const clock = new SimulatedClock();
  const real = memoryDocuments({ clock });
  await real.declare(DOMAIN_KINDS);
  const [did, parent] = [mintDid(), mintDid()];
  const journal = { at: clock.now(), by: 'x', action: 'create', events: [] };
  const common = {
    tenant: 't',
    status: 'Verified',
    validFrom: null,
    validUntil: null,
    provisionalSince: null,
    journal,
  };
  await real.insert(DOMAIN, parent, { ...common, did: parent, parent: null, subDomains: [{ did }] } as never);
  await real.insert(DOMAIN, did, { ...common, did, parent } as never);
  const put = async (status: Status) => {
    const document = (await real.get<JsonObject>(DOMAIN, above ? parent : did))!;
    await real.replace(DOMAIN, document.id, document.revision, { ...document.body, status } as never);
  };

  /** The model: how the domain stood at each write of the credit, and each state that the credit had after one. */
  const writes: { readonly status: Status; readonly state: string | undefined }[] = [];
  const readState = async () => (await real.get<JsonObject>(CREDIT, 'c1'))?.body.state as string | undefined;
  const readStatus = async () => (await real.get<JsonObject>(DOMAIN, above ? parent : did))!.body.status as Status;
  let calls = 0;
  const counted =
    <A extends [Kind, ...unknown[]], R>(call: (...args: A) => Promise<R>, isWrite: boolean) =>
    async (...args: A): Promise<R> => {
      const at = calls++;
      if (at === suspend) await put('Suspended');
      if (at === reinstate) await put('Verified');
      if (fail?.at === at && fail.when === 'before') throw new TwinlineError('ERR_STORE', 'away');
      const done = await call(...args);
      if (isWrite && args[0].name === CREDIT.name)
        writes.push({ status: await readStatus(), state: await readState() });
      if (fail?.at === at && fail.when === 'after') throw new TwinlineError('ERR_STORE', 'away');
      return done;
    };
  const documents = {
    ...real,
    get: counted(real.get as never, false),
    find: counted(real.find as never, false),
    insert: counted(real.insert as never, true),
    replace: counted(real.replace as never, true),
    remove: counted(real.remove as never, true),
  } as unknown as DocumentStore;
  const service = credits({ documents, clock });
  const issue = () =>
    service.issue(ISSUER, { did, body: { amount: '5' }, id: 'c1' }).then(
      () => 201,
      (error: TwinlineError) => (error.reason === 'domain-not-verified' ? 403 : 503),
    );
  const list = async () => (await service.list(ISSUER, { did, limit: 10 })).items.length;
  return { issue, list, writes, readState, calls: () => calls };
}

/** Plays one case with every assertion of the model; how many calls of the store it took. */
async function play(faults: Faults, requests: number): Promise<number> {
  const { issue, list, writes, readState, calls } = await bench(faults);
  const about = JSON.stringify({ ...faults, requests });
  const ask = async () => {
    const status = await issue();
    const state = await readState();
    if (status === 201) assert.is(state, 'issued', `${about}: answered 201`);
    return { status, state };
  };
  const askUntilWell = async () => {
    for (let tries = 0; ; tries++) {
      const answer = await ask();
      if (answer.status !== 503 || tries > 2) return answer;
    }
  };
  // At once, as from several instances; then one after the other.
  const first = await Promise.all(Array.from({ length: requests }, ask));
  if (requests === 1 && first[0]!.status === 403) assert.is(first[0]!.state, undefined, `${about}: refused`);
  await askUntilWell();
  const took = calls();
  const listed = await list().catch(() => list());
  const last = await askUntilWell();
  const isIssued = (await readState()) === 'issued';
  if (first.some(({ status }) => status === 201)) assert.ok(isIssued, `${about}: 201 stands`);
  assert.is(isIssued, last.status === 201, `${about}: issued, and the repeated request says so`);
  if (listed) assert.is(last.status, 201, `${about}: listed`);
  writes.forEach(({ state }, at) => {
    if (state !== 'issued' || writes[at - 1]?.state === 'issued') return;
    assert.is(writes[at - 1]!.status, 'Verified', `${about}: the domain was verified when the credit was written`);
  });
  return took;
}

test('a credit is issued when its request says so, and only of a domain that was verified when it was written', async () => {
  let cases = 0;
  for (const [above, requests] of [
    [false, 1],
    [false, 2],
    [true, 1],
  ] as const) {
    const steps = await play({ above }, requests);
    const at = [undefined, ...Array(steps + 2).keys()];
    for (const suspend of at)
      for (const reinstate of suspend === undefined ? [undefined] : [undefined, suspend + 2])
        for (const when of ['before', 'after'] as const)
          for (const fails of at) {
            if (fails === undefined && when === 'after') continue;
            const fail = fails === undefined ? {} : { fail: { at: fails, when } };
            const moves = {
              ...(suspend !== undefined && { suspend }),
              ...(reinstate !== undefined && { reinstate }),
            };
            await play({ above, ...moves, ...fail }, requests);
            cases++;
          }
  }
  assert.ok(cases > 1_000, String(cases));
});

test('a credit that nobody has decided about is decided by who lists credits: after a suspension it never comes', async () => {
  const seen: number[] = [];
  for (const suspend of [undefined, 8]) {
    const { issue, list, readState } = await bench({ fail: { at: 5, when: 'before' }, ...(suspend && { suspend }) });
    assert.is(await issue(), 503);
    assert.is(await readState(), 'checking');
    seen.push(await list());
    assert.is(await issue(), suspend ? 403 : 201);
  }
  assert.equal(seen, [1, 0]);
});

test.run();

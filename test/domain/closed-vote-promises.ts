// A vote that is over says so to whoever reads first, at the very moment of its close, on every store; nobody sweeps here.

import { setTimeout as pause } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { exportLines } from '../../lib/domain/bulk/record-lines.ts';
import type { Issuer } from '../../lib/domain/credential/status-list.ts';
import { givePlace, statusLists } from '../../lib/domain/credential/status-list.ts';
import { resolver } from '../../lib/domain/did/resolution.ts';
import { PROPOSAL } from '../../lib/domain/kinds.ts';
import { registry } from '../../lib/domain/registry.ts';
import { canParticipate, credits } from '../../lib/domain/voting/credits.ts';
import type { JsonObject } from '../../lib/store/store.ts';
import type { OpenDocuments } from '../../lib/testing/documents/bench.ts';
import { caller, governance, operator, owner, type Polls, refuses, rep, voter, withPolls } from './voting.ts';

const PERIOD_MS = 100_000;
// Nothing is decided before the close.
const RULES = governance({ ann: 1, bob: 1, cid: 1 }, { allowRevoting: true });
// Signing is proved elsewhere.
const SIGNER: Issuer = { issue: async (credential) => credential };

type Reader = (polls: Polls, did: string) => Promise<unknown>;
type Readers = { readonly [name: string]: readonly [read: Reader, told: (did: string) => unknown] };

const readingOf = ({ documents, service }: Polls) => ({ documents, settleVotes: service.settle });
const statusesIn = (items: readonly { readonly body: JsonObject; readonly id: string }[], did: string) =>
  items.filter(({ id }) => id === did).map(({ body }) => body.status);
const listed =
  (query: object): Reader =>
  async ({ twins }, did) =>
    statusesIn((await twins.list(rep, { ...query, limit: 1_000 })).items, did);

/** Each reads alone, of a domain whose verification has just been voted for. */
const READERS: Readers = {
  'the record': [async ({ twins }, did) => (await twins.get(rep, did)).body.status, () => 'Verified'],
  "the record by the registry's find": [
    async ({ twins }, did) => (await twins.find('default', did))?.body.status,
    () => 'Verified',
  ],
  'the record as of this moment': [
    async ({ twins, clock }, did) => (await twins.at(rep, did, new Date(clock.now()).toISOString())).body.status,
    () => 'Verified',
  ],
  'the history': [
    async ({ twins }, did) => (await twins.history(rep, { did, limit: 1 })).items[0]?.action,
    () => 'verify',
  ],
  'the list of the verified': [listed({ status: 'Verified' }), () => ['Verified']],
  'the list of those under review': [listed({ status: 'UnderReview' }), () => []],
  'a filtered list': [listed({ filter: 'eq(entityVerified,true)' }), () => ['Verified']],
  'the list of all': [listed({}), () => ['Verified']],
  'the graph': [
    async ({ twins }, did) => (await twins.graph(rep, { did })).nodes.find((node) => node.did === did)?.status,
    () => 'Verified',
  ],
  'the verification': [
    async ({ service }, did) => {
      const { status, entityVerified, open } = await service.readVerification(rep, did);
      return { status, entityVerified, open };
    },
    () => ({ status: 'Verified', entityVerified: true, open: [] }),
  ],
  'the proposals': [
    async ({ service }, did) => (await service.list(rep, { did })).items.map(({ state }) => state),
    () => ['executed'],
  ],
  'the gate of guarded activities': [
    async (polls, did) => {
      const amount = { amount: '1' };
      const { status } = await credits({ ...polls, ...readingOf(polls) }).issue(caller('issuer', 'issuer'), {
        did,
        body: amount,
      });
      return status;
    },
    () => 'issued',
  ],
  'the export': [
    async (polls, did) => {
      const told: unknown[] = [];
      for await (const line of exportLines(readingOf(polls), operator))
        if (line.did === did && (line.kind === 'domain' || line.kind === 'proposal')) told.push(line.body.status);
      return told;
    },
    () => ['Verified', 'executed'],
  ],
  'the DID document': [
    async (polls, did) => {
      const resolve = resolver({ ...polls, ...readingOf(polls), publicTenant: 'default' });
      const outcome = await resolve({ identifier: did, options: [] });
      return outcome.kind === 'document' && outcome.metadata.versionId;
    },
    () => '3',
  ],
  'a change, which comes after the vote and does not undo it': [
    async ({ twins }, did) => {
      const change = { did, body: { controller: [owner.principal, rep.principal] } };
      await twins.transfer(owner, change);
      return (await twins.history(rep, { did, limit: 5 })).items.map(({ action }) => action);
    },
    () => ['transfer', 'verify', 'review', 'create'],
  ],
};

export function closedVotePromises(backend: string, open: OpenDocuments): void {
  const test = suite(`${backend}: a vote that is over`);

  for (const [name, [read, told]] of Object.entries(READERS))
    test(`is over for ${name}`, () =>
      withPolls(open, RULES, async (polls) => {
        const did = await polls.twin();
        const { id } = await polls.service.propose(rep, { did, body: { kind: 'verify' } });
        for (const who of ['ann', 'bob']) await polls.service.vote(voter(who), { id, body: { vote: 'yes' } });
        await polls.clock.advance(PERIOD_MS - 1);
        assert.is((await polls.twins.get(rep, did)).body.status, 'UnderReview', 'a millisecond before');
        await polls.clock.advance(1);
        assert.equal(await read(polls, did), told(did));
      }));

  test('is rejected at its close, and the lists by status agree', () =>
    withPolls(open, RULES, async ({ twins, service, domain, clock }) => {
      const dids = await Promise.all([domain(), domain(), domain()]);
      for (const did of dids) await service.propose(rep, { did, body: { kind: 'verify' } });
      await clock.advance(PERIOD_MS);
      const found = async (status: string) => (await twins.list(rep, { status })).items.length;
      assert.equal([await found('Rejected'), await found('UnderReview')], [3, 0]);
    }));

  test('to suspend counts for status lists, for eligibility and for what lies below', () =>
    withPolls(open, RULES, async (polls) => {
      const { documents, clock, service, twins } = polls;
      const did = await polls.domain();
      const pass = async (kind: string) => {
        const { id } = await service.propose(rep, { did, body: { kind } });
        for (const who of ['ann', 'bob']) await service.vote(voter(who), { id, body: { vote: 'yes' } });
        await clock.advance(PERIOD_MS);
      };
      await pass('verify');
      const domain = await twins.get(rep, did);
      const { list } = await givePlace(documents, domain);
      const lists = statusLists({ ...polls, ...readingOf(polls), issuer: SIGNER });
      const encoded = async () => {
        const made = await lists.credential({ list, purpose: 'suspension', url: 'https://example.com/1' });
        return (made!.credentialSubject as JsonObject).encodedList;
      };
      const before = await encoded();
      await pass('suspend');
      assert.is.not(await encoded(), before, 'the first reader is whoever asks for the list');
      await pass('reinstate');
      const part = { ...domain, body: { ...domain.body, parent: did } };
      assert.equal(await canParticipate(readingOf(polls), part, clock.now()), { eligible: true, reasons: [] });
      await pass('suspend');
      const below = await canParticipate(readingOf(polls), part, clock.now());
      assert.equal(
        below.reasons.map(({ code }) => code),
        ['ancestor-sanctioned'],
      );
    }));

  test('frees the way for the next one, about what the domain has become', () =>
    withPolls(open, RULES, async ({ service, domain, clock }) => {
      const did = await domain();
      for (const kind of ['verify', 'suspend', 'reinstate', 'revoke']) {
        const { id } = await service.propose(rep, { did, body: { kind } });
        await refuses('proposal-open', () => service.propose(rep, { did, body: { kind } }));
        for (const who of ['ann', 'bob']) await service.vote(voter(who), { id, body: { vote: 'yes' } });
        await clock.advance(PERIOD_MS);
      }
    }));

  test('takes effect at its own time, however late it is first read', () =>
    withPolls(open, { ...RULES, timelockSeconds: 50 }, async ({ service, domain, twins, clock }) => {
      const did = await domain();
      const { id, context } = await service.propose(rep, { did, body: { kind: 'verify' } });
      for (const who of ['ann', 'bob']) await service.vote(voter(who), { id, body: { vote: 'yes' } });
      await clock.advance(1_000_000);
      const at = async (moment: number) => (await twins.at(rep, did, new Date(moment).toISOString())).body.status;
      const effective = context.closesAt + 50_000;
      assert.equal([await at(effective - 1), await at(effective)], ['UnderReview', 'Verified']);
    }));

  test('takes effect once, whichever of several processes read it at the same time', () =>
    withPolls(open, RULES, async ({ documents, clock, again, service, domain, events }) => {
      const did = await domain();
      const { id } = await service.propose(rep, { did, body: { kind: 'verify' } });
      for (const who of ['ann', 'bob']) await service.vote(voter(who), { id, body: { vote: 'yes' } });
      await clock.advance(PERIOD_MS);
      const readers = Array.from({ length: 6 }, () => registry({ documents, clock, settleVotes: again().settle }));
      const read = await Promise.all(
        readers.map(async (twins, at) =>
          at % 2
            ? (await twins.get(rep, did)).body.status
            : statusesIn((await twins.list(rep, { status: 'Verified' })).items, did)[0],
        ),
      );
      assert.equal(
        read,
        read.map(() => 'Verified'),
      );
      assert.equal(await events('domain', did), ['domain.created', 'domain.updated', 'domain.verified']);
      assert.is((await service.get(rep, id)).state, 'executed');
    }));

  test('is over also for those who read while the process that closed it is dead', () =>
    withPolls(open, RULES, async ({ documents, clock, again, service, domain, twins, events }) => {
      const [did, other] = [await domain(), await domain()];
      for (const one of [did, other]) {
        const { id } = await service.propose(rep, { did: one, body: { kind: 'verify' } });
        await service.vote(voter('ann'), { id, body: { vote: 'no' } });
        await service.vote(voter('bob'), { id, body: { vote: 'no' } });
      }
      await clock.advance(PERIOD_MS);
      // It writes that the vote is over, and never comes to tell the domain. Once dead it writes nothing: without this,
      // the time limit of its call would make it claim the next try.
      let isDead = false;
      const replace: typeof documents.replace = async (kind, ...rest) =>
        kind.name === PROPOSAL.name && !isDead ? documents.replace(kind, ...rest) : new Promise(() => {});
      void again({ documents: { ...documents, replace } }).sweep();
      const untold = async () => (await documents.find(PROPOSAL, { index: 'calling', where: { calling: true } })).items;
      for (let tries = 0; (await untold()).length < 2 && tries < 10_000; tries++) await pause(1);
      assert.equal(
        (await untold()).map(({ body }) => body.status),
        ['rejected', 'rejected'],
      );
      isDead = true;
      assert.is((await twins.get(rep, did)).body.status, 'Rejected');
      assert.equal(statusesIn((await twins.list(rep, { status: 'Rejected' })).items, other), ['Rejected']);
      await clock.advance(60_000);
      await service.sweep();
      assert.equal(await events('domain', did), ['domain.created', 'domain.updated', 'domain.updated']);
      assert.equal(await untold(), []);
    }));

  test.run();
}

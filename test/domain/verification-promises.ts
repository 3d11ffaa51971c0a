// What verification by vote promises on every store; run it with a function that opens one.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Issuer, statusLists } from '../../lib/domain/credential/status-list.ts';
import { PROPOSAL } from '../../lib/domain/kinds.ts';
import { registry } from '../../lib/domain/registry.ts';
import { canParticipate } from '../../lib/domain/voting/credits.ts';
import type { Governance } from '../../lib/domain/voting/governance.ts';
import { proposalView } from '../../lib/domain/voting/proposal.ts';
import type { JsonObject } from '../../lib/json/json.ts';
import type { OpenDocuments } from '../../lib/testing/documents/bench.ts';
import { until } from '../support/until.ts';
import { did, governance, operator, owner, type Polls, refuses, rep, voter, withPolls } from './voting.ts';

const THREE = { ann: 1, bob: 1, cid: 1 };
// Nothing is decided before the close.
const CHANGEABLE = governance(THREE, { allowRevoting: true });
// Signing is proved elsewhere.
const SIGNER: Issuer = { did: 'did:key:a', issue: async (credential) => credential };
const verify = { kind: 'verify' };
const yes = { vote: 'yes' };
const no = { vote: 'no' };

type Promises = {
  readonly [sentence: string]: { readonly rules: Governance; readonly keep: (polls: Polls) => Promise<void> };
};

const PROMISES: Promises = {
  'a vote at the very moment of the close is too late, one before it counts; nobody sweeps meanwhile': {
    rules: governance({ ann: 1, bob: 2 }),
    keep: async ({ service, domain, stored, clock, events }) => {
      const [early, late] = [await domain(), await domain()];
      const one = await service.propose(rep, { did: early, body: verify });
      const two = await service.propose(rep, { did: late, body: verify });
      await clock.advance(99_999);
      await service.vote(voter('ann'), { id: one.id, body: yes });
      await clock.advance(1);
      await refuses('proposal-not-open', () => service.vote(voter('ann'), { id: two.id, body: yes }));
      assert.is((await service.get(rep, one.id)).state, 'executed');
      assert.is((await service.get(rep, two.id)).context.reason, 'quorum-not-met');
      assert.equal([(await stored(early)).status, (await stored(late)).status], ['Verified', 'Rejected']);
      assert.is((await events('domain', late)).at(-1), 'domain.updated');
    },
  },

  'who is not in the list of voters, or votes twice, is refused; who has no power is not in the list': {
    rules: governance({ ...THREE, zero: 0 }),
    keep: async ({ service, domain }) => {
      const { id } = await service.propose(rep, { did: await domain(), body: verify });
      await refuses('not-eligible-voter', () => service.vote(voter('eve'), { id, body: yes }));
      await refuses('not-eligible-voter', () => service.vote(voter('zero'), { id, body: yes }));
      await refuses('role-missing', () => service.vote(rep, { id, body: yes }));
      await refuses('invalid', () => service.vote(voter('ann'), { id, body: { vote: 'maybe' } }));
      await service.vote(voter('ann'), { id, body: yes });
      await refuses('already-voted', () => service.vote(voter('ann'), { id, body: yes }));
      await refuses('already-voted', () => service.vote(voter('ann'), { id, body: no }));
      await refuses('not-found', () => service.vote(voter('ann'), { id: 'nothing', body: yes }));
      await refuses('not-found', () => service.get({ ...rep, tenant: 'other' }, id));
    },
  },

  'a repeated request changes nothing: its ballot counts once, also when the vote is over': {
    rules: governance(THREE),
    keep: async ({ service, domain, again }) => {
      const subject = await domain();
      const opened = await service.propose(rep, { did: subject, body: verify, id: 'p1' });
      const repeated = await again().propose(rep, { did: subject, body: verify, id: 'p1' });
      assert.equal([repeated.id, repeated.revision], ['p1', opened.revision]);
      await service.vote(voter('ann'), { id: 'p1', body: yes, key: 'k' });
      const { repeated: isRepeated, proposal } = await again().vote(voter('ann'), { id: 'p1', body: yes, key: 'k' });
      assert.equal([isRepeated, proposalView(proposal).tally.yes], [true, '1']);
      // The same word of another voter is another request.
      assert.not.ok((await service.vote(voter('bob'), { id: 'p1', body: yes, key: 'k' })).repeated);
      const after = await again().vote(voter('bob'), { id: 'p1', body: yes, key: 'k' });
      assert.equal([after.repeated, after.proposal.state, after.ballot.vote], [true, 'executed', 'yes']);
    },
  },

  'where votes may be changed the last one counts, the same again is refused, and nothing is decided early': {
    rules: governance(THREE, { allowRevoting: true }),
    keep: async ({ service, domain, clock }) => {
      const { id } = await service.propose(rep, { did: await domain(), body: verify });
      for (const name of ['ann', 'bob', 'cid']) await service.vote(voter(name), { id, body: no });
      await refuses('already-voted', () => service.vote(voter('ann'), { id, body: no }));
      for (const name of ['ann', 'bob'])
        assert.is((await service.vote(voter(name), { id, body: yes })).proposal.state, 'open');
      await clock.advance(100_000);
      assert.is((await service.get(rep, id)).state, 'executed');
      assert.is((await service.votes(rep, { id })).items.length, 5);
    },
  },

  'a second proposal of a kind is refused as long as the first is undecided, and no longer': {
    rules: governance(THREE),
    keep: async ({ service, domain, clock }) => {
      const id = await domain();
      const both = await Promise.allSettled([1, 2, 3].map(() => service.propose(rep, { did: id, body: verify })));
      assert.is(both.filter(({ status }) => status === 'fulfilled').length, 1);
      await refuses('proposal-open', () => service.propose(rep, { did: id, body: verify }));
      await clock.advance(100_000);
      const third = await service.propose(rep, { did: id, body: verify });
      for (const name of ['ann', 'bob']) await service.vote(voter(name), { id: third.id, body: yes });
      const suspend = { kind: 'suspend' };
      await service.propose(rep, { did: id, body: suspend });
      await refuses('proposal-open', () => service.propose(rep, { did: id, body: suspend }));
      await service.propose(rep, { did: id, body: { kind: 'revoke' } });
      await clock.advance(100_000);
      assert.is((await service.propose(rep, { did: id, body: suspend })).state, 'open');
    },
  },

  'a timelock keeps what has passed from taking effect, and leaves time for a veto': {
    rules: governance({ ann: 1 }, { timelockSeconds: 50 }),
    keep: async ({ service, domain, stored, clock }) => {
      const [kept, stopped] = [await domain(), await domain()];
      const one = await service.propose(rep, { did: kept, body: verify });
      const two = await service.propose(rep, { did: stopped, body: verify });
      for (const { id } of [one, two])
        assert.is((await service.vote(voter('ann'), { id, body: yes })).proposal.state, 'timelock');
      await refuses('wrong-status', () => service.execute(operator, { id: one.id }));
      await refuses('role-missing', () => service.veto(rep, { id: two.id }));
      assert.is((await service.veto(operator, { id: two.id, body: { reason: 'forged' } })).context.reason, 'forged');
      await clock.advance(50_000);
      assert.is(await service.sweep(), 1);
      assert.equal([(await stored(kept)).status, (await stored(stopped)).status], ['Verified', 'Created']);
      assert.is((await service.execute(operator, { id: one.id })).state, 'executed');
      await refuses('proposal-not-open', () => service.veto(operator, { id: one.id }));
    },
  },

  'a change of what is voted on ends the vote; a change of its name does not': {
    rules: governance(THREE),
    keep: async ({ service, twin, stored, twins }) => {
      const id = await twin();
      const change = async (patch: JsonObject) => {
        const { revision } = await twins.get(owner, id);
        await twins.patch(owner, { did: id, expected: revision, patch: { type: 'merge', patch } });
      };
      const { id: proposal } = await service.propose(rep, { did: id, body: verify });
      await change({ metadata: { name: 'new' } });
      assert.is((await service.get(rep, proposal)).state, 'open');
      await change({ properties: { burns: 2 } });
      const ended = await service.get(rep, proposal);
      assert.equal([ended.state, ended.context.reason], ['invalidated', 'domain-changed']);
      assert.is((await stored(id)).status, 'Created');
      await refuses('proposal-not-open', () => service.vote(voter('ann'), { id: proposal, body: yes }));
      const again = await service.propose(rep, { did: id, body: verify });
      await twins.transfer(owner, { did: id, body: { controller: did('heir') } });
      assert.is((await service.get(rep, again.id)).state, 'invalidated');
      const third = await service.propose(rep, { did: id, body: verify });
      await twins.deactivate({ ...owner, principal: did('heir') }, { did: id });
      assert.equal(
        [(await service.get(rep, third.id)).context.reason, (await stored(id)).status],
        ['domain-deactivated', 'Deactivated'],
      );
    },
  },

  'a verified domain that changes is verified no longer; suspension, reinstatement and revocation are votes of their own':
    {
      rules: governance({ ann: 1 }),
      keep: async ({ service, domain, stored, twins }) => {
        const id = await domain();
        const pass = async (kind: string, more: object = {}) => {
          const { id: proposal } = await service.propose(rep, { did: id, body: { kind, ...more } });
          await service.vote(voter('ann'), { id: proposal, body: yes });
          return (await stored(id)).status;
        };
        for (const kind of ['suspend', 'reinstate', 'revoke']) await refuses('wrong-status', () => pass(kind));
        assert.is(await pass('verify'), 'Verified');
        for (const kind of ['verify', 'reinstate']) await refuses('wrong-status', () => pass(kind));
        assert.is(await pass('suspend'), 'Suspended');
        for (const kind of ['verify', 'suspend']) await refuses('wrong-status', () => pass(kind));
        assert.is(await pass('reinstate'), 'Verified');
        assert.is(await pass('revoke'), 'Revoked');
        await refuses('package-unchanged', () => pass('verify'));
        assert.is(await pass('verify', { package: { cleaned: true } }), 'Verified');
        await twins.transfer(owner, { did: id, body: { controller: did('heir') } });
        assert.is((await stored(id)).status, 'Created');
      },
    },

  'only representatives that the rules name propose, and who controls a domain is recused when the rules say so': {
    rules: governance({ ...THREE, owner: 5 }, { representatives: [did('chosen')], recuseController: true }),
    keep: async ({ service, domain }) => {
      const id = await domain();
      await refuses('not-representative', () => service.propose(rep, { did: id, body: verify }));
      await refuses('role-missing', () => service.propose(owner, { did: id, body: verify }));
      const { id: proposal, context } = await service.propose(
        { ...rep, principal: did('chosen') },
        { did: id, body: verify },
      );
      assert.equal(
        context.voters.map((one) => one.did),
        Object.keys(THREE).map(did),
      );
      await refuses('recused', () => service.vote(voter('owner'), { id: proposal, body: yes }));
      await refuses('not-found', () => service.propose({ ...operator, tenant: 'other' }, { did: id, body: verify }));
    },
  },

  'rules and voters are those of the moment of the proposal': {
    rules: governance({ ann: 1, bob: 1 }),
    keep: async ({ service, again, domain }) => {
      const { id } = await service.propose(rep, { did: await domain(), body: verify });
      const other = again({ governance: governance({ eve: 9, ann: 9 }, { quorum: '1' }) });
      await refuses('not-eligible-voter', () => other.vote(voter('eve'), { id, body: yes }));
      await other.vote(voter('ann'), { id, body: yes });
      assert.is((await other.vote(voter('bob'), { id, body: yes })).proposal.state, 'executed');
    },
  },

  'a hundred ballots of one voter at once count once, a hundred voters at once all count': {
    rules: governance(Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`v${i}`, 1])), {
      threshold: { kind: 'count', value: '100' },
    }),
    keep: async ({ service, domain, again }) => {
      const { id } = await service.propose(rep, { did: await domain(), body: verify });
      const services = [service, again(), again()];
      const same = Array.from({ length: 100 }, (_, i) => services[i % 3]!.vote(voter('v0'), { id, body: yes }));
      const results = await Promise.allSettled(same);
      assert.is(results.filter(({ status }) => status === 'fulfilled').length, 1);
      assert.is(proposalView(await service.get(rep, id)).tally.cast, '1');
      const others = Array.from({ length: 99 }, (_, i) => services[0]!.vote(voter(`v${i + 1}`), { id, body: yes }));
      await Promise.all(others);
      const done = await service.get(rep, id);
      assert.equal([done.state, proposalView(done).tally.yes], ['executed', '100']);
    },
  },

  'a vote to suspend that is over counts for status lists, for eligibility and for what lies below': {
    rules: CHANGEABLE,
    keep: async (here) => {
      const { documents, clock, service, twins } = here;
      const id = await here.domain();
      const options = { documents, settleVotes: service.settle };
      const pass = async (kind: string) => {
        const { id: proposal } = await service.propose(rep, { did: id, body: { kind } });
        for (const who of ['ann', 'bob']) await service.vote(voter(who), { id: proposal, body: yes });
        await clock.advance(100_000);
      };
      await pass('verify');
      const domain = await twins.get(rep, id);
      const lists = statusLists({ ...here, ...options, issuers: [SIGNER] });
      const { list } = await lists.place(domain);
      const encoded = async () => {
        const made = await lists.credential({ list, purpose: 'suspension', url: 'https://example.com/1' });
        return (made!.credentialSubject as JsonObject).encodedList;
      };
      const before = await encoded();
      await pass('suspend');
      assert.is.not(await encoded(), before, 'the first reader is whoever asks for the list');
      await pass('reinstate');
      const part = { ...domain, body: { ...domain.body, parent: id } };
      assert.equal(await canParticipate(options, part, clock.now()), { eligible: true, reasons: [] });
      await pass('suspend');
      const { reasons } = await canParticipate(options, part, clock.now());
      assert.equal(
        reasons.map(({ code }) => code),
        ['ancestor-sanctioned'],
      );
    },
  },

  'a vote takes effect at its own time, however late it is first read': {
    rules: { ...CHANGEABLE, timelockSeconds: 50 },
    keep: async ({ service, domain, twins, clock }) => {
      const id = await domain();
      const { id: proposal, context } = await service.propose(rep, { did: id, body: verify });
      for (const who of ['ann', 'bob']) await service.vote(voter(who), { id: proposal, body: yes });
      await clock.advance(1_000_000);
      const at = async (moment: number) => (await twins.at(rep, id, new Date(moment).toISOString())).body.status;
      const effective = context.closesAt + 50_000;
      assert.equal([await at(effective - 1), await at(effective)], ['UnderReview', 'Verified']);
    },
  },

  'a vote takes effect once, whichever of several processes read it at the same time': {
    rules: CHANGEABLE,
    keep: async ({ documents, clock, again, service, domain, events }) => {
      const id = await domain();
      const { id: proposal } = await service.propose(rep, { did: id, body: verify });
      for (const who of ['ann', 'bob']) await service.vote(voter(who), { id: proposal, body: yes });
      await clock.advance(100_000);
      const readers = Array.from({ length: 6 }, () => registry({ documents, clock, settleVotes: again().settle }));
      const read = await Promise.all(
        readers.map(async (twins, at) =>
          at % 2
            ? (await twins.get(rep, id)).body.status
            : (await twins.list(rep, { status: 'Verified' })).items.find((one) => one.id === id)?.body.status,
        ),
      );
      assert.equal([...new Set(read)], ['Verified']);
      assert.equal(await events('domain', id), ['domain.created', 'domain.updated', 'domain.verified']);
      assert.is((await service.get(rep, proposal)).state, 'executed');
    },
  },

  'a vote is over also for those who read while the process that closed it is dead': {
    rules: CHANGEABLE,
    keep: async ({ documents, clock, again, service, domain, twins, events }) => {
      const [id, other] = [await domain(), await domain()];
      for (const one of [id, other]) {
        const { id: proposal } = await service.propose(rep, { did: one, body: verify });
        for (const who of ['ann', 'bob']) await service.vote(voter(who), { id: proposal, body: no });
      }
      await clock.advance(100_000);
      // It writes that the vote is over, and never comes to tell the domain. Once dead it writes nothing: without this,
      // the time limit of its call would make it claim the next try.
      let isDead = false;
      const replace: typeof documents.replace = async (kind, ...rest) =>
        kind.name === PROPOSAL.name && !isDead ? documents.replace(kind, ...rest) : new Promise(() => {});
      void again({ documents: { ...documents, replace } }).sweep();
      const untold = async () => (await documents.find(PROPOSAL, { index: 'calling', where: { calling: true } })).items;
      await until('both votes to be over', async () => (await untold()).length === 2);
      assert.equal(
        (await untold()).map(({ body }) => body.status),
        ['rejected', 'rejected'],
      );
      isDead = true;
      assert.is((await twins.get(rep, id)).body.status, 'Rejected');
      const rejected = (await twins.list(rep, { status: 'Rejected' })).items.map((one) => one.id);
      assert.ok(rejected.includes(other));
      await clock.advance(60_000);
      await service.sweep();
      assert.equal(await events('domain', id), ['domain.created', 'domain.updated', 'domain.updated']);
      assert.equal(await untold(), []);
    },
  },
};

/** Runs the suite, or the promises with these sentences. */
export function verificationPromises(name: string, open: OpenDocuments, sentences = Object.keys(PROMISES)): void {
  const test = suite(`verification on ${name}`);
  for (const sentence of sentences) {
    const { rules, keep } = PROMISES[sentence]!;
    test(sentence, () => withPolls(open, rules, keep));
  }
  test.run();
}

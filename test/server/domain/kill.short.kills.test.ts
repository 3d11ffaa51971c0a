// kill -9 of real server processes around deciding votes, the creation of organisations and what operators do: nothing doubled, nothing
// half, nothing that the audit log does not tell of.

import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { systemClock } from '../../../lib/clock.ts';
import { eventsAfter, type FeedEvent } from '../../../lib/domain/feed/feed.ts';
import { DOMAIN_KINDS } from '../../../lib/domain/kinds.ts';
import { sqliteDocuments } from '../../../lib/store/sqlite/index.ts';
import { flowFixture } from '../../support/flow-fixture.ts';
import { type RunningServer, startProcess, withFolder } from '../../support/process.ts';
import { numbersFrom } from '../../support/random.ts';
import { chooseSize } from '../../support/size.ts';
import { until } from '../../support/until.ts';
import { run } from '../support/command.ts';
import { type Book, beginFlow, type DeedPlace, doDeeds, newBook, openVotes, readOutcomes } from '../support/deeds.ts';
import { readEvents, type SeenEvent } from '../support/event-reader.ts';
import { type Answer, ask as askUrl } from '../support/serve.ts';
import { asker, COOKING, created, files, keyOf, type Name, PROTOCOL, path, type View, view, YES } from './place.ts';

const test = suite('the domain service under kill -9');

const KILLS = chooseSize({ short: 2, day: 8, whole: 50 });
const VOTES_PER_KILL = 9;
const ORGANISATIONS_PER_KILL = 4;
const DEEDS_PER_KILL = 4;
const READER = { authorization: `Bearer ${keyOf('rep')}` };

const PIN_KEYS = '91c4b1e0f3a2d59687786950a1b2c3d4e5f60718293a4b5c6d7e8f9012a3b4c5';

interface Running extends Pick<DeedPlace, 'ask' | 'plain' | 'url'> {
  readonly process: RunningServer;
}

async function start(env: Readonly<Record<string, string>>): Promise<Running> {
  const process = await startProcess(env);
  // On a busy machine a server may answer 503 because a request waited too long. Clients ask again, under the same key.
  const plain: Running['plain'] = (where, { headers, ...how } = {}) => {
    const keyed = { 'idempotency-key': randomUUID(), ...headers };
    const again = { ...how, headers: how.method === 'POST' ? keyed : { ...headers } };
    return until(`an answer of ${where} other than 503`, async () => {
      const answer = await askUrl(process.url + where, again);
      return answer.status !== 503 && answer;
    });
  };
  return { process, plain, ask: asker(() => plain), url: () => process.url };
}

/** The answer, or undefined when the process died on it. */
async function tried(answer: Promise<Answer>): Promise<Answer | undefined> {
  return answer.catch(() => undefined);
}

/** Domains on which one vote is missing, and the proposal of each. */
async function undecided({ ask }: Running, cycle: number): Promise<{ did: string; id: string; key: string }[]> {
  return Promise.all(
    Array.from({ length: VOTES_PER_KILL }, async (_, n) => {
      const { did } = created(await ask('owner', 'POST /v1/domains', { type: 'Project', class: COOKING }));
      const { id } = created(await ask('rep', `POST ${path(did)}/proposals`, { kind: 'verify' }));
      created(await ask('ann', `POST /v1/proposals/${id}/votes`, YES));
      return { did, id, key: `vote-${cycle}-${n}` };
    }),
  );
}

const ballot = ({ ask }: Running, { id, key }: { id: string; key: string }, name: Name = 'bob') =>
  ask(name, `POST /v1/proposals/${id}/votes`, YES, { 'idempotency-key': key });
const organisation = ({ ask }: Running, name: string) =>
  ask(
    'owner',
    'POST /v1/domains',
    { type: 'Organisation', class: COOKING, externalId: name },
    { 'idempotency-key': name },
  );
/** Credits of the amount that all have here. */
async function issue({ ask }: Running, book: Book, did: string): Promise<Answer> {
  book.begin('credits.issued', AMOUNT);
  const answer = await ask('issuer', `POST ${path(did)}/credits`, { amount: AMOUNT });
  if (answer.status === 201) book.acknowledge('credits.issued', AMOUNT);
  return answer;
}
const AMOUNT = '0.5';

/** Every organisation that can be seen has a group that can be seen, and every group its organisation. */
async function whole({ ask }: Running): Promise<string[]> {
  const list = async (type: string) => view(await ask('rep', `GET /v1/domains?type=${type}&limit=1000`)).items;
  const organisations = await list('Organisation');
  await Promise.all(
    organisations.map(async ({ did, subDomains }) => {
      const [group] = subDomains as string[];
      assert.ok(group, `${did} has no group`);
      assert.is(view(await ask('rep', `GET ${path(group)}`)).parent, did);
    }),
  );
  const groups = await list('MembershipGroup');
  for (const { parent } of groups) view(await ask('rep', `GET ${path(String(parent))}`));
  return organisations.map(({ externalId }) => String(externalId));
}

test(`${KILLS} kills of deciding votes and new organisations: verified once, credits after, groups always, no event missed, an entry for each deed`, () =>
  withFolder(async (folder) => {
    const data = join(folder, 'data');
    const env = {
      ...files(folder),
      DATA_DIR: data,
      MENUS_DIR: folder,
      PIN_ENCRYPTION_KEY: PIN_KEYS,
      PLUGINS: 'credits',
    };
    writeFileSync(join(folder, 'main.flow.json'), JSON.stringify(flowFixture('private')));
    const book = newBook();
    const decisive: string[] = [];
    const wanted = new Set<string>();
    const verified = new Set<string>();
    const votes: { did: string; id: string; key: string }[] = [];
    const acknowledged: View[] = [];
    const followed: SeenEvent[] = [];
    const random = numbersFrom(Number(process.env.TEST_SEED ?? 1));
    let position = '0';
    let server = await start(env);
    created(await server.ask('owner', 'POST /v1/protocols', PROTOCOL));
    const good = await openVotes(server);
    book.begin('proposal.executed', good.decisive);
    created(await server.ask('bob', `POST /v1/proposals/${good.decisive}/votes`, YES));
    const calm = { ...server, book, pinKeys: PIN_KEYS };
    const first = await openVotes(calm);
    await Promise.all([doDeeds(calm, { ...first, did: good.did, n: 1_000 }), beginFlow(calm, 'calm')]);
    decisive.push(good.decisive, first.decisive);
    try {
      for (let cycle = 0; cycle < KILLS; cycle++) {
        const open = await undecided(server, cycle);
        for (const { id } of open) book.begin('proposal.executed', id);
        const place = { ...server, book, pinKeys: PIN_KEYS };
        const deeds = await Promise.all(Array.from({ length: DEEDS_PER_KILL }, () => openVotes(place)));
        for (const one of [...open.map(({ id }) => id), ...deeds.map((one) => one.decisive)]) decisive.push(one);
        const names = Array.from({ length: ORGANISATIONS_PER_KILL }, (_, n) => `org-${cycle}-${n}`);

        // While the answers to some votes are out and those to others are not.
        const counted = countdown(cycle % (VOTES_PER_KILL - 1));
        const stream = await readEvents(`${server.process.url}/v1/events`, { ...READER, 'last-event-id': position });
        const asked = [
          ...open.map(async (one) => {
            const voting = tried(ballot(server, one)).then(counted.down);
            // Impatient: credits are tried before, while and after the vote is counted.
            for (let tries = 0; tries < 3; tries++) {
              const answer = await tried(issue(server, book, one.did));
              if (answer?.status === 201) acknowledged.push(answer.json() as View);
              else if (answer) assert.is(answer.status, 403, answer.text);
            }
            await voting;
          }),
          ...names.map(async (name) => void (await tried(organisation(server, name)))),
          ...deeds.map((votes, at) => doDeeds(place, { ...votes, did: good.did, n: cycle * DEEDS_PER_KILL + at + 1 })),
          beginFlow(place, `flow${cycle}`),
          whole(server).catch((error) => {
            if (error instanceof assert.Assertion) throw error;
          }),
        ];
        await counted.zero;
        for (let turn = Math.floor(random() * 100); turn > 0; turn--) await new Promise(setImmediate);
        await server.process.kill();
        await Promise.all(asked);
        await stream.ended;
        followed.push(...stream.events());
        position = stream.lastId() ?? position;

        server = await start(env);
        await whole(server);
        for (const { did, id } of open) {
          const [status, proposal] = await Promise.all([
            server.ask('rep', `GET ${path(did)}`),
            server.ask('rep', `GET /v1/proposals/${id}`),
          ]);
          const credit = await issue(server, book, did);
          // What is told by one route is never taken back by another one later.
          if (view(status).status === 'Verified') created(credit);
          if (view(proposal).status === 'executed')
            assert.is(view(await server.ask('rep', `GET ${path(did)}`)).status, 'Verified');
        }
        for (const answer of await Promise.all(
          open.map(({ id }) => server.ask('bob', `POST /v1/proposals/${id}/votes`, YES)),
        ))
          assert.ok(answer.status === 201 || answer.status === 409, answer.text);
        for (const name of names) wanted.add(name);
        for (const one of open) votes.push(one);
      }
      for (const { did, id } of votes) {
        await executedSoon(server, { did, id });
        created(await issue(server, book, did));
        verified.add(did);
      }
      // Every request again, with its key: it is answered as if nothing had happened, and nothing happens.
      const answers = await Promise.all(votes.map((one) => ballot(server, one)));
      for (const answer of answers) if (answer.status !== 409) assert.is(created(answer).status, 'executed');
      const again = await Promise.all([...wanted].map((name) => organisation(server, name).then(created)));
      assert.is(new Set(again.map(({ did }) => did)).size, wanted.size);
      assert.equal((await whole(server)).sort(), [...wanted].sort());
      for (const { did, id } of acknowledged) {
        const { items } = view(await server.ask('rep', `GET ${path(String(did))}/credits`));
        assert.ok(
          items.some((item) => item.id === id),
          `credits ${id} were told and are gone`,
        );
      }
      // Who followed through all of it reads on to the end, which is another event.
      const { did } = created(await organisation(server, 'the last'));
      const rest = await readEvents(`${server.process.url}/v1/events`, { ...READER, 'last-event-id': position });
      await rest.until(() => rest.events().some((event) => event.did === did));
      followed.push(...rest.events());
      await rest.close();
      await readOutcomes({ ...server, book, pinKeys: PIN_KEYS }, decisive);
    } finally {
      await server.process.kill();
    }
    const feed = await feedOf(data);
    checkFeed(feed, verified);
    const seqs = followed.map(({ seq }) => seq);
    assert.equal(seqs, feed.map(({ seq }) => seq).slice(0, seqs.length));
    assert.ok(seqs.length >= feed.length - 2);
    const { out } = await run(['audit', 'show', '--json'], env);
    const entries = out.split('\n').map((line) => JSON.parse(line));
    assert.equal(book.check(entries), []);
    for (const [deed, count] of Object.entries(book.counts())) assert.ok(count > 0, `${deed} was never acknowledged`);
    const chain = await run(['audit', 'verify'], env);
    assert.is(chain.code, 0, chain.out);
  }));

/** Resolves when `down` was called so many times. */
function countdown(from: number): { readonly down: () => void; readonly zero: Promise<void> } {
  let left = from;
  let tell = () => {};
  const zero = new Promise<void>((resolve) => {
    tell = resolve;
  });
  if (left === 0) tell();
  return { zero, down: () => void (--left === 0 && tell()) };
}

/**
 * A process that dies between decision and execution, or before it has noted the execution, holds it for some seconds;
 * then others do it.
 */
async function executedSoon({ ask }: Running, { did, id }: { did: string; id: string }): Promise<void> {
  await until(`${did} to be verified by ${id}`, async () => {
    const answers = await Promise.all([ask('rep', `GET ${path(did)}`), ask('rep', `GET /v1/proposals/${id}`)]);
    return answers.map((answer) => view(answer).status).join() === 'Verified,executed';
  });
}

async function feedOf(folder: string): Promise<FeedEvent[]> {
  const documents = sqliteDocuments({ path: join(folder, 'twinline.db'), clock: systemClock });
  await documents.declare(DOMAIN_KINDS);
  const events: FeedEvent[] = [];
  for (let after = 0, atEnd = false; !atEnd; ) {
    const page = await eventsAfter(documents, after, 500);
    events.push(...page.events);
    ({ upTo: after, atEnd } = page);
  }
  await documents.close();
  return events;
}

function checkFeed(events: readonly FeedEvent[], verified: ReadonlySet<string>): void {
  assert.is(verified.size, KILLS * VOTES_PER_KILL);
  const of = (did: string, type: string) => events.filter((event) => event.did === did && event.type === type);
  for (const did of verified) {
    const [first, second] = of(did, 'domain.verified');
    assert.ok(first && !second, `${did} was verified ${of(did, 'domain.verified').length} times`);
    assert.is(of(did, 'proposal.passed').length, 1);
    assert.is(of(did, 'proposal.executed').length, 1);
    assert.is(of(did, 'vote.cast').length, 2);
    for (const { seq } of of(did, 'credits.issued')) assert.ok(seq > first.seq, 'credits came first');
    assert.ok(of(did, 'credits.issued').length > 0);
  }
  const born = events.filter(({ type }) => type === 'domain.created').map(({ did }) => did);
  assert.is(new Set(born).size, born.length, 'nothing was created twice');
}

test.run();

// A vote that is over is over for whoever asks over HTTP, at the very moment of its close, though nobody has looked at it since.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { door } from './door.ts';
import { created, didOf, path, type View, view, YES } from './place.ts';

const test = suite('closed votes over HTTP');
// Nothing is decided before the close.
const { ask, domain, proposal, clock } = door(test, {
  rules: { quorum: '0.2', votingPeriodSeconds: 100, allowRevoting: true },
});

interface Subject {
  readonly did: string;
  readonly id: string;
}

/** New domains with a vote each that has just closed. */
async function closed(count: number): Promise<Subject[]> {
  const open = async () => {
    const { did } = await domain();
    const { id, closesAt } = await proposal(did);
    for (const who of ['ann', 'bob'] as const) created(await ask(who, `POST /v1/proposals/${id}/votes`, YES));
    assert.is(Date.parse(String(closesAt)), clock.now() + 100_000);
    return { did, id };
  };
  const made = await Promise.all(Array.from({ length: count }, open));
  await clock.advance(99_999);
  assert.is(view(await ask('rep', `GET ${path(made[0]!.did)}`)).status, 'UnderReview', 'a millisecond before');
  await clock.advance(1);
  return made;
}

const get = async (line: string) => view(await ask('operator', `GET ${line}`));
const now = () => new Date(clock.now()).toISOString();

/** Each asks alone, of a domain that nobody else has asked for. */
const READS: readonly ((subject: Subject) => Promise<unknown>)[] = [
  async ({ did }) => (await get(path(did))).status,
  async ({ did }) => (await get(path(did, 'entities'))).status,
  async ({ did }) => (await get(`${path(did)}?view=composed`)).status,
  async ({ did }) => (await get(`${path(did)}?at=${now()}`)).status,
  async ({ did }) => (await get(`${path(did)}/verification`)).status,
  async ({ did }) => (await get(`${path(did)}/eligibility`)).eligible === true && 'Verified',
  async ({ did }) => ((await get(`${path(did)}/card`)).credentialSubject as View).status,
  async ({ did }) => (await get(`${path(did)}/history`)).items[0]!.action === 'verify' && 'Verified',
  async ({ did }) => ((await get(`${path(did)}/graph`)).nodes as View[]).find((node) => node.did === did)!.status,
  async ({ did }) => (await get(`${path(did)}/proposals`)).items[0]!.status === 'executed' && 'Verified',
  async ({ did }) => {
    const answer = await ask('issuer', `POST ${path(did)}/credits`, { amount: '1' });
    return created(answer).status === 'issued' && 'Verified';
  },
  async ({ did }) => {
    const headers = { accept: 'application/did-resolution' };
    const answer = await ask(undefined, `GET /1.0/identifiers/${did}`, undefined, headers);
    return (view(answer).didDocumentMetadata as View).versionId === '3' && 'Verified';
  },
  async ({ id }) => (await get(`/v1/proposals/${id}`)).status === 'executed' && 'Verified',
  async ({ id }) => {
    const page = await ask('rep', `GET /v1/proposals/${id}`, undefined, { accept: 'text/html' });
    return page.text.includes('badge executed') && 'Verified';
  },
  // A change comes after the vote and does not undo it.
  async ({ did }) => {
    view(await ask('owner', `POST ${path(did)}/transfer`, { controller: [didOf('owner'), didOf('rep')] }));
    const actions = (await get(`${path(did)}/history`)).items.map(({ action }) => action);
    return actions.join() === 'transfer,verify,review,create' && 'Verified';
  },
];

test('each address tells the outcome', async () => {
  const subjects = await closed(READS.length);
  for (const [at, read] of READS.entries()) assert.is(await read(subjects[at]!), 'Verified', String(read));
});

test('lists tell the outcome of every such vote', async () => {
  for (const list of [
    'status=Verified',
    'filter=eq(status,"Verified")',
    'filter=eq(entityVerified,true)',
    'type=Project',
  ]) {
    const subjects = await closed(3);
    const { items } = await get(`/v1/domains?${encodeURI(list)}&limit=1000`);
    const found = items.filter(({ status }) => status === 'Verified').map(({ did }) => did);
    assert.ok(
      subjects.every(({ did }) => found.includes(did)),
      list,
    );
  }
  await closed(2);
  assert.equal((await get('/v1/domains?status=UnderReview')).items, []);
});

test('exports tell the outcome, of domains and of proposals', async () => {
  const subjects = await closed(2);
  const lines = (await ask('operator', 'GET /v1/export')).text.split('\n').filter((line) => line !== '');
  const records = lines.map((line) => JSON.parse(line) as { kind: string; did: string; body: { status: string } });
  const told = records.filter(({ kind, did }) => kind !== 'revision' && subjects.some((one) => one.did === did));
  assert.equal(told.map(({ body }) => body.status).sort(), ['Verified', 'Verified', 'executed', 'executed']);
});

test.run();

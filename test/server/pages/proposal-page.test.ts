// The page of a proposal: what people see, who may see it, and that nothing that others wrote is more than text.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SimulatedClock } from '../../../lib/clock.ts';
import { parseKeyring } from '../../../lib/keyring.ts';
import { html, markupText } from '../../../lib/markup.ts';
import { PAGE_LIMITS } from '../../../server/web/limits.ts';
import { pagePasses } from '../../../server/web/registry/proposal-pages.ts';
import { created, didOf, type Name, place, view } from '../domain/place.ts';
import { type Served, withServer } from '../support/serve.ts';

const EVIL = `<script>alert(1)</script><img src=x onerror="alert(2)">'"\`&lt;{{7*7}}`;
const RULES = {
  threshold: { kind: 'percent', value: '2/3' },
  quorum: '0.5',
  votingPeriodSeconds: 259_200,
  timelockSeconds: 3_600,
  allowRevoting: true,
  voters: [
    { did: didOf('ann'), power: '3' },
    { did: didOf('bob'), power: '1' },
    { did: didOf('cid'), power: '1' },
  ],
};

const test = suite('proposal page');
const there = place(test, { rules: RULES });
const { server, ask, domain, proposal } = there;

interface Made {
  readonly id: string;
  readonly did: string;
  /** Votes and gives the reason. */
  vote(name: Name, vote: string, rationale?: string): Promise<unknown>;
  /** The path of a link to the page, made by somebody with any key. */
  link(query?: string): Promise<string>;
}

async function made(name: string): Promise<Made> {
  const { did } = await domain({ metadata: { name } });
  const { id } = await proposal(did);
  return {
    id,
    did,
    vote: async (voter, vote, rationale) =>
      created(await ask(voter, `POST /v1/proposals/${id}/votes`, { vote, ...(rationale && { rationale }) })),
    link: async (query = '') =>
      (view(await ask('nobody', `GET /v1/proposals/${id}/page-link${query}`)) as unknown as { url: string }).url,
  };
}

/** The words of a page, as a reader without style or script has them. */
const wordsOf = (page: string) =>
  page
    .replace(/<(style|script|title)[\s\S]*?<\/\1>/g, '')
    .replace(/<[^>]+>/g, ' ')
    .replace(/\s+/g, ' ');

test('a key that asks for HTML sees the page; whoever asks for JSON or anything gets JSON', async () => {
  const { id } = await made('A stove');
  const accepts = async (accept?: string) =>
    (await ask('nobody', `GET /v1/proposals/${id}`, undefined, accept === undefined ? {} : { accept })).headers;
  assert.match((await accepts('text/html,application/xhtml+xml,*/*;q=0.8'))['content-type']!, 'text/html');
  for (const accept of [undefined, '*/*', 'application/json', 'text/html;q=0.5, application/json'])
    assert.match((await accepts(accept))['content-type']!, 'application/json', accept);
  const { vary, 'cache-control': caching } = await accepts('text/html');
  assert.match(vary!, 'Accept');
  assert.is(caching, 'private, no-store');
});

test('it says what is proposed, how it stands, what is needed, how long it lasts, who has voted', async () => {
  const { vote, link, did } = await made('Clean Cooking Lusaka');
  await vote('ann', 'yes');
  await vote('bob', 'no');
  const { status, text } = await server().ask(await link());
  assert.is(status, 200, text);
  const words = wordsOf(text);
  for (const said of [
    'Open Project Verify Clean Cooking Lusaka',
    did,
    /(2 days 23 hours|3 days) left to vote/,
    'Yes 3 60 %',
    'No 1 20 %',
    'Abstain 0 0 %',
    'Not voted 1 20 %',
    'Quorum 50 %',
    'Needed 2/3',
    'If the vote closed now, it would pass.',
    `Yes ${didOf('ann')} power 3`,
    `No ${didOf('bob')}`,
    '1 of 3 have not voted',
    'At least 2/3 of the yes and no votes must say yes.',
    'At least 50 % of all voting power must take part',
    'What has passed takes effect after 1 hour',
  ])
    assert.ok(typeof said === 'string' ? words.includes(said) : said.test(words), `${said}\n${words}`);
  assert.match(text, '<rect class="yes" x="0%" width="60%"');
  assert.match(text, '<rect class="no" x="75%" width="25%"');
});

test('a proposal that was stopped says so, and why', async () => {
  const { id, link } = await made('A stove');
  view(await ask('operator', `POST /v1/proposals/${id}/veto`, { reason: `Not now. ${EVIL}` }));
  const { text } = await server().ask(await link());
  assert.match(wordsOf(text), /Vetoed .* An operator has stopped it\. Not now\. &lt;script&gt;/);
  assert.not.match(text, 'left to vote');
});

test('names and rationales are text, whatever they hold', async () => {
  const { vote, link } = await made(EVIL);
  await vote('ann', 'no', EVIL);
  const { text } = await server().ask(await link('?rationales=show'));
  assert.is(text.split('&lt;script&gt;alert(1)&lt;/script&gt;').length, 4, 'in the title, the heading and the reason');
  assert.not.match(text, /<script>|<img|onerror="/);
  const escaped = markupText(html`<b title="${EVIL}">${[EVIL, html`<i>${'<'}</i>`]}</b>`);
  assert.not.match(escaped.slice(3), /<script|<img|"alert/);
  assert.match(escaped, '<i>&lt;</i>');
});

test('a link hides the reasons of voters unless who made it wanted them shown; only the last reason counts', async () => {
  const { vote, link } = await made('A stove');
  await vote('ann', 'no', 'The first reason.');
  await vote('ann', 'yes', 'The second reason.');
  await vote('bob', 'yes', 'Because of bob.');
  assert.not.match((await server().ask(await link())).text, /reason\.|Because/);
  const { text } = await server().ask(await link('?rationales=show'));
  assert.match(text, 'The second reason.');
  assert.match(text, 'Because of bob.');
  assert.not.match(text, 'The first reason.');
});

test('the line with a key that a browser without a link is shown leads to this server, whatever its Host says', async () => {
  const path = '/v1/proposals/one';
  const shown = async ({ ask, url }: Served) => {
    const { text } = await ask(path, { headers: { accept: 'text/html', host: 'evil.example' } });
    assert.not.match(text, 'evil.example');
    return [/\S+\/page-link/.exec(text)?.[0], url];
  };
  const [own, url] = await shown(server());
  assert.is(own, `${url}${path}/page-link`);
  const [open] = await withServer({ env: { PUBLIC_URL: 'https://twins.example.com/' } }, shown);
  assert.is(open, `https://twins.example.com${path}/page-link`);
});

test('only a link as it was made opens the page, only of its own proposal, and only the page', async () => {
  const { link, id } = await made('Secret stove');
  const other = await made('Another stove');
  const url = await link();
  const pass = new URL(url, 'http://a').searchParams.get('pass')!;
  const turned = async (path: string) => {
    const answer = await server().ask(path);
    assert.is(answer.status, 401, path);
    assert.match(answer.headers['content-type']!, 'text/html');
    assert.not.match(answer.text, 'Secret stove');
  };
  for (const at of [0, 5, pass.indexOf('.') + 1, pass.indexOf('.') + 3, pass.length - 1]) {
    const letter = pass[at] === 'r' ? 'n' : pass[at] === '7' ? '8' : '7';
    await turned(`/v1/proposals/${id}?pass=${pass.slice(0, at)}${letter}${pass.slice(at + 1)}`);
  }
  await turned(`/v1/proposals/${other.id}?pass=${pass}`);
  for (const wrong of ['', 'x', '9999999999.r..', `${pass}&pass=${pass}`, encodeURIComponent(EVIL)])
    await turned(`/v1/proposals/${id}?pass=${wrong}`);
  await turned(`/v1/proposals/none?pass=${pass}`);
  for (const path of [`/v1/proposals/${id}/votes`, `/v1/proposals/${id}/page-link`, '/v1/proposals'])
    assert.is((await server().ask(`${path}?pass=${pass}`)).status, 401, path);
  assert.is((await server().ask(url, { method: 'POST' })).status, 401);
  assert.is((await server().ask(url, { method: 'HEAD' })).status, 200);
});

test('without a key or a link, a browser is told how to get one, and a program gets its problem document', async () => {
  const { id } = await made('Secret stove');
  const page = await server().ask(`/v1/proposals/${id}`, { headers: { accept: 'text/html' } });
  assert.is(page.status, 401);
  assert.match(wordsOf(page.text), 'This page opens by a link');
  assert.not.match(page.text, 'Secret stove');
  const problem = await server().ask(`/v1/proposals/${id}`);
  assert.is(problem.headers['content-type'], 'application/problem+json');
  assert.is((await ask('stranger', `GET /v1/proposals/${id}`, undefined, { accept: 'text/html' })).status, 404);
});

test('passes stand in no log and no metric, and are sent to nobody', async () => {
  const { link } = await made('A stove');
  const url = await link();
  const { headers } = await server().ask(url);
  await server().ask(`${url}x`);
  assert.is(headers['referrer-policy'], 'no-referrer');
  const pass = new URL(url, 'http://a').searchParams.get('pass')!;
  const [until, , mac] = pass.split('.');
  for (const secret of [pass, until!, mac!]) {
    assert.not.match(JSON.stringify(server().logged), secret);
    assert.not.match((await server().ask('/metrics')).text, secret);
  }
  const told = server().logged.filter(({ route }) => route === '/v1/proposals/:id');
  assert.ok(told.length >= 2, 'requests for pages are logged under their route');
});

test('a pass is good for an hour, also after a new key was put before the old one', async () => {
  const clock = new SimulatedClock();
  const old = '8f1de1e2c1a53b2d7f6a90e4b35c7d2818aa4cfe0b61d9f3e27c5b8490ad6f13';
  const other = `b:${[...old].reverse().join('')}`;
  const passes = pagePasses({ keyring: parseKeyring(`a:${old}`), clock });
  const { pass, expiresAt } = passes.issue('id', { rationales: true });
  assert.ok(expiresAt >= clock.now() + PAGE_LIMITS.pagePassMs);
  const rotated = pagePasses({ keyring: parseKeyring(`${other},a:${old}`), clock });
  assert.equal(rotated.read('id', pass), { kind: 'valid', rationales: true });
  assert.equal(pagePasses({ keyring: parseKeyring(other), clock }).read('id', pass), { kind: 'wrong' });
  await clock.advance(expiresAt - clock.now() - 1);
  assert.is(passes.read('id', pass).kind, 'valid');
  await clock.advance(1);
  assert.is(passes.read('id', pass).kind, 'expired');
});

test.run();

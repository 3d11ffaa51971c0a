// What readers and operators hear when a model fails: of which kind, how often it was asked, and nothing that is secret.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { AGENT_LIMITS } from '../../lib/agent/limits.ts';
import { optionalPackage, TwinlineError } from '../../lib/errors.ts';
import { until } from '../support/until.ts';
import { framesOf, newSession, type SeenFrame, say, settled, shownText, soundLog } from './ground.ts';
import { type Asking, asking } from './model-ground.ts';
import { type Answer, breaks, DONE, ended, event, fails, hangs, said, says, streams } from './model-server.ts';

const test = suite('faults of models');

const SECRETS = /canary|provider\.example|127\.0\.0\.1|sk-/;
const SOON = { 'retry-after-ms': '1' };

const TRIES = 1 + AGENT_LIMITS.modelRetries;

/** As users read it: kind, status, whether to try again. */
type Told = readonly [kind: string, status: number, retryable: boolean];
const OURS: Told = ['unknown', 500, false];
const LIMIT: Told = ['rate_limit', 429, true];
const BROKEN: Told = ['server', 502, true];
const CUT: Told = ['network', 503, true];

const odd =
  (status: number, headers: Readonly<Record<string, string>>, text = ''): Answer =>
  (response) =>
    void response.writeHead(status, headers).end(text);
const overloaded = event({ error: { message: 'canary', type: 'overloaded_error' } });
const withStatus = event({ error: { message: 'canary', code: 502 } });
const longLine = `data: ${'x'.repeat(AGENT_LIMITS.modelLineBytes + 1)}`;

/** What fails, what is told to users, and as operators read it; how often the model is asked where that is not once. */
const CASES: readonly (readonly [what: string, answer: Answer, told: Told, logged: RegExp, asked?: number])[] = [
  ['a wrong key', fails(401, { code: 'invalid_api_key' }), OURS, /auth, status 401, "invalid_api_key"/],
  ['a forbidden model', fails(403), OURS, /auth, status 403/],
  ['an unpaid bill', fails(402, { code: 402 }), OURS, /billing, status 402/],
  ['an empty account', fails(429, { type: 'insufficient_quota' }, SOON), OURS, /billing, status 429/, TRIES],
  ['too many requests', fails(429, { code: 'rate_limit_exceeded' }, SOON), LIMIT, /rate_limit, status 429/, TRIES],
  ['a broken server', fails(500, {}, SOON), BROKEN, /server, status 500/, TRIES],
  ['a proxy that waited', fails(504, {}, SOON), ['timeout', 504, true], /timeout/, TRIES],
  ['an unknown model', fails(404, { code: 'model_not_found' }), OURS, /unknown, status 404, "model_not_found"/],
  ['too long a prompt', fails(400, { code: 'context_length_exceeded' }), OURS, /context_length_exceeded/],
  [
    'an error that is no JSON',
    odd(418, { 'content-type': 'text/html' }, '<h1>canary</h1>'),
    OURS,
    /unknown, status 418/,
  ],
  [
    'a redirect',
    odd(302, { location: 'http://127.0.0.1:1/canary' }),
    BROKEN,
    /answered 302; redirects are not followed/,
  ],
  ['garbage', streams('data: {"choices":[{"del\n\n'), BROKEN, /server/],
  ['a page', odd(200, {}, '<html>canary</html>'), CUT, /network/],
  ['nothing', streams(ended()), BROKEN, /returned an empty response/],
  ['only an end', streams(DONE), BROKEN, /returned an empty response/],
  ['an error in the stream', streams(said('A'), overloaded), LIMIT, /rate_limit, "overloaded_error"/],
  ['an error in the stream with a status', streams(said('A'), withStatus), BROKEN, /server, status 502/],
  ['a stream without its end', streams(said('A')), CUT, /network/],
  ['a broken connection', breaks(said('A')), CUT, /network/],
  ['a line without an end', streams(longLine), BROKEN, /a line of more than/],
];

for (const [what, answer, told, logged, asked = 1] of CASES)
  test(`${what} is told as ${told[0]}`, () =>
    asking([answer], async ({ ask, server, problems }) => {
      const frames = await ask('go');
      soundLog(frames);
      const error = frames.at(-2)!;
      assert.is(error.event, 'error');
      assert.equal([error.json.kind, error.json.status, error.json.retryable], told);
      assert.is(error.json.source, 'platform');
      assert.equal(frames.at(-1)!.json.status, 'failed');
      assert.is(server.asked.length, asked);
      assert.not.match(JSON.stringify(frames), SECRETS);
      assert.is(problems.length, 1);
      assert.match(String(problems[0]), logged);
      assert.not.match(`${problems[0]} ${(problems[0] as Error).stack} ${JSON.stringify(problems)}`, SECRETS);
    }));

test('a failure before the first word is tried again, and readers see nothing of it', () =>
  asking([fails(429, {}, SOON), fails(503, {}, SOON), says('there')], async ({ ask, server, problems }) => {
    const frames = await ask('go');
    assert.equal([shownText(frames), frames.at(-1)!.json.status, server.asked.length], ['there', 'finished', 3]);
    assert.equal(problems, []);
  }));

/** Sends, waits until the model has been asked and `seen` of the frames, and lets time pass. */
async function inSilence({ agent, clock, server }: Asking, ms: number, seen: (frame: SeenFrame) => boolean) {
  const session = await newSession(agent);
  const runId = await say(agent, session, 'go');
  const following = (await agent.follow({ owner: 'did:key:ann', runId, after: 0 }))!;
  const frames: SeenFrame[] = [];
  for await (const some of following.frames) {
    for (const frame of some) frames.push({ ...frame, json: JSON.parse(frame.data) });
    if (!frames.some(seen)) continue;
    await until('the model is asked', () => server.asked.length > 0);
    break;
  }
  await settled();
  await clock.advance(ms - 1_000);
  await settled();
  const early = (await agent.openRun('did:key:ann', session))?.status;
  await clock.advance(2_000);
  return { early, frames: await framesOf(agent, runId) };
}

test('a model that never begins is given up after its time, and its connection is closed', () =>
  asking([hangs()], async (here) => {
    const { early, frames } = await inSilence(
      here,
      AGENT_LIMITS.modelAnswerMs,
      ({ event: name }) => name === 'reasoning',
    );
    assert.is(early, 'running');
    assert.equal([frames.at(-2)!.json.kind, frames.at(-2)!.json.status], ['timeout', 504]);
    assert.is(here.server.asked.length, 1, 'whoever waited once does not wait again');
    await until('its connection is closed', () => here.server.cut() === 1);
  }));

test('a model that stops in the middle is given up after its time; what it said is kept', () =>
  asking([hangs(said('I was about'))], async (here) => {
    const { early, frames } = await inSilence(here, AGENT_LIMITS.modelStallMs, ({ event: name }) => name === 'message');
    assert.is(early, 'running');
    assert.equal([frames.at(-2)!.json.kind, shownText(frames)], ['timeout', 'I was about']);
    assert.match(String(here.problems[0]), `No data arrived for ${AGENT_LIMITS.modelStallMs} ms`);
  }));

test('a package that is not installed is named, with what to do', async () => {
  const missing = 'twinline-has-no-such-package';
  const error = await optionalPackage(() => import(missing), {
    purpose: 'use MCP servers',
    packages: '@modelcontextprotocol/sdk@1',
  }).catch((one) => one);
  assert.instance(error, TwinlineError);
  assert.is(error.code, 'ERR_CONFIG');
  assert.match(error.message, 'npm install @modelcontextprotocol/sdk@1');
  const broken = await optionalPackage(() => Promise.reject(new SyntaxError('broken')), {
    purpose: '',
    packages: '',
  }).catch((one) => one);
  assert.instance(broken, SyntaxError);
});

test.run();

// What readers and operators hear when a model fails: of which kind, how often it was asked, and nothing that is secret.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { AGENT_LIMITS } from '../../lib/agent/limits.ts';
import { optionalPackage, TwinlineError } from '../../lib/errors.ts';
import { framesOf, newSession, type SeenFrame, say, settled, shownText, soundLog } from './ground.ts';
import { type Asking, asking } from './model-ground.ts';
import { type Answer, breaks, DONE, ended, event, fails, hangs, said, says, streams } from './model-server.ts';

const test = suite('faults of models');

const SECRETS = /canary|provider\.example|127\.0\.0\.1|sk-/;
const SOON = { 'retry-after-ms': '1' };

interface Case {
  readonly what: string;
  readonly answer: Answer;
  /** As users read it: kind, status, whether to try again. */
  readonly told: readonly [kind: string, status: number, retryable: boolean];
  /** As operators read it. */
  readonly logged: RegExp;
  /** @default 1 */
  readonly asked?: number;
}

const OURS = ['unknown', 500, false] as const;
const TRIES = 1 + AGENT_LIMITS.modelRetries;

const CASES: readonly Case[] = [
  {
    what: 'a wrong key',
    answer: fails(401, { code: 'invalid_api_key' }),
    told: OURS,
    logged: /auth, status 401, "invalid_api_key"/,
  },
  { what: 'a forbidden model', answer: fails(403), told: OURS, logged: /auth, status 403/ },
  { what: 'an unpaid bill', answer: fails(402, { code: 402 }), told: OURS, logged: /billing, status 402/ },
  {
    what: 'an empty account',
    answer: fails(429, { type: 'insufficient_quota' }, SOON),
    told: OURS,
    logged: /billing, status 429/,
    asked: TRIES,
  },
  {
    what: 'too many requests',
    answer: fails(429, { type: 'requests', code: 'rate_limit_exceeded' }, SOON),
    told: ['rate_limit', 429, true],
    logged: /rate_limit, status 429/,
    asked: TRIES,
  },
  {
    what: 'a broken server',
    answer: fails(500, {}, SOON),
    told: ['server', 502, true],
    logged: /server, status 500/,
    asked: TRIES,
  },
  {
    what: 'a proxy that waited',
    answer: fails(504, {}, SOON),
    told: ['timeout', 504, true],
    logged: /timeout/,
    asked: TRIES,
  },
  {
    what: 'an unknown model',
    answer: fails(404, { code: 'model_not_found' }),
    told: OURS,
    logged: /unknown, status 404, "model_not_found"/,
  },
  {
    what: 'too long a prompt',
    answer: fails(400, { code: 'context_length_exceeded' }),
    told: OURS,
    logged: /context_length_exceeded/,
  },
  {
    what: 'an error that is no JSON',
    answer: (response) => {
      response.writeHead(418, { 'content-type': 'text/html' }).end('<h1>canary</h1>');
    },
    told: OURS,
    logged: /unknown, status 418/,
  },
  {
    what: 'a redirect',
    answer: (response) => {
      response.writeHead(302, { location: 'http://127.0.0.1:1/canary' }).end();
    },
    told: ['server', 502, true],
    logged: /answered 302; redirects are not followed/,
  },
  { what: 'garbage', answer: streams('data: {"choices":[{"del\n\n'), told: ['server', 502, true], logged: /server/ },
  {
    what: 'a page',
    answer: (response) => void response.end('<html>canary</html>'),
    told: ['network', 503, true],
    logged: /network/,
  },
  { what: 'nothing', answer: streams(ended()), told: ['server', 502, true], logged: /answered with nothing/ },
  { what: 'only an end', answer: streams(DONE), told: ['network', 503, true], logged: /network/ },
  {
    what: 'an error in the stream',
    answer: streams(said('A'), event({ error: { message: 'canary', type: 'overloaded_error' } })),
    told: ['rate_limit', 429, true],
    logged: /rate_limit, "overloaded_error"/,
  },
  {
    what: 'an error in the stream with a status',
    answer: streams(said('A'), event({ error: { message: 'canary', code: 502 } })),
    told: ['server', 502, true],
    logged: /server, status 502/,
  },
  { what: 'a stream without its end', answer: streams(said('A')), told: ['network', 503, true], logged: /network/ },
  { what: 'a broken connection', answer: breaks(said('A')), told: ['network', 503, true], logged: /network/ },
  {
    what: 'a line without an end',
    answer: streams(`data: ${'x'.repeat(AGENT_LIMITS.modelLineBytes + 1)}`),
    told: ['server', 502, true],
    logged: /a line of more than/,
  },
];

for (const { what, answer, told, logged, asked = 1 } of CASES)
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

test('an endpoint that is away is tried again, and is told as network', async () => {
  await asking(
    [says('never')],
    async ({ ask, problems }) => {
      const frames = await ask('go');
      assert.equal([frames.at(-2)!.json.kind, frames.at(-2)!.json.status], ['network', 503]);
      assert.not.match(JSON.stringify([frames, String(problems[0])]), SECRETS);
    },
    { baseUrl: () => 'http://127.0.0.1:1/v1' },
  );
});

/** Sends, waits until the model has been asked and `seen` of the frames, and lets time pass. */
async function inSilence({ agent, clock, server }: Asking, ms: number, seen: (frame: SeenFrame) => boolean) {
  const session = await newSession(agent);
  const runId = await say(agent, session, 'go');
  const following = (await agent.follow({ owner: 'did:key:ann', runId, after: 0 }))!;
  const frames: SeenFrame[] = [];
  for await (const some of following.frames) {
    for (const frame of some) frames.push({ ...frame, json: JSON.parse(frame.data) });
    if (!frames.some(seen)) continue;
    for (let n = 0; server.asked.length === 0 && n < 500; n++) await new Promise((resolve) => setTimeout(resolve, 10));
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
    for (let n = 0; here.server.cut() === 0 && n < 500; n++) await new Promise((resolve) => setTimeout(resolve, 10));
    assert.is(here.server.cut(), 1);
  }));

test('a model that stops in the middle is given up after its time; what it said is kept', () =>
  asking([hangs(said('I was about'))], async (here) => {
    const { early, frames } = await inSilence(here, AGENT_LIMITS.modelStallMs, ({ event: name }) => name === 'message');
    assert.is(early, 'running');
    assert.equal([frames.at(-2)!.json.kind, shownText(frames)], ['timeout', 'I was about']);
    assert.match(String(here.problems[0]), `Nothing came for ${AGENT_LIMITS.modelStallMs} ms`);
  }));

test('a model that trickles is heard until the run has had its time', () =>
  asking([hangs(said('…'))], async ({ agent, clock }) => {
    const session = await newSession(agent);
    const runId = await say(agent, session, 'go');
    await settled();
    await clock.advance(AGENT_LIMITS.runMs);
    const frames = await framesOf(agent, runId);
    assert.is(frames.at(-2)!.json.kind, 'timeout');
  }));

test('a package that is not installed is named, with what to do', async () => {
  const missing = 'twinline-has-no-such-package';
  const error = await optionalPackage(() => import(missing), { purpose: 'ask a model', packages: 'ai@6' }).catch(
    (one) => one,
  );
  assert.instance(error, TwinlineError);
  assert.is(error.code, 'ERR_CONFIG');
  assert.match(error.message, 'npm install ai@6');
  const broken = await optionalPackage(() => Promise.reject(new SyntaxError('broken')), {
    purpose: '',
    packages: '',
  }).catch((one) => one);
  assert.instance(broken, SyntaxError);
});

test.run();

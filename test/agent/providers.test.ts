// Streams of chat completions in the shapes of many providers: what becomes of each; and whatever is changed in them, no text is
// lost and nothing fails unhandled.

import { readdirSync, readFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { HostTool, ResponderPart, ResponderTurn } from '../../lib/agent/responder.ts';
import { readAnswer } from '../../lib/agent/responders/chat-completions.ts';
import { modelResponder } from '../../lib/agent/responders/model.ts';
import { numbersFrom } from '../support/random.ts';
import { shownText, soundLog } from './ground.ts';
import { asking } from './model-ground.ts';
import { type Answer, event, says } from './model-server.ts';

const test = suite('streams of providers');

interface Case {
  readonly what: string;
  /** Of the stream; texts stand as they are, [DONE] is data. */
  readonly chunks: readonly (object | string)[];
  /** The only one of the chunks is sent as JSON, not as an event. */
  readonly json?: boolean;
  readonly model?: string;
  readonly text?: string;
  readonly reasoning?: string;
  /** Arguments of the calls of `echo`, as JSON. */
  readonly calls?: readonly string[];
  /** Fields of the answer, or of its first call, that the next request has again. */
  readonly returned?: { readonly [field: string]: unknown };
  readonly usage?: readonly [input: number, output: number];
  /** In the words for users. */
  readonly fault?: string;
  readonly retryable?: boolean;
}

const FOLDER = new URL('./providers/', import.meta.url);
const CASES = readdirSync(FOLDER).flatMap((file) =>
  (JSON.parse(readFileSync(new URL(file, FOLDER), 'utf8')) as Case[]).map((one) => ({
    ...one,
    provider: file.slice(0, -5),
  })),
);

const write = (chunk: object | string) =>
  typeof chunk !== 'string' ? event(chunk) : chunk === '[DONE]' ? 'data: [DONE]\n\n' : chunk;

function answerOf({ chunks, json }: Case): Answer {
  return (response) => {
    response.writeHead(200, { 'content-type': json ? 'application/json' : 'text/event-stream' });
    for (const chunk of chunks) response.write(json ? JSON.stringify(chunk) : write(chunk));
    response.end();
  };
}

for (const one of CASES)
  test(`${one.provider}: ${one.what}`, () => {
    const { text = '', reasoning = '', calls = [], fault, retryable = false, usage } = one;
    const called: string[] = [];
    const echo: HostTool = {
      ...{ name: 'echo', description: 'Says it again', schema: { type: 'object', properties: {} } },
      handler: (args) => called.push(JSON.stringify(args)),
    };
    return asking(
      [answerOf(one), says('')],
      async ({ ask, server, ends, problems }) => {
        const frames = await ask('go');
        soundLog(frames);
        assert.is(shownText(frames), text);
        const thoughts = frames.flatMap(({ event: name, json }) => (name === 'reasoning' ? [json.reasoning] : []));
        assert.is(thoughts.filter((thought) => thought !== 'Thinking…').join(''), reasoning);
        assert.equal(called, calls);
        const error = frames.find(({ event: name }) => name === 'error')?.json;
        if (fault === undefined) assert.equal([error, frames.at(-1)!.json.status], [undefined, 'finished']);
        else {
          assert.match(String(error?.error), fault);
          assert.is(error?.retryable, retryable);
          // What a model does not want to say is no problem of an operator.
          assert.is(problems.length, /filter|was cut/.test(fault) ? 0 : 1);
        }
        assert.not.match(JSON.stringify([frames, problems.map(String)]), 'canary');
        // The second request is answered with the same numbers.
        const times = server.asked.length;
        if (usage) assert.equal(ends[0]!.usage, { inputTokens: usage[0] * times, outputTokens: usage[1] * times });
        const said = server.asked[1]?.body.messages.find(({ role, tool_calls: made }) => role === 'assistant' && made);
        for (const [field, value] of Object.entries(one.returned ?? {})) {
          const [first] = (said?.tool_calls ?? []) as Record<string, unknown>[];
          assert.equal((said as unknown as Record<string, unknown>)[field] ?? first?.[field], value, field);
        }
      },
      { hostTools: () => [echo], ...(one.model && { model: one.model }) },
    );
  });

test('a model whose template opens its thoughts is known after its first reply', () =>
  asking(
    [answerOf({ what: '', chunks: [chunk('Hm.</th'), chunk('ink>\n'), chunk('Hello'), '[DONE]'] })],
    async ({ ask }) => {
      assert.is(shownText(await ask('go')), 'Hm.\nHello', 'what was shown cannot be taken back');
      const frames = await ask('go');
      assert.is(shownText(frames), 'Hello');
      assert.ok(frames.some(({ json }) => json.reasoning === 'Hm.'));
    },
  ));

function chunk(content: string): object {
  return { choices: [{ index: 0, delta: { content } }] };
}

test('a provider that wants a long pause is told to the user at once; one that wants a short one is asked again', () => {
  const busy =
    (after: string): Answer =>
    (response) =>
      void response.writeHead(429, { 'retry-after': after }).end('{}');
  return asking([busy('1500'), busy('0'), says('Hello')], async ({ ask, server }) => {
    const [error] = (await ask('go')).filter(({ event: name }) => name === 'error');
    assert.match(String(error!.json.error), 'too many requests. Try again in 25 minutes.');
    assert.is(server.asked.length, 1);
    assert.is(shownText(await ask('go')), 'Hello');
  });
});

const random = numbersFrom(Number(process.env.TEST_SEED ?? 1));
const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
const ODD = [null, 0, '', 'x', [], {}, true, [null], { x: [1] }, -1];

/** Drops, empties and reorders fields at any depth, and puts odd ones in. */
function mutate(value: unknown): unknown {
  if (random() < 0.03) return pick(ODD);
  if (Array.isArray(value)) return value.map(mutate);
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value)
    .filter(() => random() > 0.05)
    .map(([name, part]) => [name, mutate(part)] as const);
  if (random() < 0.1) fields.push([pick(['x', 'delta', 'content', 'index', 'error_', 'type']), pick(ODD)]);
  return Object.fromEntries(random() < 0.2 ? fields.reverse() : fields);
}

type Fields = { readonly [name: string]: unknown };

/** The texts that still stand in a chunk where texts stand, by a reading of its own. */
function textsIn(chunks: readonly unknown[]): string {
  const isObject = (value: unknown): value is Fields =>
    typeof value === 'object' && value !== null && !Array.isArray(value);
  return chunks
    .filter(isObject)
    .flatMap(({ choices }) =>
      Array.isArray(choices)
        ? choices
            .filter(isObject)
            .filter(({ index }) => (index ?? 0) === 0)
            .slice(0, 1)
        : [],
    )
    .map(({ delta }) => (isObject(delta) && typeof delta.content === 'string' ? delta.content : ''))
    .join('');
}

const ROUNDS = 25;

test('whatever is dropped, emptied or put in, no text is lost, and a reply ends with at most one fault', async () => {
  const problems: unknown[] = [];
  const turn = {
    ...{ request: { message: 'go' }, history: async () => [], signal: new AbortController().signal },
    tools: { tools: [], call: async () => ({ ok: true, output: 1 }) },
  } as unknown as ResponderTurn;
  let whole = 0;
  for (const { chunks, json, what } of CASES)
    for (let round = 0; round < ROUNDS; round++) {
      if (json || what.includes('tag') || what.includes('thoughts stand')) continue;
      const mutated = chunks.map((one) => (typeof one === 'string' ? one : mutate(one)));
      const body = mutated
        .map((one, at) => (typeof chunks[at] === 'string' ? write(one as string) : event(one)))
        .join('');
      let requests = 0;
      const responder = await modelResponder({
        models: [
          {
            ...{ specificationVersion: 'v4', modelId: 'm' },
            doStream: async () => ({ stream: readAnswer(new Response(requests++ === 0 ? body : 'data: [DONE]\n\n')) }),
          },
        ],
        onProblem: (problem) => problems.push(problem),
      });
      const parts: ResponderPart[] = [];
      for await (const part of responder.respond(turn)) parts.push(part);
      const faults = parts.filter(({ type }) => type === 'error');
      assert.ok(faults.length <= 1 && (faults.length === 0 || parts.at(-1) === faults[0]), body);
      // Behind an error that a provider reports nothing is read.
      const reported = mutated.findIndex(
        (one) => (one as Fields | null)?.error || (one as Fields | null)?.object === 'error',
      );
      const read = reported < 0 ? mutated : mutated.slice(0, reported);
      const said = parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
      const text = textsIn(read);
      assert.ok(isIn(text, said), `${JSON.stringify(text)} is not in ${JSON.stringify(said)}: ${body}`);
      if (!faults.length) whole++;
    }
  assert.ok(whole > 40, String(whole));
  assert.not.match(problems.map(String).join(), 'canary');
});

// Other fields may say something, too.
function isIn(text: string, said: string): boolean {
  let at = 0;
  for (const character of said) if (character === text[at]) at++;
  return at === text.length;
}

test.run();

// The responder that asks a model, at any endpoint that speaks OpenAI's chat completions.
//
// One reply takes a few requests: the model calls tools, gets their results, and goes on. The SDK makes the requests;
// limits, order and error messages are defined here.

import type { TextStreamPart, ToolSet } from 'ai';
import { type Clock, systemClock } from '../../clock.ts';
import { optionalPackage, TwinlineError } from '../../errors.ts';
import { requireGiven } from '../../given.ts';
import { boundedFetch } from '../../http/bounded-fetch.ts';
import { beginTraced, type TracedWork } from '../../http/tracing.ts';
import { AGENT_LIMITS } from '../limits.ts';
import type { Responder, ResponderPart, ResponderTurn } from '../responder.ts';
import { describeFailure, isRejected, readFailure, toRunFault } from './model-faults.ts';
import { hasImages, type Images, modelTools, type Schemas, systemText, toModelMessages } from './model-request.ts';

/** Options of `modelResponder`. */
export interface ModelOptions {
  readonly endpoint: ModelEndpoint;
  /** The model that answers. */
  readonly model: string;
  /** Others that a message may ask for; what it asks for beside these is left out. @default none */
  readonly others?: readonly string[];
  /** What every reply is to begin from. @default a plain assistant */
  readonly systemPrompt?: string;
  /** @default the system's clock */
  readonly clock?: Clock;
  /** Called when a model failed; the message holds nothing of what was sent or of the endpoint. */
  readonly onProblem?: (error: TwinlineError) => void;
}

type Sdk = typeof import('ai');

/**
 * Opens the responder. Throws ERR_CONFIG when the packages that it needs are not installed.
 * @example
 * const endpoint = { baseUrl: 'https://models.example/v1', apiKey: process.env.MODEL_API_KEY };
 * const responder = await modelResponder({ endpoint, model: 'small' });
 * responder.name; // → 'model'
 */
export async function modelResponder(options: ModelOptions): Promise<Responder> {
  requireGiven('answer by a model', options, { endpoint: 'object', model: 'text' });
  const { endpoint, clock = systemClock, onProblem = () => {} } = options;
  const [sdk, { createOpenAICompatible }] = await optionalPackage(
    () => Promise.all([import('ai'), import('@ai-sdk/openai-compatible')]),
    { purpose: 'ask a model', packages: 'ai@6 @ai-sdk/openai-compatible@2' },
  );
  const provider = createOpenAICompatible({
    ...providerSettings(endpoint),
    fetch: boundedFetch({
      clock,
      headersMs: AGENT_LIMITS.modelAnswerMs,
      stallMs: AGENT_LIMITS.modelStallMs,
      bytes: AGENT_LIMITS.modelStreamBytes,
      lineBytes: AGENT_LIMITS.modelLineBytes,
    }),
  });
  const known = new Set([options.model, ...(options.others ?? [])]);

  async function* respond(turn: ResponderTurn): AsyncGenerator<ResponderPart> {
    const { request } = turn;
    const model = request.model && known.has(request.model) ? request.model : options.model;
    const [history, about = []] = await Promise.all([turn.history(), turn.instructions?.()]);
    const system = systemText({ prompt: options.systemPrompt, about, request, now: clock.now() });
    for (const how of ['given', 'plain'] as const) {
      const images: Images = how === 'given' ? 'shown' : 'described';
      const schemas: Schemas = how === 'given' ? 'given' : 'open';
      const messages = toModelMessages(history, request, images);
      const thrown = yield* ask(sdk, turn, { model: provider(model), name: model, system, messages, schemas });
      if (!thrown || turn.signal.aborted) return;
      const failure = readFailure(thrown.error);
      // An endpoint may refuse images, or what stands in the schemas of clients: then it is asked without.
      const canBePlainer = how === 'given' && (turn.tools.tools.length > 0 || hasImages(request));
      if (canBePlainer && isRejected(failure) && !thrown.hasBegun) continue;
      onProblem(describeFailure(failure));
      yield { type: 'error', fault: toRunFault(failure) };
      return;
    }
  }

  return { name: 'model', isResumable: false, respond };
}

type Asking = Pick<Parameters<Sdk['streamText']>[0], 'model' | 'system'> & {
  readonly messages: ReturnType<typeof toModelMessages>;
  readonly schemas: Schemas;
  /** Of the model. */
  readonly name: string;
};

/** Why a reply broke off, and whether any part of it was yielded. */
type Interruption = { readonly error: unknown; readonly hasBegun: boolean };

async function* ask(
  sdk: Sdk,
  turn: ResponderTurn,
  asking: Asking,
): AsyncGenerator<ResponderPart, Interruption | undefined> {
  const { schemas, name, ...prompt } = asking;
  const over = new AbortController();
  const stop = () => over.abort();
  turn.signal.addEventListener('abort', stop, { once: true });
  if (turn.signal.aborted) stop();
  const order = callsInOrder(over.signal);
  let hasBegun = false;
  let failure: unknown;
  let asked: TracedWork<AsyncIterable<TextStreamPart<ToolSet>>> | undefined;
  try {
    const stream = () =>
      sdk.streamText({
        ...prompt,
        tools: modelTools({ box: turn.tools, schemas, afterText: order.afterText, sdk }),
        stopWhen: sdk.stepCountIs(AGENT_LIMITS.modelSteps),
        // The last request is for an answer: it offers no tools.
        prepareStep: ({ stepNumber }) => (stepNumber === AGENT_LIMITS.modelSteps - 1 ? { toolChoice: 'none' } : {}),
        maxRetries: AGENT_LIMITS.modelRetries,
        abortSignal: over.signal,
        // Addresses go to the model as they are; this server fetches none of them.
        experimental_download: async (wanted) => wanted.map(() => null),
        onError: () => {},
      }).fullStream;
    const attributes = {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'openai',
      'gen_ai.request.model': name,
    };
    asked = beginTraced(`chat ${name}`, { way: 'out', attributes }, stream);
    for await (const part of asked.result) {
      if (turn.signal.aborted) return undefined;
      if (part.type === 'tool-call') order.markSeen(part.toolCallId);
      if (part.type === 'error') {
        failure = part.error;
        return { error: part.error, hasBegun };
      }
      if (part.type === 'finish')
        asked.describe({
          'gen_ai.usage.input_tokens': part.totalUsage.inputTokens,
          'gen_ai.usage.output_tokens': part.totalUsage.outputTokens,
        });
      const shown = toPart(part);
      if (!shown && part.type !== 'tool-call') continue;
      hasBegun ||= part.type !== 'finish-step';
      if (shown) yield shown;
    }
    return hasBegun ? undefined : { error: EMPTY, hasBegun };
  } catch (error) {
    failure = error;
    return { error, hasBegun };
  } finally {
    asked?.end(failure);
    turn.signal.removeEventListener('abort', stop);
    over.abort();
  }
}

const EMPTY = new TwinlineError('ERR_SERVICE', 'The model answered with nothing.');

function toPart(part: TextStreamPart<ToolSet>): ResponderPart | undefined {
  if (part.type === 'text-delta') return { type: 'text', text: part.text };
  if (part.type === 'reasoning-delta') return { type: 'reasoning', text: part.text };
  if (part.type !== 'finish-step') return undefined;
  const { inputTokens = 0, outputTokens = 0 } = part.usage;
  return { type: 'usage', usage: { inputTokens, outputTokens } };
}

// Tools write their frames at once, and the SDK is ahead of its reader: a call waits until the text before it was read.
function callsInOrder(signal: AbortSignal) {
  const seen = new Set<string>();
  const waiting = new Map<string, () => void>();
  signal.addEventListener('abort', () => waiting.forEach((go) => void go()), { once: true });
  return {
    markSeen(call: string): void {
      seen.add(call);
      waiting.get(call)?.();
    },
    afterText: async (call: string): Promise<void> => {
      if (seen.has(call) || signal.aborted) return;
      const before = waiting.get(call);
      await new Promise<void>((go) => {
        waiting.set(call, () => {
          before?.();
          go();
        });
      });
    },
  };
}

/** An OpenAI-compatible endpoint. */
export interface ModelEndpoint {
  /** With its `/v1`; may hold a user and a password, and a query that goes along with every request. */
  readonly baseUrl: string;
  readonly apiKey?: string | undefined;
}

/** The endpoint as the SDK takes it: fetch refuses addresses with passwords, so they go into a header. */
function providerSettings({ baseUrl, apiKey }: ModelEndpoint) {
  const url = new URL(baseUrl);
  const { username, password, searchParams } = url;
  const queryParams = Object.fromEntries(searchParams);
  const basic = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString('base64');
  const authorization = apiKey ? `Bearer ${apiKey}` : username || password ? `Basic ${basic}` : undefined;
  return {
    name: 'model',
    baseURL: `${url.origin}${url.pathname.replace(/\/+$/, '')}`,
    headers: authorization === undefined ? {} : { authorization },
    includeUsage: true,
    ...(Object.keys(queryParams).length > 0 && { queryParams }),
  };
}

/** The address of the endpoint's list of models, with the headers to ask it. */
export function modelListRequest(endpoint: ModelEndpoint): { url: URL; headers: { [name: string]: string } } {
  const { baseURL, headers, queryParams = {} } = providerSettings(endpoint);
  const url = new URL(`${baseURL}/models`);
  url.search = new URLSearchParams(queryParams).toString();
  return { url, headers };
}

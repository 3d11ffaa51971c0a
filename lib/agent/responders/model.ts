// A responder that uses a model behind any endpoint with OpenAI's chat completions API.
//
// A reply may take several requests: the model calls tools, gets their results, and continues. The SDK makes the
// requests; limits, order and error messages are defined here.

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
  /** The default model. */
  readonly model: string;
  /** Further models that a message may choose; any other choice is ignored. @default none */
  readonly others?: readonly string[];
  /** The system prompt. @default a plain assistant */
  readonly systemPrompt?: string;
  /** @default systemClock */
  readonly clock?: Clock;
  /** Called when a model failed; the message reveals nothing about the request or the endpoint. */
  readonly onProblem?: (error: TwinlineError) => void;
}

type Sdk = typeof import('ai');

/**
 * Creates the responder. Throws ERR_CONFIG when an optional package is missing.
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
  const models = new Set([options.model, ...(options.others ?? [])]);

  async function* respond(turn: ResponderTurn): AsyncGenerator<ResponderPart> {
    const { request } = turn;
    const model = request.model && models.has(request.model) ? request.model : options.model;
    const [history, about = []] = await Promise.all([turn.history(), turn.instructions?.()]);
    const system = systemText({ prompt: options.systemPrompt, about, request, now: clock.now() });
    for (const how of ['given', 'plain'] as const) {
      const images: Images = how === 'given' ? 'shown' : 'described';
      const schemas: Schemas = how === 'given' ? 'given' : 'open';
      const messages = toModelMessages(history, request, images);
      const interruption = yield* ask(sdk, turn, { model: provider(model), name: model, system, messages, schemas });
      if (!interruption || turn.signal.aborted) return;
      const failure = readFailure(interruption.error);
      // An endpoint may reject images or clients' schemas: retry without them.
      const canBePlainer = how === 'given' && (turn.tools.tools.length > 0 || hasImages(request));
      if (canBePlainer && isRejected(failure) && !interruption.hasBegun) continue;
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
  /** The model's name. */
  readonly name: string;
};

/** Why a reply broke off, and whether any part had been yielded. */
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
  let work: TracedWork<AsyncIterable<TextStreamPart<ToolSet>>> | undefined;
  try {
    const stream = () =>
      sdk.streamText({
        ...prompt,
        tools: modelTools({ box: turn.tools, schemas, afterText: order.afterText, sdk }),
        stopWhen: sdk.stepCountIs(AGENT_LIMITS.modelSteps),
        // The last request must produce an answer, so it offers no tools.
        prepareStep: ({ stepNumber }) => (stepNumber === AGENT_LIMITS.modelSteps - 1 ? { toolChoice: 'none' } : {}),
        maxRetries: AGENT_LIMITS.modelRetries,
        abortSignal: over.signal,
        // Pass URLs through to the model; this server must not fetch them.
        experimental_download: async (urls) => urls.map(() => null),
        onError: () => {},
      }).fullStream;
    const attributes = {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'openai',
      'gen_ai.request.model': name,
    };
    work = beginTraced(`chat ${name}`, { way: 'out', attributes }, stream);
    for await (const part of work.result) {
      if (turn.signal.aborted) return undefined;
      if (part.type === 'tool-call') order.markSeen(part.toolCallId);
      if (part.type === 'error') {
        failure = part.error;
        return { error: part.error, hasBegun };
      }
      if (part.type === 'finish')
        work.describe({
          'gen_ai.usage.input_tokens': part.totalUsage.inputTokens,
          'gen_ai.usage.output_tokens': part.totalUsage.outputTokens,
        });
      const replyPart = toPart(part);
      if (!replyPart && part.type !== 'tool-call') continue;
      hasBegun ||= part.type !== 'finish-step';
      if (replyPart) yield replyPart;
    }
    return hasBegun ? undefined : { error: EMPTY, hasBegun };
  } catch (error) {
    failure = error;
    return { error, hasBegun };
  } finally {
    work?.end(failure);
    turn.signal.removeEventListener('abort', stop);
    over.abort();
  }
}

const EMPTY = new TwinlineError('ERR_SERVICE', 'The model returned an empty response.');

function toPart(part: TextStreamPart<ToolSet>): ResponderPart | undefined {
  if (part.type === 'text-delta') return { type: 'text', text: part.text };
  if (part.type === 'reasoning-delta') return { type: 'reasoning', text: part.text };
  if (part.type !== 'finish-step') return undefined;
  const { inputTokens = 0, outputTokens = 0 } = part.usage;
  return { type: 'usage', usage: { inputTokens, outputTokens } };
}

// Tool calls write frames immediately, and the SDK runs ahead of its reader: a call waits until the text before it is read.
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
  /** Includes `/v1`; may contain credentials, and a query that is sent with every request. */
  readonly baseUrl: string;
  readonly apiKey?: string | undefined;
}

/** The SDK's settings. Fetch refuses URLs with credentials, so they move into a header. */
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

/** The URL and headers to list the endpoint's models. */
export function modelListRequest(endpoint: ModelEndpoint): { url: URL; headers: { [name: string]: string } } {
  const { baseURL, headers, queryParams = {} } = providerSettings(endpoint);
  const url = new URL(`${baseURL}/models`);
  url.search = new URLSearchParams(queryParams).toString();
  return { url, headers };
}

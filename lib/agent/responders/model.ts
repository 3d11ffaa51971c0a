// A responder that uses a model: one behind an OpenAI-compatible endpoint, or any of the AI SDK.
//
// A reply may take several requests: the model calls tools, gets their results, and continues. The model makes the requests;
// limits, order and error messages are defined here.

import { AsyncLocalStorage } from 'node:async_hooks';
import { type Clock, systemClock } from '../../clock.ts';
import type { TwinlineError } from '../../errors.ts';
import { isObject, requireGiven } from '../../given.ts';
import { beginTraced } from '../../http/tracing.ts';
import { retryDelay } from '../../retry.ts';
import { AGENT_LIMITS } from '../limits.ts';
import type { Responder, ResponderPart, ResponderTurn, TokenUsage } from '../responder.ts';
import { chatCompletions, endpointRequest, type ModelEndpoint } from './chat-completions.ts';
import type { LanguageModel, ModelCall, PromptMessage } from './language-model.ts';
import { describeFailure, isRejected, readFailure, readRetryMs, toRunFault } from './model-faults.ts';
import { readReply } from './model-reply.ts';
import {
  hasImages,
  type Images,
  modelTools,
  type NamedTools,
  type Schemas,
  systemText,
  toPrompt,
} from './model-request.ts';
import type { Opening } from './thoughts.ts';

interface CommonOptions {
  /** The system prompt. @default a plain assistant */
  readonly systemPrompt?: string;
  /** @default systemClock */
  readonly clock?: Clock;
  /** Called when a model failed; the message reveals nothing about the request or the endpoint. */
  readonly onProblem?: (error: TwinlineError) => void;
}

/** Options of `modelResponder`. */
export type ModelOptions = CommonOptions &
  (
    | {
        readonly endpoint: ModelEndpoint;
        /** The default model. */
        readonly model: string;
        /** Further models that a message may choose; any other choice is ignored. @default none */
        readonly others?: readonly string[];
      }
    /** Models of the AI SDK; the first is the default, and a message may choose the others by their `modelId`. */
    | { readonly models: readonly [LanguageModel, ...LanguageModel[]] }
  );

/**
 * Creates the responder.
 * @example
 * const endpoint = { baseUrl: 'https://models.example/v1', apiKey: process.env.MODEL_API_KEY };
 * const responder = await modelResponder({ endpoint, model: 'small' });
 * responder.name; // → 'model'
 */
export async function modelResponder(options: ModelOptions): Promise<Responder> {
  const hasModels = isObject(options) && 'models' in options;
  requireGiven('answer by a model', options, hasModels ? { models: 'object' } : { endpoint: 'object', model: 'text' });
  const { clock = systemClock, onProblem = () => {} } = options;
  const models = new Map(listModels(options, clock).map((model) => [model.modelId, model]));
  const [usual] = models.values();
  const openings = new Map<string, Opening>();

  async function* respond(turn: ResponderTurn): AsyncGenerator<ResponderPart> {
    const { request } = turn;
    const model = models.get(request.model ?? '') ?? usual!;
    const [history, about = []] = await Promise.all([turn.history(), turn.instructions?.()]);
    const system = systemText({ prompt: options.systemPrompt, about, request, now: clock.now() });
    for (const how of ['given', 'plain'] as const) {
      const images: Images = how === 'given' ? 'shown' : 'described';
      const schemas: Schemas = how === 'given' ? 'given' : 'open';
      const messages = await toPrompt({ history, request, images, model });
      const tools = modelTools(turn.tools, schemas);
      const prompt: PromptMessage[] = [{ role: 'system', content: system }, ...messages];
      const interruption = yield* ask(turn, { model, prompt, tools, openings });
      if (!interruption || turn.signal.aborted) return;
      const failure = readFailure(interruption.error);
      // An endpoint may reject images or clients' schemas: retry without them.
      const canBePlainer = how === 'given' && (turn.tools.tools.length > 0 || hasImages(request));
      if (canBePlainer && isRejected(failure) && !interruption.hasBegun) continue;
      if (!failure.isAnswer) onProblem(describeFailure(failure));
      yield { type: 'error', fault: toRunFault(failure) };
      return;
    }
  }

  return { name: 'model', isResumable: false, respond };
}

function listModels(options: ModelOptions, clock: Clock): LanguageModel[] {
  if ('models' in options) return [...options.models];
  const { endpoint, model, others = [] } = options;
  return [model, ...others].map((name) => chatCompletions(endpoint, name, clock));
}

interface Asking {
  readonly model: LanguageModel;
  /** Grows by what is said and by the results of tools. */
  readonly prompt: PromptMessage[];
  readonly tools: NamedTools;
  /** How the texts of models begin, as far as it was learnt. */
  readonly openings: Map<string, Opening>;
}

/** Why a reply broke off, and whether any part had been yielded. */
type Interruption = { readonly error: unknown; readonly hasBegun: boolean };

async function* ask(turn: ResponderTurn, asking: Asking): AsyncGenerator<ResponderPart, Interruption | undefined> {
  const { model, prompt, tools } = asking;
  const over = new AbortController();
  const stop = () => over.abort(turn.signal.reason);
  turn.signal.addEventListener('abort', stop, { once: true });
  if (turn.signal.aborted) stop();
  const attributes = {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'openai',
    'gen_ai.request.model': model.modelId,
  };
  const work = beginTraced(`chat ${model.modelId}`, { way: 'out', attributes }, () => AsyncLocalStorage.snapshot());
  const total = { inputTokens: 0, outputTokens: 0 };
  let hasBegun = false;
  let failure: unknown;
  try {
    for (let step = 1; step <= AGENT_LIMITS.modelSteps; step++) {
      // The last request must produce an answer, so it may call no tools.
      const toolChoice = { type: step === AGENT_LIMITS.modelSteps ? 'none' : 'auto' } as const;
      const call: ModelCall = {
        prompt,
        ...(tools.list.length > 0 && { tools: tools.list, toolChoice }),
        abortSignal: over.signal,
      };
      const { stream } = await work.result(() => request(model, call));
      const reply = readReply({ ...asking, box: turn.tools, inContext: work.result });
      for await (const part of stream) {
        if (turn.signal.aborted) return undefined;
        for (const shown of reply.take(part)) {
          hasBegun ||= shown.type !== 'usage';
          if (shown.type === 'usage') addUsage(total, shown.usage);
          yield shown;
        }
        hasBegun ||= part.type === 'tool-call';
      }
      for (const shown of reply.end()) {
        hasBegun = true;
        yield shown;
      }
      reply.check(hasBegun);
      const results = await reply.results();
      if (!results || turn.signal.aborted) break;
      prompt.push(reply.message(), { role: 'tool', content: results });
    }
    work.describe({ 'gen_ai.usage.input_tokens': total.inputTokens, 'gen_ai.usage.output_tokens': total.outputTokens });
    return undefined;
  } catch (error) {
    failure = error;
    return { error, hasBegun };
  } finally {
    work.end(failure);
    turn.signal.removeEventListener('abort', stop);
    // A reason of our own: without one, the signal makes an error with its stack.
    over.abort('over');
  }
}

/** Sends a request, again when that may help soon. */
async function request(model: LanguageModel, call: ModelCall): Promise<Awaited<ReturnType<LanguageModel['doStream']>>> {
  for (let tries = 1; ; tries++) {
    try {
      return await model.doStream(call);
    } catch (error) {
      const retryMs = readRetryMs(error);
      const isSoon = retryMs === undefined || retryMs <= AGENT_LIMITS.modelRetryMs;
      const isRetryable = isObject(error) && error.isRetryable === true;
      if (!isRetryable || !isSoon || tries > AGENT_LIMITS.modelRetries || call.abortSignal.aborted) throw error;
      await systemClock.wait(retryMs ?? retryDelay(tries, { firstMs: 2_000 }), call.abortSignal);
    }
  }
}

function addUsage(total: { inputTokens: number; outputTokens: number }, usage: TokenUsage): void {
  total.inputTokens += usage.inputTokens;
  total.outputTokens += usage.outputTokens;
}

/** The URL and headers to list the endpoint's models. */
export function modelListRequest(endpoint: ModelEndpoint) {
  return endpointRequest(endpoint, '/models');
}

// A language model behind an endpoint with OpenAI's chat completions API. Endpoints differ in what they send: whatever has
// a meaning in any of their dialects is read, and what has none is counted and left out.

import { randomUUID } from 'node:crypto';
import type { Clock } from '../../clock.ts';
import { TwinlineError } from '../../errors.ts';
import { readEvents } from '../../event-stream.ts';
import { isObject } from '../../given.ts';
import { type BoundedAnswer, boundedRequest } from '../../http/bounded-fetch.ts';
import type { JsonObject } from '../../json/json.ts';
import { AGENT_LIMITS } from '../limits.ts';
import {
  type AssistantPart,
  type LanguageModel,
  type ModelCall,
  ModelCallError,
  type PromptMessage,
  type StreamPart,
} from './language-model.ts';

/** An OpenAI-compatible endpoint. */
export interface ModelEndpoint {
  /** Includes `/v1`; may contain credentials, and a query that is sent with every request. */
  readonly baseUrl: string;
  readonly apiKey?: string | undefined;
}

/** A model of an endpoint. */
export function chatCompletions(endpoint: ModelEndpoint, modelId: string, clock: Clock): LanguageModel {
  const { url, headers } = endpointRequest(endpoint, '/chat/completions');
  const ask = boundedRequest({
    clock,
    headersMs: AGENT_LIMITS.modelAnswerMs,
    stallMs: AGENT_LIMITS.modelStallMs,
    bytes: AGENT_LIMITS.modelStreamBytes,
    lineBytes: AGENT_LIMITS.modelLineBytes,
  });

  async function doStream({ prompt, tools = [], toolChoice, abortSignal: signal }: ModelCall) {
    const body = JSON.stringify({
      model: modelId,
      messages: prompt.flatMap(toWireMessages),
      ...(tools.length > 0 && { tools: tools.map(toWireTool), tool_choice: toolChoice?.type ?? 'auto' }),
      stream: true,
      stream_options: { include_usage: true },
    });
    const requestHeaders = { ...headers, 'content-type': 'application/json' };
    const answer = await ask(url, { method: 'POST', headers: requestHeaders, body, signal }).catch((error: unknown) => {
      const isOurs = error instanceof TwinlineError || signal.aborted || hasOurs(error);
      throw isOurs ? error : new ModelCallError('The connection failed.', { kind: 'network', isRetryable: true });
    });
    if (!answer.ok) throw await refusal(answer);
    return { stream: readAnswer(answer) };
  }

  return { specificationVersion: 'v4', modelId, supportedUrls: { 'image/*': [/^https?:/] }, doStream };
}

const hasOurs = (error: unknown) => isObject(error) && error.cause instanceof TwinlineError;

/** A URL of an endpoint and the headers for it. Fetch refuses URLs with credentials, so they move into a header. */
export function endpointRequest({ baseUrl, apiKey }: ModelEndpoint, path: string) {
  const url = new URL(baseUrl);
  const { username, password } = url;
  const basic = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString('base64');
  const authorization = apiKey ? `Bearer ${apiKey}` : username || password ? `Basic ${basic}` : undefined;
  [url.username, url.password, url.pathname] = ['', '', url.pathname.replace(/\/+$/, '') + path];
  return { url, headers: { ...(authorization !== undefined && { authorization }) } };
}

async function refusal(answer: BoundedAnswer): Promise<ModelCallError> {
  const { status } = answer;
  return new ModelCallError(`It answered ${status}.`, {
    statusCode: status,
    responseHeaders: Object.fromEntries(answer.headers),
    data: parseJson(await answer.text()),
    isRetryable: status === 408 || status === 409 || status === 429 || status >= 500,
  });
}

/** Our own metadata: what of a part goes back to the endpoint, as it came. */
const OWN = 'chat';

function toWireMessages(message: PromptMessage): object[] {
  if (message.role === 'system') return [message];
  if (message.role === 'tool')
    return message.content.map(({ toolCallId, output: { value } }) => ({
      role: 'tool',
      tool_call_id: toolCallId,
      content: typeof value === 'string' ? value : JSON.stringify(value),
    }));
  if (message.role === 'assistant') return [toWireReply(message.content)];
  const [first, ...more] = message.content;
  if (first?.type === 'text' && !more.length) return [{ role: 'user', content: first.text }];
  const content = message.content.map((part) =>
    part.type === 'text'
      ? part
      : { type: 'image_url', image_url: { url: ('url' in part.data ? part.data.url : part.data).href } },
  );
  return [{ role: 'user', content }];
}

function toWireReply(parts: readonly AssistantPart[]): object {
  const calls = parts.flatMap((part) => (part.type === 'tool-call' ? [part] : []));
  return {
    role: 'assistant',
    content: parts.map((part) => (part.type === 'text' ? part.text : '')).join(''),
    // Thoughts go back under the name by which they came: endpoints refuse each other's.
    ...Object.fromEntries(
      parts.flatMap((part) => {
        const field = part.type === 'reasoning' ? part.providerOptions?.[OWN]?.field : undefined;
        return part.type === 'reasoning' && typeof field === 'string' ? [[field, part.text]] : [];
      }),
    ),
    ...(calls.length > 0 && {
      tool_calls: calls.map(({ toolCallId, toolName, input, providerOptions }) => ({
        id: toolCallId,
        type: 'function',
        function: { name: toolName, arguments: JSON.stringify(input) },
        ...(providerOptions?.[OWN]?.extra !== undefined && { extra_content: providerOptions[OWN].extra }),
      })),
    }),
  };
}

const toWireTool = ({ name, description, inputSchema }: NonNullable<ModelCall['tools']>[number]) => ({
  type: 'function',
  function: { name, description, parameters: inputSchema },
});

/** A call of a tool as far as it has come. */
interface WireCall {
  readonly index: unknown;
  id: string | undefined;
  name: string;
  args: string;
  extra: JsonObject | undefined;
}

type Fields = { readonly [field: string]: unknown };

type ModelAnswer = Pick<Response, 'headers' | 'text'> & { readonly body: AsyncIterable<Uint8Array> | null };

/** The parts of an answer. Throws when it is an error, or ends before its end. */
export async function* readAnswer(answer: ModelAnswer): AsyncGenerator<StreamPart> {
  const isDocument = /^(application\/json|text\/html)/i.test(answer.headers.get('content-type') ?? '');
  const document = isDocument ? await answer.text() : undefined;
  // Some proxies call events JSON.
  const isEvents = document === undefined || /^(data|event|id|retry)?:/.test(document);
  const body = document === undefined ? answer.body! : [Buffer.from(document)];
  const texts = isEvents ? readEvents(body, { cut: true }) : [{ data: document }];
  const calls: WireCall[] = [];
  let finish: string | undefined;
  let usage: Fields = {};
  let isOver = false;
  let unknown = 0;
  let field: string | undefined;
  for await (const { data: text } of texts) {
    if (text.trim() === '[DONE]') {
      isOver = true;
      continue;
    }
    const chunk = parseJson(text);
    if (!isObject(chunk)) {
      unknown++;
      continue;
    }
    if (chunk.error || chunk.object === 'error') throw reportedError(chunk);
    if (isObject(chunk.usage)) usage = chunk.usage;
    const choice = Array.isArray(chunk.choices) ? chunk.choices.find(isFirstChoice) : undefined;
    if (!choice) {
      if (!isObject(chunk.usage)) unknown++;
      continue;
    }
    if (isObject(choice.usage)) usage = choice.usage;
    if (typeof choice.finish_reason === 'string' && choice.finish_reason) finish = choice.finish_reason;
    // Endpoints that do not stream send a whole message.
    const delta = [choice.delta, choice.message].find(isObject) ?? { content: choice.text };
    const thought = readThought(delta);
    field = thought.field ?? field;
    if (thought.text)
      yield { type: 'reasoning-delta', id: 'r', delta: thought.text, providerMetadata: { [OWN]: { field } } };
    const reply = readText(delta.content, 'text') + (typeof delta.refusal === 'string' ? delta.refusal : '');
    if (reply) yield { type: 'text-delta', id: 't', delta: reply };
    for (const piece of listCallPieces(delta)) addPiece(calls, piece);
    isOver ||= !isEvents;
  }
  const unified = finish ?? (isOver ? 'stop' : undefined);
  for (const { id = randomUUID(), name, args, extra } of calls)
    if (name && unified)
      yield {
        ...{ type: 'tool-call', toolCallId: id, toolName: name, input: args },
        ...(extra && { providerMetadata: { [OWN]: { extra } } }),
      };
  if (!isEvents && !isOver)
    throw new ModelCallError('It answered with a document, not an event stream.', { kind: 'server' });
  yield {
    type: 'finish',
    finishReason: { unified: REASONS[unified ?? ''] ?? 'other', raw: unified },
    usage: { inputTokens: { total: usage.prompt_tokens }, outputTokens: { total: usage.completion_tokens } },
    unknown,
  };
}

// `{"error":{…}}`, `{"error":"…"}`, or the error itself.
function reportedError(chunk: Fields): ModelCallError {
  const error = isObject(chunk.error) ? chunk.error : chunk.error === undefined ? chunk : undefined;
  return new ModelCallError('It answered with an error.', error ? { data: { error } } : { kind: 'server' });
}

const REASONS: { readonly [reason: string]: string } = {
  stop: 'stop',
  length: 'length',
  max_tokens: 'length',
  content_filter: 'content-filter',
  safety: 'content-filter',
  tool_calls: 'tool-calls',
  function_call: 'tool-calls',
};

const isFirstChoice = (choice: unknown): choice is Fields => isObject(choice) && (choice.index ?? 0) === 0;

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A text, or the texts of a list of parts: those of thoughts, or the others. */
function readText(value: unknown, kind: 'text' | 'thinking'): string {
  if (typeof value === 'string') return kind === 'text' ? value : '';
  if (!Array.isArray(value)) return '';
  return value
    .map((part: unknown) => {
      if (typeof part === 'string') return kind === 'text' ? part : '';
      if (!isObject(part) || (part.type === 'thinking') !== (kind === 'thinking')) return '';
      return kind === 'thinking' ? readText(part.thinking, 'text') : readText(part.text ?? '', 'text');
    })
    .join('');
}

const THOUGHT_FIELDS = ['reasoning_content', 'reasoning', 'thinking'];

function readThought(delta: Fields): { readonly text: string; readonly field?: string } {
  const field = THOUGHT_FIELDS.find((name) => typeof delta[name] === 'string' && delta[name] !== '');
  return field === undefined ? { text: readText(delta.content, 'thinking') } : { text: String(delta[field]), field };
}

function listCallPieces({ tool_calls: calls, function_call: call }: Fields): Fields[] {
  if (Array.isArray(calls)) return calls.filter(isObject);
  return isObject(calls) ? [calls] : isObject(call) ? [{ index: 0, function: call }] : [];
}

// Pieces belong together by index; without one, or where all have the same, by id; and a name behind whole arguments begins another call.
function addPiece(calls: WireCall[], piece: Fields): void {
  const tool = isObject(piece.function) ? piece.function : piece;
  const id = typeof piece.id === 'string' && piece.id ? piece.id : undefined;
  const name = typeof tool.name === 'string' ? tool.name : '';
  const args =
    typeof tool.arguments === 'string'
      ? tool.arguments
      : isObject(tool.arguments)
        ? JSON.stringify(tool.arguments)
        : '';
  const last = calls.findLast(
    ({ index }) => piece.index === undefined || piece.index === null || index === piece.index,
  );
  const isOther = last && name && last.name && (id !== undefined ? id !== last.id : isObject(parseJson(last.args)));
  const call = last && !isOther ? last : undefined;
  if (call) {
    call.id ??= id;
    call.name ||= name;
    call.args += args;
    call.extra ??= readExtra(piece);
  } else calls.push({ index: piece.index ?? calls.length, id, name, args, extra: readExtra(piece) });
}

const readExtra = ({ extra_content: extra }: Fields) => (isObject(extra) ? (extra as JsonObject) : undefined);

// The reply to one request of a model: its text and thoughts are shown, its tools called, and what goes back to it is kept.

import { isObject } from '../../given.ts';
import type { JsonObject } from '../../json/json.ts';
import type { ResponderPart, TokenUsage, ToolBox, ToolOutcome } from '../responder.ts';
import {
  type AssistantPart,
  type LanguageModel,
  ModelCallError,
  type PromptMessage,
  type ProviderData,
  type StreamPart,
  type ToolResultPart,
} from './language-model.ts';
import { isSkippable } from './model-faults.ts';
import { type NamedTools, toToolResult } from './model-request.ts';
import { guessOpening, type Opening, thoughtReader } from './thoughts.ts';

export interface ReplyOptions {
  readonly model: Pick<LanguageModel, 'modelId'>;
  readonly tools: NamedTools;
  readonly box: Pick<ToolBox, 'call'>;
  /** How the texts of models begin, as far as it was learnt. */
  readonly openings: Map<string, Opening>;
  /** Runs work as a part of the span of the reply. */
  readonly inContext: <T>(work: () => T) => T;
}

export interface ModelReply {
  /** What a part of the stream shows. Throws the error that it is, if it is one. */
  take(part: StreamPart): ResponderPart[];
  /** What was held back. */
  end(): ResponderPart[];
  /** Throws when the stream broke off, or ended with what is no reply. `hasBegun`: something was shown or called. */
  check(hasBegun: boolean): void;
  /** What the model said, for its next request. */
  message(): PromptMessage;
  /** Resolves with what came of its calls; undefined when it made none. */
  results(): Promise<ToolResultPart[] | undefined>;
}

interface StreamEnding {
  readonly unified: unknown;
  readonly raw?: unknown;
}

/** Reads the stream of one request. */
export function readReply({ model: { modelId }, tools, box, openings, inContext }: ReplyOptions): ModelReply {
  const content: AssistantPart[] = [];
  const calls: { readonly id: string; readonly name: string; readonly outcome: Promise<ToolOutcome> }[] = [];
  const said = saidParts({ modelId, openings, content });
  let ending: StreamEnding | undefined;
  let unknown = 0;

  function startCall({ toolCallId, toolName, input, providerMetadata }: StreamPart): ResponderPart[] {
    const [id, name] = [String(toolCallId), String(toolName)];
    const shown = said.end();
    const args = readArguments(input);
    const part = { type: 'tool-call', toolCallId: id, toolName: name, input: args ?? {} } as const;
    content.push({ ...part, providerOptions: readData(providerMetadata) });
    // Calls get ids of our own: those of models are not always unique.
    const outcome = args
      ? inContext(() => box.call(tools.names.get(name) ?? name, args))
      : Promise.resolve({ ok: false as const, error: 'Its arguments are not JSON.' });
    calls.push({ id, name, outcome });
    return shown;
  }

  function addEnding({ finishReason, usage, unknown: chunks = 0 }: StreamPart): ResponderPart[] {
    // A word in version 2 of the interface, an object in version 3.
    ending = isObject(finishReason) ? (finishReason as unknown as StreamEnding) : { unified: finishReason };
    unknown += Number(chunks);
    return [{ type: 'usage', usage: readUsage(usage) }];
  }

  const TAKE: { readonly [type: string]: (part: StreamPart) => ResponderPart[] } = {
    'text-start': said.addText,
    'text-delta': said.addText,
    'text-end': said.addText,
    'reasoning-start': said.addThought,
    'reasoning-delta': said.addThought,
    'reasoning-end': said.addThought,
    'tool-call': (part) => (part.providerExecuted === true ? [] : startCall(part)),
    finish: addEnding,
    error: ({ error }) => {
      if (!isSkippable(error)) throw error;
      unknown++;
      return [];
    },
  };

  return {
    take: (part) => (Object.hasOwn(TAKE, part.type) ? TAKE[part.type]!(part) : []),
    end: said.end,
    check(hasBegun) {
      const problem = findProblem(ending, { hasBegun, hasCalls: calls.length > 0, unknown });
      if (problem) throw problem;
    },
    message: () => ({ role: 'assistant', content: content.filter(isWorthReturning) }),
    results: async () =>
      calls.length
        ? Promise.all(calls.map(async ({ id, name, outcome }) => toToolResult({ id, name, outcome: await outcome })))
        : undefined,
  };
}

interface SaidOptions extends Pick<ReplyOptions, 'openings'> {
  readonly modelId: string;
  /** Gets what goes back to the model. */
  readonly content: AssistantPart[];
}

/** The text and the thoughts of a stream: what they show, and what of them goes back. */
function saidParts({ modelId, openings, content }: SaidOptions) {
  const findPart = partsById(content);
  const thoughts = thoughtReader(openings.get(modelId) ?? guessOpening(modelId));
  let text: SaidPart | undefined;

  // Thoughts that stand in the text do not go back with it.
  function show<T extends { readonly type: string; readonly text: string }>(said: T[]): T[] {
    for (const one of said) if (one.type === 'text' && text) text.text += one.text;
    return said;
  }

  return {
    addText(part: StreamPart): ResponderPart[] {
      text = findPart('text', part);
      return typeof part.delta === 'string' ? show(thoughts.read(part.delta)) : [];
    },
    addThought(part: StreamPart): ResponderPart[] {
      const { delta } = part;
      const own = findPart('reasoning', part);
      if (typeof delta !== 'string' || !delta) return [];
      own.text += delta;
      // A server that tells thoughts apart leaves none in the text.
      openings.set(modelId, 'text');
      return [{ type: 'reasoning', text: delta }];
    },
    /** What was held back. */
    end(): ResponderPart[] {
      const rest = show(thoughts.end());
      const learnt = thoughts.opening();
      if (learnt) openings.set(modelId, learnt);
      return rest;
    },
  };
}

type SaidPart = { readonly type: 'text' | 'reasoning'; text: string; providerOptions?: ProviderData | undefined };

/** Finds the piece of text or thought that a part goes on with, and keeps the last data that the provider gave for it. */
function partsById(content: AssistantPart[]) {
  const open = new Map<string, SaidPart>();
  return (type: SaidPart['type'], { id, providerMetadata }: StreamPart): SaidPart => {
    const key = `${type} ${id}`;
    const part: SaidPart = open.get(key) ?? { type, text: '' };
    if (!open.has(key)) content.push(part);
    open.set(key, part);
    part.providerOptions = readData(providerMetadata) ?? part.providerOptions;
    return part;
  };
}

// Endpoints refuse empty texts, but a signature may stand on one.
function isWorthReturning(part: AssistantPart): boolean {
  return part.type === 'tool-call' || part.text !== '' || part.providerOptions !== undefined;
}

const readData = (metadata: unknown) => (isObject(metadata) ? (metadata as unknown as ProviderData) : undefined);

interface Seen {
  readonly hasBegun: boolean;
  readonly hasCalls: boolean;
  /** Chunks that were not understood. */
  readonly unknown: number;
}

function findProblem(
  ending: StreamEnding | undefined,
  { hasBegun, hasCalls, unknown }: Seen,
): ModelCallError | undefined {
  const { unified, raw } = ending ?? {};
  const unreadChunks = unknown > 0 ? ` ${unknown} chunks were not understood.` : '';
  const isCut = unified === undefined || (/^(other|unknown)$/.test(String(unified)) && raw === undefined);
  if (unified === 'content-filter') return new ModelCallError('Its filter withheld the reply.', { kind: 'filtered' });
  if (unified === 'error') return new ModelCallError(`It ended with an error.${unreadChunks}`, { kind: 'server' });
  if (hasCalls) return undefined;
  if (unified === 'length') return new ModelCallError('The reply is as long as it may be.', { kind: 'length' });
  const kind = unknown > 0 && !hasBegun ? 'server' : 'network';
  if (isCut) return new ModelCallError(`The stream broke off.${unreadChunks}`, { kind });
  return hasBegun
    ? undefined
    : new ModelCallError(`The model returned an empty response.${unreadChunks}`, { kind: 'server' });
}

// An object, or the JSON of one; what is JSON of another type stands for no arguments.
function readArguments(input: unknown): JsonObject | undefined {
  if (isObject(input)) return input as JsonObject;
  try {
    const value: unknown = JSON.parse(String(input ?? '').trim() || '{}');
    return isObject(value) ? (value as JsonObject) : {};
  } catch {
    return undefined;
  }
}

// A number, or in version 3 an object with the sum.
function readUsage(usage: unknown): TokenUsage {
  const { inputTokens, outputTokens } = isObject(usage) ? usage : {};
  const count = (value: unknown) => Number(isObject(value) ? value.total : value) || 0;
  return { inputTokens: count(inputTokens), outputTokens: count(outputTokens) };
}

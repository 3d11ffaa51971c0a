// What the responder asks of a model: the part of the AI SDK's language models (versions 2 to 4) that it uses.

import type { Json, JsonObject } from '../../json/json.ts';
import type { FaultKind } from '../run/frame-data.ts';

/** Data of a provider for one part, such as a signature, that goes back to it with the part. */
export interface ProviderData {
  readonly [provider: string]: JsonObject;
}

type Returned = { readonly providerOptions?: ProviderData | undefined };

export type UserPart =
  | { readonly type: 'text'; readonly text: string }
  /** An image at an address; versions 2 and 3 of the interface take the address as it is. */
  | {
      readonly type: 'file';
      readonly data: URL | { readonly type: 'url'; readonly url: URL };
      readonly mediaType: string;
    };

export type AssistantPart = Returned &
  (
    | { readonly type: 'text' | 'reasoning'; text: string }
    | { readonly type: 'tool-call'; readonly toolCallId: string; readonly toolName: string; readonly input: JsonObject }
  );

export interface ToolResultPart {
  readonly type: 'tool-result';
  readonly toolCallId: string;
  readonly toolName: string;
  readonly output: { readonly type: 'text'; readonly value: string } | { readonly type: 'json'; readonly value: Json };
}

export type PromptMessage =
  | { readonly role: 'system'; readonly content: string }
  | { readonly role: 'user'; readonly content: readonly UserPart[] }
  | { readonly role: 'assistant'; readonly content: readonly AssistantPart[] }
  | { readonly role: 'tool'; readonly content: readonly ToolResultPart[] };

export interface ModelTool {
  readonly type: 'function';
  readonly name: string;
  readonly description: string;
  /** JSON Schema of type object. */
  readonly inputSchema: JsonObject;
}

/** One request to a model. */
export interface ModelCall {
  readonly prompt: readonly PromptMessage[];
  readonly tools?: readonly ModelTool[];
  readonly toolChoice?: { readonly type: 'auto' | 'none' };
  readonly abortSignal: AbortSignal;
}

/** A part of a stream; its other fields depend on its type. */
export interface StreamPart {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** A model of the AI SDK, from `@ai-sdk/anthropic`, `@ai-sdk/google` and others, or one of your own. */
export interface LanguageModel {
  /** v2, v3 or v4. */
  readonly specificationVersion: string;
  readonly modelId: string;
  /** Addresses that the provider fetches by itself, by media type. */
  readonly supportedUrls?: unknown;
  doStream(call: ModelCall): PromiseLike<{ readonly stream: AsyncIterable<StreamPart> }>;
}

/** The kinds that clients know, and two that are no failures of ours or the provider's. */
export type FailureKind = FaultKind | 'filtered' | 'length';

/** A failure of a request to a model, with the fields of the AI SDK's errors. */
export class ModelCallError extends Error {
  override readonly name = 'ModelCallError' as const;
  readonly kind: FailureKind | undefined;
  readonly statusCode: number | undefined;
  readonly responseHeaders: { readonly [name: string]: string } | undefined;
  /** The body of the answer, where it is JSON. */
  readonly data: unknown;
  /** Whether it may help to send the same request again. */
  readonly isRetryable: boolean;

  /** `why` reaches the log: it holds nothing that a provider wrote. */
  constructor(why: string, fields: Partial<Omit<ModelCallError, keyof Error>> = {}) {
    super(why);
    this.kind = fields.kind;
    this.statusCode = fields.statusCode;
    this.responseHeaders = fields.responseHeaders;
    this.data = fields.data;
    this.isRetryable = fields.isRetryable ?? false;
  }
}

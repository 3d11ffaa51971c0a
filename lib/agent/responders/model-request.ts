// Builds a request to a model: system prompt, history within a budget, the message with its attachments, and tools.

import { LRUCache } from 'lru-cache';
import { isObject } from '../../given.ts';
import { isPublicUrl } from '../../http/hosts.ts';
import type { Json, JsonObject } from '../../json/json.ts';
import { AGENT_LIMITS } from '../limits.ts';
import type { ToolBox, ToolDescription, ToolOutcome } from '../responder.ts';
import type { RunRequest } from '../run/run.ts';
import type { Message } from '../session/message.ts';
import { cutResult, wellFormedText } from '../well-formed.ts';
import type { LanguageModel, ModelTool, PromptMessage, ToolResultPart, UserPart } from './language-model.ts';

export interface SystemWords {
  /** The operator's instructions for every reply. */
  readonly prompt: string | undefined;
  /** Facts about the user. */
  readonly about: readonly string[];
  readonly request: Pick<RunRequest, 'timezone' | 'locale'>;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** The system prompt. */
export function systemText({ prompt, about, request, now }: SystemWords): string {
  const { timezone = 'UTC', locale } = request;
  return [
    prompt ?? 'You are a helpful assistant.',
    `It is ${findClock(timezone).format(now)} where the user is (${timezone}).`,
    ...(locale ? [`The user's language is ${locale}, unless they write in another one.`] : []),
    ...about,
  ].join('\n\n');
}

const clocks = new LRUCache<string, Intl.DateTimeFormat>({ max: 100 });

// To make one takes as long as sixty words of a reply.
function findClock(timeZone: string): Intl.DateTimeFormat {
  const clock =
    clocks.get(timeZone) ?? new Intl.DateTimeFormat('en-GB', { timeZone, dateStyle: 'full', timeStyle: 'short' });
  clocks.set(timeZone, clock);
  return clock;
}

/** Whether images are sent as images: not every endpoint accepts them. */
export type Images = 'shown' | 'described';

export interface PromptOptions {
  readonly history: readonly Message[];
  readonly request: RunRequest;
  readonly images: Images;
  readonly model: Pick<LanguageModel, 'specificationVersion' | 'supportedUrls'>;
}

/** The newest earlier messages that fit the budget, followed by the message to answer. */
export async function toPrompt({ history, request, images, model }: PromptOptions): Promise<PromptMessage[]> {
  const past = fitting(history.map((message) => ({ role: message.type, text: joinText(message) })));
  const messages = inTurns(past).map(
    ({ role, text }): PromptMessage => ({
      role: role === 'ai' ? 'assistant' : 'user',
      content: [{ type: 'text', text }],
    }),
  );
  // Never fetched here: a model whose provider does not fetch them gets their addresses in words.
  const fetched = images === 'shown' ? await model.supportedUrls : undefined;
  const isPlain = /^v[23]$/.test(model.specificationVersion);
  const show = (image: Image): UserPart | undefined => {
    const { address: url, mediaType } = image;
    return isFetched(fetched, image)
      ? { type: 'file', data: isPlain ? url : { type: 'url', url }, mediaType }
      : undefined;
  };
  return [...messages, { role: 'user', content: makeContent(request, show) }];
}

function isFetched(patterns: unknown, { address, mediaType }: Image): boolean {
  if (!isObject(patterns)) return false;
  const all = ['*', '*/*', mediaType.replace(/\/.*/, '/*'), mediaType].flatMap((type) => patterns[type] ?? []);
  return all.some((pattern) => pattern instanceof RegExp && pattern.test(address.href));
}

/** Whether a request has images that can be sent as images. */
export function hasImages({ attachments = [] }: RunRequest): boolean {
  return attachments.some((one) => imageUrl(one) !== undefined);
}

type TextMessage = { readonly role: Message['type']; readonly text: string };

// Drops the oldest first. A single message that is too long is cut, so that an answer to it still makes sense.
function fitting(messages: readonly TextMessage[]): TextMessage[] {
  const newest: TextMessage[] = [];
  let room: number = AGENT_LIMITS.modelHistoryChars;
  for (const one of [...messages].reverse()) {
    if (one.text.trim() === '') continue;
    if (one.text.length > room && newest.length) break;
    newest.push(one.text.length > room ? { ...one, text: wellFormedText(`… ${one.text.slice(-room)}`) } : one);
    room -= one.text.length;
    if (room <= 0) break;
  }
  return newest.reverse();
}

// Many models' chat templates require alternating roles, starting with the user.
function inTurns(messages: readonly TextMessage[]): TextMessage[] {
  const turns: TextMessage[] = [];
  for (const one of messages) {
    const last = turns.at(-1);
    if (last?.role === one.role) turns[turns.length - 1] = { ...one, text: `${last.text}\n\n${one.text}` };
    else turns.push(one);
  }
  if (turns[0]?.role === 'ai') turns.unshift({ role: 'human', text: '(what was said before is left out)' });
  // The new message follows, and two user messages in a row are not allowed.
  if (turns.at(-1)?.role === 'human') turns.push({ role: 'ai', text: '(no answer)' });
  return turns;
}

function joinText({ content, attachment, attachments }: Message): string {
  const attached = attachments ?? (attachment ? [attachment] : []);
  return [content, ...attached.map(describe)].join('\n');
}

interface Image {
  readonly address: URL;
  readonly mediaType: string;
}

function makeContent(
  { message, attachments = [] }: RunRequest,
  show: (image: Image) => UserPart | undefined,
): UserPart[] {
  const images: UserPart[] = [];
  const lines = [message];
  for (const one of attachments) {
    const address = imageUrl(one);
    const image = address && show({ address, mediaType: String(one.mimetype).toLowerCase() });
    if (image) images.push(image);
    else lines.push(describe(one));
  }
  return [{ type: 'text', text: lines.join('\n') }, ...images];
}

// File names come from users; encoded as JSON they cannot imitate our own lines.
function describe({ filename, mimetype, size, mxcUri, eventId }: JsonObject): string {
  const about = { filename, mimetype, ...(size !== undefined && { bytes: size }) };
  return `[Attached: ${JSON.stringify({ ...about, ...(mxcUri ? { uri: mxcUri } : { event: eventId }) })}]`;
}

/** The URL of an image that the provider may fetch: never one inside its network or ours. */
function imageUrl({ mimetype, mxcUri }: JsonObject): URL | undefined {
  const address = String(mxcUri);
  const isShown = /^image\/(png|jpe?g|gif|webp)$/i.test(String(mimetype)) && /^https?:\/\//i.test(address);
  return isShown && isPublicUrl(address) ? new URL(address) : undefined;
}

/** `open`: any object is allowed, for endpoints that reject clients' schemas. */
export type Schemas = 'given' | 'open';

/** The tools as the model knows them, and their own names by those that the model uses. */
export interface NamedTools {
  readonly list: readonly ModelTool[];
  readonly names: ReadonlyMap<string, string>;
}

/** The tools for a model. */
export function modelTools({ tools }: ToolBox, schemas: Schemas): NamedTools {
  const names = new Map<string, string>();
  const list = tools.map((tool): ModelTool => {
    const name = makeAlias(tool.name, names);
    names.set(name, tool.name);
    const inputSchema = schemas === 'given' ? soundSchema(tool) : OPEN;
    return { type: 'function', name, description: tool.description, inputSchema };
  });
  return { list, names };
}

// Endpoints restrict tool names, and they must be unique.
function makeAlias(name: string, names: ReadonlyMap<string, string>): string {
  const plain =
    name
      .replace(/[^A-Za-z0-9_-]/g, '_')
      .replace(/^_+/, '')
      .slice(0, 60) || 'tool';
  for (let n = 1, alias = plain; ; alias = `${plain}_${++n}`) if (!names.has(alias)) return alias;
}

const OPEN: JsonObject = { type: 'object', properties: {}, additionalProperties: true };

/** Replaces a schema that is empty, invalid or not of type object by one that allows any object. */
function soundSchema({ schema }: ToolDescription): JsonObject {
  const { $schema: _, $id: __, ...rest } = schema;
  const isSound = isObject(rest.properties) && (rest.type ?? 'object') === 'object' && areSchemas(rest.properties);
  if (!isSound || JSON.stringify(rest).length > AGENT_LIMITS.modelSchemaChars) return OPEN;
  const properties = rest.properties as JsonObject;
  const listed = Array.isArray(rest.required) ? rest.required : [];
  const required = listed.filter((name) => typeof name === 'string' && Object.hasOwn(properties, name));
  return { ...rest, type: 'object', required };
}

const TYPES = new Set(['string', 'number', 'integer', 'boolean', 'object', 'array', 'null']);

function areSchemas(properties: { readonly [name: string]: unknown }): boolean {
  return Object.values(properties).every((one) => {
    if (typeof one === 'boolean') return true;
    if (!isObject(one)) return false;
    const types = one.type === undefined ? [] : [one.type].flat();
    return types.every((type) => TYPES.has(type as string));
  });
}

export interface AnsweredCall {
  readonly id: string;
  /** The name that the model used. */
  readonly name: string;
  readonly outcome: ToolOutcome;
}

/** What came of a call, for the model. */
export function toToolResult({ id, name, outcome }: AnsweredCall): ToolResultPart {
  const value = toJsonOutcome(outcome);
  const output = typeof value === 'string' ? { type: 'text' as const, value } : { type: 'json' as const, value };
  return { type: 'tool-result', toolCallId: id, toolName: name, output };
}

function toJsonOutcome(outcome: ToolOutcome): Json {
  if (!outcome.ok) return { error: outcome.error };
  const text = JSON.stringify(outcome.output);
  return text.length <= AGENT_LIMITS.modelToolChars ? outcome.output : cutResult(text, AGENT_LIMITS.modelToolChars);
}

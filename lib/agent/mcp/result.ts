// What a tool of an MCP server gave, as JSON for the responder: text and data; what else there is, by its kind and size.

import { TwinlineError } from '../../errors.ts';
import { isObject } from '../../shape.ts';
import type { Json } from '../../store/store.ts';
import { AGENT_LIMITS } from '../limits.ts';
import { fitsJson, wellFormedText } from '../well-formed.ts';

/** Throws ERR_REFUSED with the server's words when the tool says that it failed. */
export function resultOf(answer: unknown, server: string): Json {
  const { content, structuredContent, isError } = isObject(answer) ? answer : {};
  const text = (Array.isArray(content) ? content : []).map(shown).filter(Boolean).join('\n');
  if (isError === true) {
    const words = wellFormedText(text.slice(0, 1_000)) || 'it gave no reason';
    throw new TwinlineError('ERR_REFUSED', `The MCP server "${server}" says: ${words}`, { reason: 'tool-failed' });
  }
  if (isObject(structuredContent) && fitsJson(structuredContent as Json, AGENT_LIMITS.mcpResultChars))
    return structuredContent as Json;
  if (text.length <= AGENT_LIMITS.mcpResultChars) return wellFormedText(text);
  const beginning = wellFormedText(text.slice(0, AGENT_LIMITS.mcpResultChars));
  return { cut: `The result has ${text.length} characters; these are the first.`, beginning };
}

type Shown = (part: { readonly [name: string]: unknown }) => string;

const SHOWN: { readonly [type: string]: Shown } = {
  text: ({ text }) => String(text),
  image: sized,
  audio: sized,
  resource_link: ({ uri, name }) => `[${String(name ?? 'a resource')}: ${String(uri)}]`,
  resource: ({ resource }) => {
    const { uri, text, blob } = isObject(resource) ? resource : {};
    return typeof text === 'string' ? text : `[${String(uri)}, ${String(blob ?? '').length} characters of base64]`;
  },
};

function sized({ type, mimeType, data }: { readonly [name: string]: unknown }): string {
  return `[${String(type)} ${String(mimeType)}, ${String(data ?? '').length} characters of base64]`;
}

function shown(part: unknown): string {
  if (!isObject(part)) return '';
  const type = String(part.type);
  return Object.hasOwn(SHOWN, type) ? SHOWN[type]!(part) : `[${type}]`;
}

// The tools of a turn as a model may call them: names and schemas that every endpoint takes, results that fit.

import type { ToolSet } from 'ai';
import { isObject } from '../../shape.ts';
import type { Json, JsonObject } from '../../store/store.ts';
import { AGENT_LIMITS } from '../limits.ts';
import type { ToolBox, ToolDescription, ToolOutcome } from '../tool.ts';
import { wellFormedText } from '../well-formed.ts';

/** `open`: any object will do, for endpoints that refuse what stands in the schemas of clients. */
export type Schemas = 'given' | 'open';

export interface ModelToolsOptions {
  readonly box: ToolBox;
  readonly schemas: Schemas;
  /** Resolves once readers have seen what the model said before this call. */
  readonly told: (call: string) => Promise<void>;
  readonly sdk: Pick<typeof import('ai'), 'dynamicTool' | 'jsonSchema'>;
}

/** The tools by the names that the model calls them by. */
export function modelTools({ box, schemas, told, sdk }: ModelToolsOptions): ToolSet {
  // Models may ask for a tool called `constructor`.
  const tools = Object.create(null) as ToolSet;
  for (const tool of box.tools) {
    const name = aliasOf(tool.name, tools);
    const schema = schemas === 'given' ? soundSchema(tool) : OPEN;
    tools[name] = sdk.dynamicTool({
      description: tool.description,
      inputSchema: sdk.jsonSchema(schema as Parameters<typeof sdk.jsonSchema>[0]),
      // Calls get ids of our own: those of models are not always different.
      execute: async (args, { toolCallId }) => {
        await told(toolCallId);
        return outcomeOf(await box.call(tool.name, isObject(args) ? (args as JsonObject) : {}));
      },
    });
  }
  return tools;
}

// What endpoints take for a name.
function aliasOf(name: string, taken: ToolSet): string {
  const plain =
    name
      .replace(/[^A-Za-z0-9_-]/g, '_')
      .replace(/^_+/, '')
      .slice(0, 60) || 'tool';
  for (let n = 1, alias = plain; ; alias = `${plain}_${++n}`) if (!Object.hasOwn(taken, alias)) return alias;
}

const OPEN: JsonObject = { type: 'object', properties: {}, additionalProperties: true };

/** The schema of an object: what is bare, of another type, or not a schema at all becomes one that takes any object. */
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

function outcomeOf(outcome: ToolOutcome): Json {
  if (!outcome.ok) return { error: outcome.error };
  const text = JSON.stringify(outcome.output);
  if (text.length <= AGENT_LIMITS.modelToolChars) return outcome.output;
  const beginning = wellFormedText(text.slice(0, AGENT_LIMITS.modelToolChars));
  return { cut: `The result has ${text.length} characters; these are the first.`, beginning };
}

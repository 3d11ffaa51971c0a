// The keys of a JSON Schema as entries of the reference: what each means, what it takes, and an example.

import type { SchemaPart } from '../../../lib/flow/format/schema.ts';
import { html, type Markup } from '../../../lib/markup.ts';
import { formatCode, jsonBlock, keyBlock } from './code.ts';
import type { ReferenceEntry, Section } from './frame.ts';

/** A schema, and the anchors of those of its definitions that have a section. */
export interface SchemaPages {
  readonly schema: SchemaPart;
  readonly anchors: { readonly [definition: string]: string };
}

/** A section with the keys of a part; what a key means by itself stands in the section of its definition. */
export function schemaSection(
  { id, title, part }: { readonly id: string; readonly title: string; readonly part: SchemaPart },
  pages: SchemaPages,
): Section {
  const entries = keyEntries({ id, part, prefix: '' }, pages);
  const examples = entries.length ? [] : (part.examples ?? []);
  const lead = html`<p>${formatCode(part.description ?? '')}</p>${examples.map(jsonBlock)}`;
  return { id, title, lead, groups: [{ entries }] };
}

interface SchemaPlace {
  readonly id: string;
  readonly part: SchemaPart;
  /** The path of the object in the section: `keys.` */
  readonly prefix: string;
}

// Keys inside keys are named by their path: `keys.back`.
function keyEntries({ id, part, prefix }: SchemaPlace, pages: SchemaPages): ReferenceEntry[] {
  const required = new Set(part.required ?? []);
  return Object.entries(part.properties ?? {}).flatMap(([key, given]) => {
    const value = resolveReference(given, pages);
    const name = prefix + key;
    const entry: ReferenceEntry = {
      id: `${id}-${name.replace(/[^\w-]/g, '-')}`,
      name,
      note: html`${required.has(key) && html`<b>required</b> · `}${keyType(given, pages)}${listBounds(value)}`,
      body: html`<p>${formatCode(value.description ?? '')}${!required.has(key) && usual(value)}</p>${exampleBlocks(key, value)}`,
    };
    const inner = given.$ref ? [] : keyEntries({ id, part: value, prefix: `${name}.` }, pages);
    return [entry, ...inner];
  });
}

/** What stands beside a $ref wins. */
export function resolveReference(part: SchemaPart, { schema }: Pick<SchemaPages, 'schema'>): SchemaPart {
  const name = nameDefinition(part);
  return name === undefined ? part : { ...schema.definitions![name]!, ...part };
}

const nameDefinition = ({ $ref }: SchemaPart) => $ref?.split('/').at(-1);

function usual({ default: value }: SchemaPart): Markup | false {
  return value !== undefined && html` Default: <code>${JSON.stringify(value)}</code>.`;
}

// What a key has to say beside one fixed value.
function exampleBlocks(key: string, { examples, enum: choices, const: only, default: value }: SchemaPart): Markup[] {
  const shown = only === undefined ? (examples ?? [choices?.[0] ?? value]) : [only];
  return shown.slice(0, 3).map((one) => keyBlock(key, one));
}

function listBounds({ minimum, maximum, maxItems, maxProperties }: SchemaPart): string {
  const most = maxItems ?? maxProperties;
  const range = minimum !== undefined && maximum !== undefined ? `, ${minimum} to ${maximum}` : '';
  return range + (most === undefined ? '' : `, at most ${most}`);
}

const TYPES: { readonly [type: string]: string } = {
  string: 'text',
  integer: 'whole number',
  boolean: 'true or false',
  array: 'list',
};

function keyType(given: SchemaPart, pages: SchemaPages): Markup | string {
  const name = nameDefinition(given);
  const anchor = name === undefined ? undefined : pages.anchors[name];
  if (anchor !== undefined) return html`<a href="#${anchor}">${name!}</a>`;
  const part = resolveReference(given, pages);
  if (part.enum)
    return part.enum.length > 5
      ? 'one of a list'
      : html`${part.enum.map((one, at) => html`${at > 0 && ' or '}<code>${String(one)}</code>`)}`;
  if (part.const !== undefined) return html`<code>${JSON.stringify(part.const)}</code>`;
  const inner = part.items ?? (typeof part.additionalProperties === 'object' ? part.additionalProperties : undefined);
  const type = typeWords(part);
  return inner?.$ref && type !== '' ? html`${type} of ${keyType(inner, pages)}` : type;
}

function typeWords({ type, not }: SchemaPart): string {
  const refused = not && 'const' in not ? not.const : undefined;
  const word = (name: string) =>
    name === 'boolean' && refused !== undefined ? String(!refused) : (TYPES[name] ?? name);
  return type === undefined ? 'any value' : [type].flat().map(word).join(' or ');
}

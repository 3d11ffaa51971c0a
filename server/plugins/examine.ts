// What is wrong with the plugins as they were written: every field of each, and what two of them cannot both have.

import { suggest } from '../../lib/flow/expression/suggest.ts';
import { isListOf, isObject, isText } from '../../lib/shape.ts';
import { argumentCheck } from './host/arguments.ts';
import type { Plugin } from './plugin.ts';

interface Rule {
  readonly holds: (value: unknown) => boolean;
  readonly words: string;
  readonly required?: true;
}

const isFunction = (value: unknown) => typeof value === 'function';
const FUNCTION: Rule = { holds: isFunction, words: 'a function' };
const NAME = /^[a-z][a-z0-9-]{0,31}$/;
const TOOL_NAME = /^[A-Za-z][\w.-]{0,63}$/;
const VARIABLE = /^[A-Z][A-Z0-9_]{0,63}$/;
const matches = (pattern: RegExp) => (value: unknown) => typeof value === 'string' && pattern.test(value);

const RULES: { readonly [field in keyof Plugin]-?: Rule } = {
  name: { holds: matches(NAME), words: 'lower-case letters, digits and dashes, up to 32', required: true },
  version: { holds: (value) => isText(value) && value !== '', words: 'a text such as "1.0.0"', required: true },
  dependsOn: { holds: (value) => isListOf(value, matches(NAME)), words: 'a list of names of plugins' },
  env: { holds: (value) => isListOf(value, matches(VARIABLE)), words: 'a list of names such as MY_TOKEN' },
  kinds: { holds: (value) => isListOf(value, isKind), words: 'a list of { name, indexes }' },
  routes: FUNCTION,
  authExcluded: { holds: (value) => isListOf(value, isExcluded), words: 'a list of { path: "/x", method?: "GET" }' },
  documentation: { holds: isObject, words: 'an object' },
  tools: { holds: (value) => isListOf(value, isTool), words: 'a list of { name, description, schema, handler }' },
  onEvent: FUNCTION,
  gate: FUNCTION,
  settle: FUNCTION,
  instructions: FUNCTION,
  sweep: FUNCTION,
};

const isKind = (value: unknown) => isObject(value) && isText(value.name) && isObject(value.indexes);
const isExcluded = (value: unknown) =>
  isObject(value) &&
  matches(/^\//)(value.path) &&
  (value.method === undefined || matches(/^[A-Za-z]+$/)(value.method)) &&
  Object.keys(value).every((field) => field === 'path' || field === 'method');
const isTool = (value: unknown) =>
  isObject(value) &&
  matches(TOOL_NAME)(value.name) &&
  isText(value.description) &&
  isObject(value.schema) &&
  isFunction(value.handler);

/** What keeps this from being a plugin, as ends of sentences; empty when nothing does. */
export function flawsOf(value: unknown): string[] {
  if (!isObject(value)) return ['has no default export that is a plugin. Write: export default { name, version, … }'];
  const unknown = Object.keys(value).filter((field) => !Object.hasOwn(RULES, field));
  const wrong = Object.entries(RULES).filter(([field, { holds, required }]) => {
    const given = value[field];
    return given === undefined ? required : !holds(given);
  });
  const flaws = [
    ...unknown.map(
      (field) => `has ${JSON.stringify(field)}, which plugins have not.${suggest(field, Object.keys(RULES))}`,
    ),
    ...wrong.map(([field, { words }]) => `has a wrong "${field}": it must be ${words}`),
  ];
  return flaws.length ? flaws : deeperFlaws(value as unknown as Plugin);
}

function deeperFlaws({ name, kinds = [], tools = [] }: Plugin): string[] {
  const prefix = `plugin-${name}-`;
  return [
    ...kinds
      .filter((kind) => !kind.name.startsWith(prefix))
      .map((kind) => `keeps documents of the kind ${JSON.stringify(kind.name)}. Begin its name with "${prefix}"`),
    ...tools.flatMap((tool) => {
      const checked = argumentCheck(tool.schema);
      return checked.kind === 'broken' ? [`has the tool "${tool.name}", whose schema is none: ${checked.why}`] : [];
    }),
  ];
}

/** What plugins of good shape cannot have together, as whole lines. */
export function clashesOf(plugins: readonly Plugin[]): string[] {
  const names = plugins.map(({ name }) => name);
  const owners = (of: (plugin: Plugin) => readonly string[]) =>
    plugins.flatMap((plugin) => of(plugin).map((thing) => [thing, plugin.name] as const));
  return [
    ...twice(names.map((name) => [name, name])).map(([name]) => `PLUGINS: two plugins have the name "${name}".`),
    ...twice(owners(({ tools = [] }) => tools.map((tool) => tool.name))).map(
      ([tool, first, second]) => `PLUGINS: the tool "${tool}" is offered by "${first}" and by "${second}". Rename one.`,
    ),
    ...twice(owners(({ kinds = [] }) => kinds.map((kind) => kind.name))).map(
      ([kind, first, second]) => `PLUGINS: the kind "${kind}" is kept by "${first}" and by "${second}". Rename one.`,
    ),
    ...plugins.flatMap(({ name, dependsOn = [] }) =>
      dependsOn
        .filter((other) => !names.includes(other))
        .map((other) => `PLUGINS: "${name}" needs the plugin "${other}". Add it to PLUGINS.`),
    ),
  ];
}

function twice(owned: readonly (readonly [string, string])[]): (readonly [string, string, string])[] {
  const first = new Map<string, string>();
  return owned.flatMap(([thing, owner]) => {
    const earlier = first.get(thing);
    if (earlier === undefined) first.set(thing, owner);
    return earlier === undefined ? [] : [[thing, earlier, owner] as const];
  });
}

// Loads the plugins that PLUGINS names, shipped ones by name and others as modules, and reports all their problems at once:
// invalid fields, and conflicts between plugins.

import type { Clock } from '../../lib/clock.ts';
import { TwinlineError } from '../../lib/errors.ts';
import { suggest } from '../../lib/flow/expression/suggest.ts';
import { isListWhere, isObject, isText } from '../../lib/given.ts';
import type { JsonObject } from '../../lib/json/json.ts';
import type { Audit } from '../audit/audit.ts';
import type { ShippedSettings } from '../config/agent-settings.ts';
import { importDefault, notePlugin } from '../config/modules.ts';
import type { Plugin, PluginRoute } from './plugin.ts';
import { claimsPlugin } from './shipped/claims.ts';
import { creditsPlugin } from './shipped/credits.ts';
import { teamChatPlugin } from './shipped/team-chat.ts';
import { userPreferencesPlugin } from './shipped/user-preferences.ts';
import { argumentCheck } from './tools.ts';

export interface LoadOptions {
  /** Base folder of relative paths and package lookup. */
  readonly folder: string;
  readonly settings: ShippedSettings;
  /** Records operator actions. */
  readonly audit: Pick<Audit, 'append'>;
  readonly clock: Pick<Clock, 'wait'>;
  /** Plugin instances, appended to the loaded ones. */
  readonly given?: readonly Plugin[] | undefined;
}

/** Loads the plugins in order. Throws ERR_CONFIG with every problem, one per line. */
export async function loadPlugins(modules: readonly string[], options: LoadOptions): Promise<readonly Plugin[]> {
  const problems: string[] = [];
  const plugins: Plugin[] = [];
  for (const module of modules) {
    const load = await find(module, options);
    if (load.plugin) plugins.push(load.plugin);
    else problems.push(...load.flaws);
  }
  for (const [at, plugin] of (options.given ?? []).entries()) {
    const flaws = findFlaws(plugin);
    problems.push(...flaws.map((flaw) => `plugins[${at}] ${flaw}${/[.?]$/.test(flaw) ? '' : '.'}`));
    if (!flaws.length) plugins.push(plugin);
  }
  problems.push(...findClashes(plugins));
  if (problems.length) throw new TwinlineError('ERR_CONFIG', problems.join('\n'));
  return plugins;
}

type PluginLoad = { readonly plugin: Plugin } | { readonly plugin?: undefined; readonly flaws: readonly string[] };

async function find(module: string, { folder, settings, audit, clock }: LoadOptions): Promise<PluginLoad> {
  const factory = Object.hasOwn(SHIPPED, module) ? SHIPPED[module as keyof typeof SHIPPED] : undefined;
  if (factory) return makePlugin(() => factory(settings, audit));
  const imported = await importDefault(module, folder, clock);
  const flaws =
    imported.kind === 'broken' ? [imported.why + suggest(module, Object.keys(SHIPPED))] : findFlaws(imported.value);
  if (imported.kind === 'loaded' && !flaws.length) {
    const plugin = imported.value as Plugin;
    notePlugin(module, folder, plugin.name);
    return { plugin };
  }
  return { flaws: flaws.map((flaw) => `PLUGINS: "${module}" ${flaw}${/[.?]$/.test(flaw) ? '' : '.'}`) };
}

// A shipped plugin fails only on a missing setting, which its message names.
function makePlugin(make: () => Plugin): PluginLoad {
  try {
    return { plugin: make() };
  } catch (error) {
    if (error instanceof TwinlineError && error.code === 'ERR_CONFIG') return { flaws: error.message.split('\n') };
    throw error;
  }
}

/** Factories of the shipped plugins; each throws ERR_CONFIG if a required setting is missing. */
const SHIPPED = {
  credits: ({ credits }, audit) => creditsPlugin(credits, audit),
  'user-preferences': () => userPreferencesPlugin(),
  'team-chat': ({ teamChat }) => teamChatPlugin(teamChat),
  claims: ({ claims }) => claimsPlugin(claims),
} as const satisfies { readonly [name: string]: (settings: ShippedSettings, audit: LoadOptions['audit']) => Plugin };

interface PluginRule {
  readonly holds: (value: unknown) => boolean;
  readonly words: string;
  readonly required?: true;
}

const isFunction = (value: unknown) => typeof value === 'function';
const FUNCTION: PluginRule = { holds: isFunction, words: 'a function' };
const NAME = /^[a-z][a-z0-9-]{0,31}$/;
const TOOL_NAME = /^[A-Za-z][\w.-]{0,63}$/;
const VARIABLE = /^[A-Z][A-Z0-9_]{0,63}$/;
const matches = (pattern: RegExp) => (value: unknown) => typeof value === 'string' && pattern.test(value);

const RULES: { readonly [field in keyof Plugin]-?: PluginRule } = {
  name: { holds: matches(NAME), words: 'lower-case letters, digits and dashes, up to 32', required: true },
  version: { holds: (value) => isText(value) && value !== '', words: 'a text such as "1.0.0"', required: true },
  dependsOn: { holds: (value) => isListWhere(value, matches(NAME)), words: 'a list of names of plugins' },
  env: { holds: (value) => isListWhere(value, matches(VARIABLE)), words: 'a list of names such as MY_TOKEN' },
  kinds: { holds: (value) => isListWhere(value, isKind), words: 'a list of { name, indexes }' },
  start: FUNCTION,
  routes: {
    holds: (value) => isFunction(value) || isListWhere(value, isRoute),
    words: 'a function, or a list of { method, path, access?, handle }',
  },
  authExcluded: { holds: (value) => isListWhere(value, isExcluded), words: 'a list of { path: "/x", method?: "GET" }' },
  documentation: { holds: isObject, words: 'an object' },
  tools: { holds: (value) => isListWhere(value, isTool), words: 'a list of { name, description, schema, handler }' },
  onEvent: FUNCTION,
  gate: FUNCTION,
  begin: FUNCTION,
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

const ROUTE_FIELDS = new Set([
  ...['method', 'path', 'access', 'handle', 'id', 'summary', 'description', 'parameters', 'query', 'headers'],
  ...['body', 'answers'],
]);
const isAccess = (value: unknown) =>
  ['user', 'public', 'operator'].includes(value as string) ||
  (isObject(value) && isText(value.bearer) && value.bearer !== '' && isText(value.name));
const isParameters = (value: unknown) =>
  isObject(value) &&
  Object.values(value).every((one) => isObject(one) && isText(one.description) && isObject(one.schema));
const isBody = (value: unknown) =>
  isObject(value) && isObject(value.types) && Object.keys(value.types).join() === 'application/json';
const isRoute = (value: unknown) =>
  isObject(value) &&
  isText(value.method) &&
  isText(value.path) &&
  isFunction(value.handle) &&
  (value.access === undefined || isAccess(value.access)) &&
  (value.body === undefined || isBody(value.body)) &&
  [value.parameters, value.query, value.headers].every((one) => one === undefined || isParameters(one)) &&
  Object.keys(value).every((field) => ROUTE_FIELDS.has(field));

/** Reasons why the value is not a plugin, as sentence endings; empty if it is one. */
function findFlaws(value: unknown): string[] {
  if (!isObject(value)) return ['has no default export that is a plugin. Write: export default { name, version, … }'];
  const unknown = Object.keys(value).filter((field) => !Object.hasOwn(RULES, field));
  const wrong = Object.entries(RULES).filter(([field, { holds, required: isRequired }]) => {
    const setting = value[field];
    return setting === undefined ? isRequired : !holds(setting);
  });
  const flaws = [
    ...unknown.map(
      (field) => `has ${JSON.stringify(field)}, which is not a plugin field.${suggest(field, Object.keys(RULES))}`,
    ),
    ...wrong.map(([field, { words }]) => `has an invalid "${field}": it must be ${words}`),
  ];
  return flaws.length ? flaws : findDeeperFlaws(value as unknown as Plugin);
}

function findDeeperFlaws({ name, kinds = [], tools = [], routes, authExcluded, documentation }: Plugin): string[] {
  const prefix = `plugin-${name}-`;
  const declared = Array.isArray(routes) ? (routes as readonly PluginRoute[]) : undefined;
  return [
    ...kinds
      .filter((kind) => !kind.name.startsWith(prefix))
      .map((kind) => `declares the kind ${JSON.stringify(kind.name)}. Its name must start with "${prefix}"`),
    ...tools.flatMap((tool) => schemaFlaws(`the tool "${tool.name}"`, tool.schema)),
    ...(declared ?? []).flatMap(({ method, path, parameters, query, headers, body }) => {
      const named = Object.entries({ ...parameters, ...query, ...headers });
      const schemas = [...named.map(([, { schema }]) => schema), ...Object.values(body?.types ?? {})];
      return schemas.flatMap((schema) => schemaFlaws(`the route ${method} ${path}`, schema as JsonObject));
    }),
    ...(declared && authExcluded
      ? ['has both "authExcluded" and a list of routes. Set access: "public" on the route instead']
      : []),
    ...(declared && documentation?.routes
      ? ['has both "documentation.routes" and a list of routes. Document the routes in the list']
      : []),
  ];
}

function schemaFlaws(owner: string, schema: JsonObject): string[] {
  try {
    argumentCheck(schema);
    return [];
  } catch (error) {
    return [`has ${owner}, whose schema is invalid: ${(error as Error).message}`];
  }
}

/** Conflicts between well-formed plugins, one line each. */
function findClashes(plugins: readonly Plugin[]): string[] {
  const names = plugins.map(({ name }) => name);
  const owners = (of: (plugin: Plugin) => readonly string[]) =>
    plugins.flatMap((plugin) => of(plugin).map((thing) => [thing, plugin.name] as const));
  return [
    ...findTwice(names.map((name) => [name, name])).map(([name]) => `PLUGINS: two plugins have the name "${name}".`),
    ...findTwice(owners(({ tools = [] }) => tools.map((tool) => tool.name))).map(
      ([tool, first, second]) =>
        `PLUGINS: the tool "${tool}" is offered by both "${first}" and "${second}". Rename one.`,
    ),
    ...findTwice(owners(({ kinds = [] }) => kinds.map((kind) => kind.name))).map(
      ([kind, first, second]) =>
        `PLUGINS: the kind "${kind}" is declared by both "${first}" and "${second}". Rename one.`,
    ),
    ...plugins.flatMap(({ name, dependsOn = [] }) =>
      dependsOn
        .filter((other) => !names.includes(other))
        .map((other) => `PLUGINS: "${name}" depends on the plugin "${other}". Add it to PLUGINS.`),
    ),
  ];
}

function findTwice(entries: readonly (readonly [string, string])[]): (readonly [string, string, string])[] {
  const first = new Map<string, string>();
  return entries.flatMap(([thing, owner]) => {
    const earlier = first.get(thing);
    if (earlier === undefined) first.set(thing, owner);
    return earlier === undefined ? [] : [[thing, earlier, owner] as const];
  });
}

// The MCP servers of this server: reads the MCP_SERVERS file and checks authorization of calls.

import type { McpServer, PassOptions } from '../../lib/agent/mcp/invocation.ts';
import type { McpOptions } from '../../lib/agent/mcp/servers.ts';
import type { HostTool } from '../../lib/agent/responder.ts';
import { TwinlineError } from '../../lib/errors.ts';
import { isListWhere, isObject, isText } from '../../lib/given.ts';
import { readJson, wordsAt } from '../../lib/json/reader.ts';
import type { DocumentStore } from '../../lib/store/store.ts';
import type { Config } from '../config/config.ts';
import { readSettingFile } from '../config/modules.ts';

export interface McpServiceOptions
  extends Pick<McpOptions, 'clock' | 'onProblem'>,
    Pick<PassOptions, 'delegations' | 'revoked'> {
  readonly config: Pick<Config, 'mcpServersFile' | 'agent'>;
  /** AGENT_KINDS must be declared before the first call of a tool. */
  readonly documents: DocumentStore;
}

export interface McpService {
  /** The currently available tools; names in `taken` belong to other tools. */
  tools(usedNames?: ReadonlySet<string>): HostTool[];
  sweep(limit: number): Promise<number>;
  close(): Promise<void>;
}

const NONE: McpService = { tools: () => [], sweep: async () => 0, close: async () => {} };

/**
 * Opens the servers; throws ERR_CONFIG when the file is invalid or the package is missing. An unreachable server is not an
 * error.
 */
export async function openMcpService(options: McpServiceOptions): Promise<McpService> {
  const { config, documents, clock, delegations, revoked, onProblem } = options;
  if (config.mcpServersFile === undefined) return NONE;
  const servers = readMcpServers(config.mcpServersFile);
  const [{ openMcp }, { passes, spentTokens }] = await Promise.all([
    import('../../lib/agent/mcp/servers.ts'),
    import('../../lib/agent/mcp/invocation.ts'),
  ]);
  const spent = spentTokens({ documents, clock });
  const pass = passes({ clock, spent, delegations, revoked, maxTtlSeconds: config.agent.maxTtlSeconds });
  const mcp = await openMcp({ servers, pass, clock, onProblem });
  return { ...mcp, sweep: spent.sweep };
}

type ServerFields = { readonly [name: string]: unknown };
interface FieldRule {
  readonly required?: true;
  readonly must: string;
  readonly holds: (value: unknown) => boolean;
}

const RULES: { readonly [field in keyof Required<McpServer>]: FieldRule } = {
  name: {
    required: true,
    must: 'be 1 to 32 lower-case letters, digits and dashes',
    holds: (value) => isText(value) && /^[a-z0-9][a-z0-9-]{0,31}$/.test(value as string),
  },
  url: { required: true, must: 'be an http:// or https:// URL without a password', holds: isPlainUrl },
  headers: { must: 'be an object of valid header values', holds: areHeaders },
  did: {
    must: 'be a DID',
    holds: (value) => isText(value) && /^did:[a-z0-9]+:[\w.:%-]{1,500}$/.test(value as string),
  },
  protected: {
    must: 'be true, false or a list of tool names',
    holds: (value) => typeof value === 'boolean' || isListWhere(value, isText),
  },
};

/** Reads the servers from a file. Throws ERR_CONFIG with every problem, one per line. */
export function readMcpServers(path: string): McpServer[] {
  const list = readList(path);
  if (!Array.isArray(list)) throw fileError(path, ['must be a JSON array of {"name", "url", …}']);
  const problems = list.flatMap((one, at) => findProblems(one).map((problem) => `number ${at + 1}: ${problem}`));
  const names = list.map((one) => (isObject(one) ? one.name : undefined));
  const duplicates = names.filter((name, at) => isText(name) && names.indexOf(name) !== at);
  problems.push(...duplicates.map((name) => `the name ${JSON.stringify(name)} is used twice`));
  if (problems.length) throw fileError(path, problems);
  return list as McpServer[];
}

function findProblems(one: unknown): string[] {
  if (!isObject(one)) return ['must be an object'];
  const unknown = Object.keys(one).filter((field) => !Object.hasOwn(RULES, field));
  return [
    ...unknown.map(
      (field) => `${JSON.stringify(field.slice(0, 40))} is unknown; the fields are ${Object.keys(RULES).join(', ')}`,
    ),
    ...Object.entries(RULES).flatMap(([field, rule]) => fieldProblem(one, field, rule)),
  ];
}

function fieldProblem(one: ServerFields, field: string, { required: isRequired, must, holds }: FieldRule): string[] {
  const value = one[field];
  if (value === undefined) return isRequired ? [`"${field}" is missing; it must ${must}`] : [];
  return holds(value) ? [] : [`"${field}" must ${must}`];
}

function isPlainUrl(value: unknown): boolean {
  if (!isText(value) || !URL.canParse(value as string)) return false;
  const { protocol, username, password } = new URL(value as string);
  return ['http:', 'https:'].includes(protocol) && !username && !password;
}

function areHeaders(value: unknown): boolean {
  if (!isObject(value)) return false;
  try {
    return Object.values(value).every(isText) && Boolean(new Headers(value as Record<string, string>));
  } catch {
    return false;
  }
}

function readList(path: string): unknown {
  const reading = readJson(readSettingFile('MCP_SERVERS', path));
  if ('value' in reading) return reading.value;
  throw fileError(path, [reading.flaw.kind === 'syntax' ? 'is not JSON' : wordsAt(reading.flaw)]);
}

function fileError(path: string, problems: readonly string[]): TwinlineError {
  return new TwinlineError('ERR_CONFIG', problems.map((problem) => `MCP_SERVERS ${path}: ${problem}.`).join('\n'));
}

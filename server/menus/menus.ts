// The menus of a folder: read, checked and compiled; and the tests beside them.

import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Clock } from '../../lib/clock.ts';
import { TwinlineError } from '../../lib/errors.ts';
import type { Flow } from '../../lib/flow/format/flow.ts';
import { checkFlows, type FlowTexts, invalidFlow, readFlowFiles, readText } from '../../lib/flow/format/load.ts';
import { CHAT_FLOW } from '../../lib/flow/format/names.ts';
import { FLOW_FILE } from '../../lib/flow/format/parse.ts';
import { type Problem, problemLine } from '../../lib/flow/format/problem.ts';
import type { LintDoors } from '../../lib/flow/lint/lint.ts';
import type { LintRule } from '../../lib/flow/lint/rule.ts';
import type { Contracts } from '../../lib/flow/lint/shapes.ts';
import { type CompiledFlow, flowCompiler } from '../../lib/flow/run/compile.ts';
import { FLOW_TEST_FILE } from '../../lib/flow/testing/file.ts';
import { type ParsedFlowTests, parseFlowTests } from '../../lib/flow/testing/parse.ts';
import { type DialledFlows, listDialled, readDialledFlows } from '../../lib/ussd/codes.ts';
import type { Config } from '../config/config.ts';
import { DIALLED_FILE, readDialledFile } from '../config/dialled-file.ts';
import { CONTRACTS } from './contracts.ts';

export interface MenuFolder {
  readonly folder: string;
  /** Names of the services that flows may call; without it, they are not checked. */
  readonly services?: ReadonlySet<string> | undefined;
  /** Their inputs and outputs, as far as known. @default those of ours */
  readonly contracts?: Contracts | undefined;
  /** Rules besides our own. */
  readonly rules?: readonly LintRule[] | undefined;
  readonly doors?: LintDoors | undefined;
  /** Names of machines of your own, which no flow may have. @default none */
  readonly machines?: ReadonlySet<string> | undefined;
  /** For dates and times. @default the system's clock */
  readonly clock?: Clock | undefined;
  /** Whether a start goes on without any flow, because the first one is about to be written. @default false */
  readonly mayBeEmpty?: boolean | undefined;
}

export interface Menus {
  /** The flows that compile, by name. */
  readonly compiled: ReadonlyMap<string, CompiledFlow>;
  readonly problems: readonly Problem[];
  /** Why flows without problems still do not compile. */
  readonly failures: readonly string[];
  /** Flow files that were read. */
  readonly files: readonly string[];
}

/** What lint knows of a server. */
export function lintDoors(
  {
    ussd,
    agent,
    timezone,
    ...config
  }: Pick<Config, 'ussd' | 'agent' | 'timezone' | 'sms' | 'serviceHosts' | 'publicUrl'>,
  dialled: DialledFlows = ussd,
): LintDoors {
  const { sms, serviceHosts, publicUrl } = config;
  return {
    ...{ textMode: ussd.textMode, chats: [agent.flow], timezone },
    ...{ sendsSms: sms !== undefined, serviceHosts, hasAddress: publicUrl !== undefined },
    get dialled() {
      return listDialled(dialled);
    },
  };
}

/** The same by the variables of an environment and what stands beside the menus, for commands that start no server. */
export function readDoors(env: NodeJS.ProcessEnv, folder: string): LintDoors {
  const textMode = env.USSD_TEXT_MODE?.trim() === 'latest' ? 'latest' : 'cumulative';
  const written = readDialledFile(folder);
  const flow = env.USSD_FLOW?.trim() || (written && 'flow' in written && written.flow) || 'main';
  const dialled = listDialled(readDialledFlows(flow.split(/\s*,\s*/)));
  return {
    textMode,
    chats: [env.AGENT_FLOW?.trim() || CHAT_FLOW],
    dialled,
    timezone: env.TIMEZONE?.trim() || undefined,
    sendsSms: Boolean(env.SMS_URL?.trim()),
    serviceHosts: env.SERVICE_HTTP_HOSTS?.split(',').flatMap((host) => host.trim() || []),
    hasAddress: Boolean(env.PUBLIC_URL?.trim()),
  };
}

/** Reads and compiles the menus of a folder. Throws ERR_CONFIG when the folder cannot be read. */
export async function readMenus(menus: MenuFolder): Promise<Menus> {
  const texts = await readFlowFiles(menus.folder);
  const name = nameMenus(texts, menus);
  const entry = name === undefined ? undefined : recent.get(name);
  if (entry && entry.clock === menus.clock) return entry.menus;
  const read = compileMenus(texts, menus);
  if (name === undefined) return read;
  recent.delete([...recent.keys()].at(-MENUS_KEPT) ?? name);
  recent.set(name, { menus: read, clock: menus.clock });
  return read;
}

/** Menus that were read last: a program that starts many servers has them checked and compiled once. */
const recent = new Map<string, { readonly menus: Menus; readonly clock: Clock | undefined }>();
const MENUS_KEPT = 4;

// Rules of others may look at more than the flows.
function nameMenus(texts: FlowTexts, { services, contracts, rules, doors }: MenuFolder): string | undefined {
  const entries = [...texts];
  if (rules?.length || entries.some(([, text]) => typeof text !== 'string')) return undefined;
  return createHash('sha256')
    .update(JSON.stringify([entries, doors, services && [...services].sort(), contracts]))
    .digest('base64');
}

function compileMenus(texts: FlowTexts, { services, contracts = CONTRACTS, rules, doors, clock }: MenuFolder): Menus {
  const { flows, problems, files } = checkFlows(texts, { services, rules, doors, contracts });
  const compiled = new Map<string, CompiledFlow>();
  const failures: string[] = [];
  const compile = flowCompiler({ flows, timezone: doors?.timezone, ...(clock && { clock }) });
  for (const flow of flows.values()) {
    const result = tryCompile(compile, flow);
    if (typeof result === 'string') failures.push(result);
    else compiled.set(flow.flow, result);
  }
  return { compiled, problems, failures, files };
}

/**
 * The menus for a start: those that are broken are left out, but those `needed` must be there, or be machines. Throws ERR_FLOW_INVALID with
 * all that is wrong with it, ERR_FLOW_UNKNOWN with the names of those that there are, or ERR_CONFIG where a machine has the name of one.
 */
export async function loadMenus(folder: MenuFolder, needed: readonly string[]): Promise<Menus> {
  const menus = await readMenus(folder);
  const { machines = new Set() } = folder;
  const twice = menus.files.filter((file) => machines.has(cutFlowName(file)));
  if (twice.length) throw new TwinlineError('ERR_CONFIG', twice.map(sayTaken).join('\n'));
  const missing = needed.find((name) => !menus.compiled.has(name) && !machines.has(name));
  if (missing === undefined || (folder.mayBeEmpty && !menus.files.length)) return menus;
  const file = join(folder.folder, missing + FLOW_FILE);
  const written = readDialledFile(folder.folder);
  const named = written && 'flow' in written && written.flow === missing ? DIALLED_FILE : 'USSD_FLOW';
  const words = `Cannot start: the flow "${missing}" (${named})`;
  if (!menus.files.includes(file)) {
    const names = [...menus.compiled.keys()].join(', ') || 'none';
    const own = machines.size ? ` Machines: ${[...machines].join(', ')}.` : '';
    const how = menus.files.length ? '' : ' Write the first ones with: npx twinline new ussd';
    throw new TwinlineError(
      'ERR_FLOW_UNKNOWN',
      `${words} is not in ${folder.folder}. Flows there: ${names}.${own}${how}`,
    );
  }
  const own = menus.problems.filter((problem) => problem.file === file);
  throw invalidFlow([`${words} has errors.`, ...menus.failures].join('\n'), own);
}

/** Why a flow is not served beside a machine of its name. */
export const sayTaken = (file: string): string =>
  `${file}: a machine of your own has the name "${cutFlowName(file)}". Rename the flow, or give the machine another id.`;

/** Why flows of a start are left out, in words, one problem each. */
export function listRefused({ problems, failures }: Pick<Menus, 'problems' | 'failures'>): string[] {
  return [...problems.filter(({ severity }) => severity === 'error').map(problemLine), ...failures];
}

export type TestedFolder = Pick<MenuFolder, 'folder' | 'contracts'>;

/** The tests beside a flow, or undefined when there are none. A file that cannot be read is one with a problem. */
export async function readTests(
  { folder, contracts = CONTRACTS }: TestedFolder,
  flow: string,
): Promise<ParsedFlowTests | undefined> {
  const file = join(folder, flow + FLOW_TEST_FILE);
  if (!existsSync(file)) return undefined;
  const text = await readText(file);
  return typeof text === 'string' ? parseFlowTests(text, file, { contracts }) : text;
}

/** What is wrong with the files of tests beside these files of flows. */
export async function readTestProblems(folder: TestedFolder, files: readonly string[]): Promise<Problem[]> {
  const parsed = await Promise.all(files.map((file) => readTests(folder, cutFlowName(file))));
  return parsed.flatMap((tests) => tests?.problems ?? []);
}

/** The flow compiled, or in words why it cannot be. */
export function tryCompile(compile: (flow: Flow) => CompiledFlow, flow: Flow): CompiledFlow | string {
  try {
    return compile(flow);
  } catch (error) {
    if (error instanceof TwinlineError) return `flow "${flow.flow}": ${error.message}`;
    throw error;
  }
}

/** `menus/main.flow.json` → `main` */
export const cutFlowName = (file: string) => basename(file, FLOW_FILE);

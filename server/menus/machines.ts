// Machines of your own: those of MACHINES and of a program, checked before any is served; and those of a module that is drawn.

import type { Clock } from '../../lib/clock.ts';
import type { Conversation } from '../../lib/engine/conversation.ts';
import { renderState } from '../../lib/engine/machine/machine-conversation.ts';
import { findInvokedServices, listNodes } from '../../lib/engine/machine/statechart.ts';
import type { Machine } from '../../lib/engine/machine/transition.ts';
import { TwinlineError } from '../../lib/errors.ts';
import { suggest } from '../../lib/flow/expression/suggest.ts';
import { isFlow } from '../../lib/flow/run/compile.ts';
import { isObject } from '../../lib/given.ts';
import { importModule } from '../config/modules.ts';
import { FLOW_NAME } from './files.ts';

export interface MachineOptions {
  /** Where relative paths start, and packages are looked for. */
  readonly folder: string;
  /** Conversations that a program gives. */
  readonly given?: readonly Conversation[] | undefined;
  /** Names of the services that machines may call. */
  readonly services: ReadonlySet<string>;
  /** @default the system's clock */
  readonly clock?: Pick<Clock, 'wait'> | undefined;
}

const EXAMPLE = "export default machineConversation(createMachine({ id: 'order', … }), { read, render })";

/**
 * Loads the modules, whose exports, by default or by name, are conversations as `machineConversation` makes them. Throws ERR_CONFIG with
 * every problem, one per line.
 */
export async function loadMachines(
  modules: readonly string[],
  { folder, given = [], services, clock }: MachineOptions,
): Promise<readonly Conversation[]> {
  const problems: string[] = [];
  const machines: Conversation[] = [];
  const add = (from: string, value: unknown) => {
    const flaws = isConversation(value)
      ? findFlaws(value, { services, others: machines })
      : [`has no machine. Write: ${EXAMPLE}`];
    problems.push(...flaws.map((flaw) => `${from} ${flaw}`));
    if (!flaws.length) machines.push(value as Conversation);
  };
  for (const module of modules) {
    const from = `MACHINES: "${module}"`;
    const result = await importModule(module, folder, clock);
    if (result.kind === 'broken') problems.push(`${from} ${result.why}`);
    else for (const value of chooseExports(result.value)) add(from, value);
  }
  for (const [at, value] of given.entries()) add(`conversations[${at}]`, value);
  if (problems.length) throw new TwinlineError('ERR_CONFIG', problems.join('\n'));
  return machines;
}

/** Those that MACHINES of this environment names. Throws as {@link loadMachines} does. */
export function machinesFrom({ MACHINES = '' }: NodeJS.ProcessEnv, services: ReadonlySet<string>) {
  const modules = MACHINES.split(',').map((module) => module.trim());
  return loadMachines(modules.filter(Boolean), { folder: process.cwd(), services });
}

// What else a module exports is its own affair, unless it exports no conversation.
function chooseExports(module: object): readonly unknown[] {
  const all = listExports(module);
  const conversations = all.filter(isConversation);
  return conversations.length ? conversations : [all.find((value) => findMachine(value) !== undefined)];
}

const listExports = (module: object): unknown[] => [...new Set(Object.values(module).flat())];

const METHODS = ['read', 'render', 'waitText', 'redact', 'callPolicy'];

const isConversation = (value: unknown): value is Conversation =>
  isObject(value) && isCompiled(value.machine) && METHODS.every((name) => typeof value[name] === 'function');

const isCompiled = (value: unknown): value is Machine => isObject(value) && typeof value.begin === 'function';

/** What keeps a conversation from being served, as ends of sentences. */
function findFlaws(
  conversation: Conversation,
  { services, others }: { readonly services: ReadonlySet<string>; readonly others: readonly Conversation[] },
): string[] {
  const { id, machine, render } = conversation;
  if (isFlow(conversation)) return [`has the flow "${id}", and takes machines. Put its file into MENUS_DIR.`];
  const flaws: string[] = [];
  if (!FLOW_NAME.test(id))
    flaws.push(
      `has a machine with the id ${JSON.stringify(id)}. Give it one of a letter and up to 63 letters, digits, - and _.`,
    );
  else if (others.some((other) => other.id === id))
    flaws.push(`has the machine "${id}", whose id another one has. Give one of them another id.`);
  if (render === renderState)
    flaws.push(`has the machine "${id}" without a screen. Write: machineConversation(${id}, { read, render })`);
  const serviceNames = [...findInvokedServices(listNodes(machine.source)).values()].flatMap((names) => [...names]);
  const unknown = [...new Set(serviceNames)].filter(
    (name) => !services.has(name) && !Object.hasOwn(machine.services, name),
  );
  for (const name of unknown)
    flaws.push(
      `has the machine "${id}", which calls the service "${name}".${suggest(name, services)} There is none of this name: export it from a module of SERVICES.`,
    );
  return flaws;
}

/** A machine that can be drawn: of a conversation, compiled, or as XState makes it. */
export type DrawnMachine = Pick<Machine, 'id' | 'source'>;

function findMachine(value: unknown): DrawnMachine | undefined {
  if (!isObject(value)) return undefined;
  if (isConversation(value)) return value.machine;
  if (isCompiled(value)) return value;
  const isStatechart = isObject(value.config) && isObject(value.implementations) && isObject(value.root);
  return isStatechart ? { id: String(value.id), source: value as unknown as DrawnMachine['source'] } : undefined;
}

/** All machines that a module exports. Throws ERR_CONFIG where it cannot be loaded or has none. */
export async function readMachines(module: string, folder: string): Promise<readonly DrawnMachine[]> {
  const result = await importModule(module, folder);
  if (result.kind === 'broken') throw new TwinlineError('ERR_CONFIG', `"${module}" ${result.why}`);
  const machines = listExports(result.value).flatMap((value) => findMachine(value) ?? []);
  if (machines.length) return machines;
  throw new TwinlineError(
    'ERR_CONFIG',
    `"${module}" exports no machine. Export what createMachine(…) or machineConversation(…) returns.`,
  );
}

// The services that flows may call: accounts, HTTP, and the modules of SERVICES.

import { TOOL_SERVICE } from '../../lib/agent/responders/flow.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Services } from '../../lib/engine/service.ts';
import { TwinlineError } from '../../lib/errors.ts';
import type { Contracts } from '../../lib/flow/lint/shapes.ts';
import { importModule } from '../config/modules.ts';
import { CONTRACTS } from './contracts.ts';
import { readContracts } from './own-contracts.ts';

const NAME = /^[A-Za-z][\w-]*(\.[A-Za-z][\w-]*)*$/;

export interface LoadedServices {
  readonly services: Services;
  /** Inputs and outputs, as far as known. */
  readonly contracts: Contracts;
}

/** What lint knows of services. */
export interface KnownServices {
  readonly services: ReadonlySet<string>;
  readonly contracts: Contracts;
}

/** Services, and where each comes from. */
interface Offered {
  readonly from: string;
  readonly services: Services;
}

/**
 * Loads the modules: file paths (absolute, or from `folder`) or package names, whose default export is an object of
 * async functions by name, and which may export `contracts` beside them; then those that are given. `builtIn` services cannot be replaced. Throws ERR_CONFIG with every problem, one per line.
 */
export async function loadServices(
  modules: readonly string[],
  { builtIn, given, folder, clock }: ServiceOptions,
): Promise<LoadedServices> {
  const problems: string[] = [];
  const offers: Offered[] = [{ from: 'twinline', services: builtIn }];
  const contracts: Contracts[] = [CONTRACTS];
  const add = (from: string, services: Services, problem: Tell) => {
    for (const [name, service] of Object.entries(services)) {
      const other = offers.find((offer) => Object.hasOwn(offer.services, name));
      if (!NAME.test(name))
        problem(`offers ${JSON.stringify(name)}, which is no service name. Name it like bills.find.`);
      else if (typeof service !== 'function')
        problem(`offers "${name}", which is no function. Export async functions.`);
      else if (other) problem(`offers "${name}", which comes from ${other.from} already. Use another name.`);
    }
    offers.push({ from, services });
  };
  for (const module of modules) {
    const problem = (why: string) => problems.push(`SERVICES: "${module}" ${why}`);
    const { services, contracts: own } = await importServices(module, { folder, clock, problem });
    add(module, services, problem);
    contracts.push(own);
  }
  if (given) add('the program', given, (why) => problems.push(`services: the program ${why}`));
  if (problems.length) throw new TwinlineError('ERR_CONFIG', problems.join('\n'));
  return {
    services: Object.assign({}, ...offers.map(({ services }) => services)) as Services,
    contracts: Object.assign({}, ...contracts) as Contracts,
  };
}

type Tell = (why: string) => void;

interface ServiceOptions {
  readonly builtIn: Services;
  readonly given?: Services | undefined;
  readonly folder: string;
  /** @default the system's clock */
  readonly clock?: Pick<Clock, 'wait'> | undefined;
}

async function importServices(
  module: string,
  { folder, clock, problem }: Pick<ServiceOptions, 'folder' | 'clock'> & { readonly problem: Tell },
): Promise<LoadedServices> {
  const imported = await importModule(module, folder, clock);
  if (imported.kind === 'broken') problem(imported.why);
  else {
    const { default: services, contracts } = imported.value;
    if (typeof services === 'object' && services !== null)
      return { services: services as Services, contracts: readContracts(contracts, Object.keys(services), problem) };
    problem('has no default export that is an object. Write: export default { "bills.find": async (input) => … }');
  }
  return { services: {}, contracts: {} };
}

/** What lint knows: these, and the service that flows of chats have beside them. */
export function lintedServices(services: Services): ReadonlySet<string> {
  return new Set([...Object.keys(services), TOOL_SERVICE]);
}

/** All services that flows may call under this environment. Throws as {@link loadServices} does. */
export function servicesFrom({ SERVICES }: NodeJS.ProcessEnv): Promise<KnownServices> {
  const modules = (SERVICES ?? '').split(',').map((module) => module.trim());
  return offeredServices(modules.filter(Boolean), { folder: process.cwd() });
}

/** The services of these modules, with ours and those that a program gives. Throws as {@link loadServices} does. */
export async function offeredServices(
  modules: readonly string[],
  options: Omit<ServiceOptions, 'builtIn'>,
): Promise<KnownServices> {
  const builtIn = Object.fromEntries(Object.keys(CONTRACTS).map((name) => [name, async () => null]));
  const { services, contracts } = await loadServices(modules, { ...options, builtIn });
  return { services: lintedServices(services), contracts };
}

/** Whether a service is one of ours: only then are its words. */
export const isBuiltIn = (name: string): boolean => Object.hasOwn(CONTRACTS, name);

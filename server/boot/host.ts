// The engine and what it works with, built from a configuration: keys, stores, services, menus, and the phone gateway.

import { type Accounts, type AccountsOptions, accounts, simulatedAccounts } from '../../lib/account/account.ts';
import { ACCOUNT_LIMITS } from '../../lib/account/limits.ts';
import { type PinVault, pinVault } from '../../lib/account/pin.ts';
import { accountServices } from '../../lib/account/services.ts';
import { sharedSpray } from '../../lib/account/spray.ts';
import { type Clock, systemClock } from '../../lib/clock.ts';
import type { Conversation, Inspector } from '../../lib/engine/conversation.ts';
import { createEngine, type Engine } from '../../lib/engine/engine.ts';
import { type StoredMemories, type StoredMemoriesOptions, storedMemories } from '../../lib/engine/memory/documents.ts';
import { memoryServices } from '../../lib/engine/memory/memory.ts';
import type { Services } from '../../lib/engine/service.ts';
import { keepSecrets } from '../../lib/engine/session/secret-calls.ts';
import type { TwinlineError } from '../../lib/errors.ts';
import { problemLine } from '../../lib/flow/format/problem.ts';
import { httpServices } from '../../lib/http/service.ts';
import type { Keyring } from '../../lib/keyring.ts';
import { smsServices } from '../../lib/sms/service.ts';
import { sharedNotes } from '../../lib/store/shared-note.ts';
import { listDialled } from '../../lib/ussd/codes.ts';
import { USSD_LIMITS } from '../../lib/ussd/limits.ts';
import { type UssdService, type UssdTurn, ussdService } from '../../lib/ussd/service.ts';
import type { Audit } from '../audit/audit.ts';
import { auditLog } from '../audit/writer.ts';
import type { Config } from '../config/config.ts';
import { type WatchedStores, watchWrites } from '../health/write-watch.ts';
import { type DialChoice, placeMenus } from '../menus/dialled.ts';
import type { MenuHome } from '../menus/home.ts';
import { loadLintRules } from '../menus/lint-rules.ts';
import { loadMachines } from '../menus/machines.ts';
import { listRefused, loadMenus, type MenuFolder, type Menus } from '../menus/menus.ts';
import { isBuiltIn, type LoadedServices, lintedServices, loadServices } from '../menus/services.ts';
import type { GivenStores } from '../stores/given.ts';
import { type OpenedStores, openStores, prepareStores, type Stores } from '../stores/stores.ts';
import { tracedStores } from '../stores/traced.ts';
import type { Log } from '../telemetry/log.ts';
import { USAGE_KEEP_MS, type UsageCounts, usageCounts } from '../usage/counts.ts';
import { type AccountDesk, accountDesk } from '../ussd/account-desk.ts';
import { callbackUrl } from '../ussd/callbacks.ts';
import { logFailures, problemLog, type SessionFailure } from './failures.ts';
import type { ServerParts } from './running-server.ts';

export interface Host extends Pick<OpenedStores, 'places' | 'redis' | 'sessionClock' | 'clocks'> {
  readonly stores: WatchedStores;
  readonly menuFolder: MenuFolder;
  readonly menuHome: MenuHome;
  /** What a dial starts. */
  readonly dialled: DialChoice;
  readonly menus: Menus;
  /** Machines of their own, beside the menus. */
  readonly machines: readonly Conversation[];
  readonly engine: Engine;
  readonly ussd: UssdService;
  readonly audit: Audit;
  /** What operators can do for callers. */
  readonly desk: AccountDesk;
  /** What flows keep of callers. */
  readonly memory: StoredMemories;
  readonly usage: UsageCounts;
  /** Stands for a phone number where the number itself must not be written. */
  readonly alias: (phone: string) => string;
  /** The same under each key of PIN_ENCRYPTION_KEY. */
  readonly aliases: PinVault['aliases'];
  /** What flows may call. */
  readonly services: Services;
  /** Closes the stores. */
  close(): Promise<void>;
}

export interface HostOptions {
  readonly log: Log;
  /** @default the system's clock */
  readonly clock?: Clock | undefined;
  /** Names of the telecom dialects that are served. @default those that are shipped */
  readonly dialects?: readonly string[];
  /** Counts what went wrong. */
  readonly onProblem?: (where: 'ussd' | 'background' | 'after' | 'account') => void;
  /** Counts sessions that ended because their phone began too many. */
  readonly onCrowded?: () => void;
  /** Called with each turn of a phone. */
  readonly onTurn?: ((turn: UssdTurn) => void) | undefined;
  /** Called with the key of each session of a phone that met a failure of the server or a service. */
  readonly onFailure?: ((failure: SessionFailure) => void) | undefined;
  /** Receives the inspection events of sessions. */
  readonly inspector?: Inspector | undefined;
  /** Stores and services that a program gives, and its rules for menus. */
  readonly parts?: Pick<ServerParts, 'services' | 'lintRules' | 'conversations'> & { readonly stores?: GivenStores };
  /** For tests: puts something between the stores and everything else. */
  readonly stores?: ((stores: Stores) => Stores) | undefined;
  /** Puts something between flows and the services that they call. */
  readonly services?: ((services: Services) => Services) | undefined;
}

/** Builds it all. Throws ERR_CONFIG, ERR_FLOW_INVALID, ERR_FLOW_UNKNOWN or ERR_STORE; then nothing is left open. */
export async function openHost(config: Config, options: HostOptions): Promise<Host> {
  const { keyring } = config;
  const { clock = systemClock } = options;
  const opened = await openStores(config, { log: options.log, clock, given: options.parts?.stores });
  const { places, redis, sessionClock, clocks, close } = opened;
  const traced = tracedStores(opened);
  const stores = watchWrites(options.stores?.(traced) ?? traced, sessionClock);
  // A store of the program may be shared, too.
  const isShared = redis !== undefined || options.parts?.stores?.snapshots !== undefined;
  try {
    await prepareStores({ snapshots: stores.snapshots, documents: stores.documents, redis }, keyring);
    const usage = usageCounts({
      notes: sharedNotes({ store: stores.snapshots, clock: sessionClock, keepMs: USAGE_KEEP_MS }),
      clock: sessionClock,
      onProblem: (error) => options.log.debug({ err: error }, 'counts of turns wait for the store'),
    });
    const audit = auditLog({ documents: stores.documents, keyring, clock, log: options.log });
    // Before anything is done that is noted: what the journal holds by then is of an earlier version.
    await audit.readCursor();
    return {
      ...(await build(config, options, { stores, keyring, clock, sessionClock, isShared, audit, usage })),
      ...{ audit, usage, sessionClock, clocks },
      stores,
      places,
      redis,
      close: async () => {
        await usage.close();
        await audit.close();
        await close();
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

function openVault(keyring: Keyring, { log, onProblem }: HostOptions): PinVault {
  const onUnopened = (error: TwinlineError) => {
    onProblem?.('account');
    log.error({ err: error }, 'a stored PIN cannot be opened: run twinline doctor');
  };
  return pinVault({ keyring, onUnopened });
}

function openMemories(
  keyring: Keyring,
  { log, onProblem }: HostOptions,
  place: Pick<StoredMemoriesOptions, 'documents' | 'clock'>,
): StoredMemories {
  const onUnopened = (error: TwinlineError) => {
    onProblem?.('account');
    log.error({ err: error }, 'what is kept of a caller cannot be opened: run twinline doctor');
  };
  return storedMemories({ ...place, keyring, onUnopened });
}

interface HostDeps {
  readonly stores: Stores;
  readonly keyring: Keyring;
  readonly clock: Clock;
  readonly sessionClock: Clock;
  readonly audit: Audit;
  readonly usage: UsageCounts;
  /** Whether other instances have the same sessions. */
  readonly isShared: boolean;
}

async function build(
  config: Config,
  options: HostOptions,
  { stores, keyring, clock, sessionClock, isShared, audit, usage }: HostDeps,
) {
  const { log, onProblem, onCrowded, parts = {}, services: between = (services) => services } = options;
  const vault = openVault(keyring, options);
  const noting = { store: stores.snapshots, clock: sessionClock };
  const spray = isShared
    ? sharedSpray(sharedNotes({ ...noting, keepMs: ACCOUNT_LIMITS.sprayWindowMs }), sessionClock)
    : undefined;
  const callers = openCallers(stores, { vault, clock, log, spray });
  // In development there are no callers whom a simulated phone could harm, and one account is there for all doors.
  const simulated = config.production
    ? simulatedAccounts(accounts({ documents: stores.documents, vault, clock }))
    : undefined;
  const memory = openMemories(keyring, options, { documents: stores.documents, clock: sessionClock });
  const desk = accountDesk({ accounts: callers, simulated, memory, aliases: vault.aliases, audit });
  const kept = { callers, simulated, memory, given: parts.services, clock };
  const { contracts, ...loaded } = await allServices(config, kept);
  const services = between(loaded.services);
  const folder = process.cwd();
  const rules = await loadLintRules(config.lintRules, { folder, given: parts.lintRules });
  const names = lintedServices(services);
  const machines = await loadMachines(config.machines, { folder, given: parts.conversations, services: names, clock });
  const ids = new Set(machines.map(({ id }) => id));
  const placed = placeMenus(config, { services: names, contracts, machines: ids, rules, clock });
  const { dialled, menuFolder } = placed;
  const menus = await loadMenus(menuFolder, listDialled(config.ussd));
  logProblems(menus, log);
  if (menuFolder.mayBeEmpty && !menus.files.length && !machines.length)
    log.warn('there are no menus yet: write the first one at /studio');
  const observed = logFailures(services, { log, production: config.production, alias: vault.alias });
  const engine = createEngine<Conversation>({
    store: stores.snapshots,
    conversations: [...menus.compiled.values(), ...machines],
    services: observed,
    keyring,
    clock: sessionClock,
    memory,
    ttlSeconds: config.ussd.ttlSeconds,
    inspector: options.inspector,
    callbackUrl: callbackAddress(config),
    onProblem: problemLog({ keyring, log, onFailure: options.onFailure, onProblem: (where) => onProblem?.(where) }),
  });
  const ussd = ussdService({
    ...{ engine, codes: dialled.codes },
    get flow() {
      return dialled.flow;
    },
    keyring,
    unknownSession: config.ussd.unknownSession,
    deadlineMs: config.ussd.deadlineMs,
    ...(options.dialects && { dialects: options.dialects }),
    notes: isShared ? sharedNotes({ ...noting, keepMs: USSD_LIMITS.phoneNoteMs }) : undefined,
    onTurn: (turn) => {
      usage.note(turn);
      options.onTurn?.(turn);
    },
    onProblem: (error, requestId) => {
      onProblem?.('ussd');
      log.error({ err: error, requestId }, 'a USSD turn failed');
    },
    onCrowded: () => {
      onCrowded?.();
      log.debug('a USSD session ended: its phone has begun too many');
    },
  });
  const { alias, aliases } = vault;
  return { ...placed, menus, machines, engine, ussd, desk, memory, alias, aliases, services: observed };
}

// In development without PUBLIC_URL, programs on this machine can reach it.
function callbackAddress({ publicUrl, production, port }: Config): Engine['callbackUrl'] {
  const base = publicUrl ?? (production || port === 0 ? undefined : `http://localhost:${port}`);
  return base === undefined ? undefined : (token) => callbackUrl(base, token);
}

interface CallerOptions extends Pick<AccountsOptions, 'vault' | 'clock'> {
  readonly log: Log;
  /** Where instances count failed checks together. */
  readonly spray: AccountsOptions['shareSpray'];
}

/** The accounts of callers. The log is told of guessing, and of accounts that are opened from another SIM. */
function openCallers({ documents }: Pick<Stores, 'documents'>, { vault, clock, log, spray }: CallerOptions): Accounts {
  return accounts({
    ...{ documents, vault, clock },
    onAlarm: (alarm) => log.error(alarm, 'many PIN checks fail: somebody may be guessing'),
    onSimChange: ({ phone, customerId }) =>
      log.warn(
        { audit: 'account.sim-change', phone: vault.alias(phone), customerId },
        'an account was opened from another SIM than before: its PIN cannot be changed for some days',
      ),
    ...(spray && { shareSpray: spray }),
  });
}

interface KeptAccounts {
  readonly callers: Accounts;
  readonly memory: StoredMemories;
  /** Those of simulated phones, where they are apart. */
  readonly simulated: Accounts | undefined;
}

interface ServiceSources extends KeptAccounts {
  readonly given: Services | undefined;
  readonly clock: Clock;
}

async function allServices(config: Config, { given, clock, ...kept }: ServiceSources): Promise<LoadedServices> {
  const accountsOfFlows = accountServices(kept.callers, kept.simulated && { simulated: kept.simulated });
  const builtIn = {
    ...accountsOfFlows,
    ...memoryServices(kept.memory),
    ...httpServices({ hosts: config.serviceHosts, headers: config.serviceHeaders }),
    ...smsServices(config.sms),
  };
  const { services, contracts } = await loadServices(config.services, { builtIn, given, folder: process.cwd(), clock });
  // Innermost, so that recorders and logs of services get no secret either.
  return { services: keepSecrets(services, { own: isBuiltIn, redact: config.redact }), contracts };
}

function logProblems(menus: Menus, log: Log): void {
  for (const problem of menus.problems) log.warn(problemLine(problem));
  for (const failure of menus.failures) log.warn(failure);
  if (listRefused(menus).length) log.warn('menus with errors are left out');
}

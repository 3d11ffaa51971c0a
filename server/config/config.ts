// The configuration of a server: what the rest of it is built from. Nothing else reads the environment.

import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { TwinlineError } from '../../lib/errors.ts';
import { requireGiven } from '../../lib/given.ts';
import { type Keyring, parseKeyring } from '../../lib/keyring.ts';
import type { Redactor } from '../../lib/redact.ts';
import type { ShippedSettings } from './agent-settings.ts';
import { IN_MEMORY } from './data-dir.ts';
import { findMisspelt, type Misspelt, type ReadOptions, readSettings, type SettingsReading } from './read.ts';
import { environmentRedactor, type ShownSetting, showSetting } from './secrets.ts';
import type { SettingValues } from './settings.ts';

const DAY_MS = 86_400_000;

/** A configuration that was checked; made by `requireConfig` or `readConfig`. */
export interface Config {
  /** True only for NODE_ENV=production. */
  readonly production: boolean;
  readonly environment: SettingValues['NODE_ENV'];
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  /** An absolute path, or `:memory:`. */
  readonly dataDir: string;
  /** Without Redis and MongoDB, everything is stored in `dataDir`. */
  readonly redisUrl: string | undefined;
  readonly mongodbUrl: string | undefined;
  /** Whether production may start on a Redis that keeps nothing. */
  readonly redisAcceptLoss: boolean;
  /** How long a start waits for them to answer. */
  readonly storeWaitMs: number;
  /** Of PIN_ENCRYPTION_KEY. */
  readonly keyring: Keyring;
  /** Whether operators can write flows in the browser. */
  readonly studio: boolean;
  /** Each opens the routes of operators. */
  readonly operatorTokens: readonly string[];
  /** Of API keys for /v1. */
  readonly apiKeysFile: string | undefined;
  /** Voting rules; undefined: the built-in ones. */
  readonly governanceFile: string | undefined;
  /** Of the agent service; signs credentials, too. */
  readonly oracleKey: string;
  /** Others, while it is changed: tokens to their DIDs are still taken. */
  readonly olderOracleKeys: readonly string[];
  /** How others reach this server, without a slash at the end; undefined, in development: by the address that it listens on. */
  readonly publicUrl: string | undefined;
  /** Whether proxies are to be trusted. */
  readonly isBehindProxy: boolean;
  /** Networks of proxies whose X-Forwarded-For counts; none when proxies are not trusted. */
  readonly trustedProxies: readonly string[];
  readonly corsOrigins: '*' | readonly string[];
  readonly rateLimit: {
    readonly max: number;
    readonly windowMs: number;
    readonly exempt: readonly string[];
    /** Open streams and sockets of one client address. */
    readonly streams: number;
    /** Whether requests of this machine itself count: not in development, unless RATE_LIMIT_MAX is set. */
    readonly countsLoopback: boolean;
  };
  readonly menusDir: string;
  readonly menusAreShipped: boolean;
  readonly services: readonly string[];
  readonly machines: readonly string[];
  /** Modules of rules for menus. */
  readonly lintRules: readonly string[];
  readonly serviceHosts: readonly string[];
  readonly serviceHeaders: NonNullable<SettingValues['SERVICE_HTTP_HEADERS']>;
  readonly timezone: string | undefined;
  readonly ussd: {
    /** Networks and `<dialect>:<secret>`; `*`: any client. */
    readonly gateways: '*' | readonly string[];
    /** Modules of adapters besides the shipped ones. */
    readonly adapters: readonly string[];
    readonly flow: string;
    readonly textMode: SettingValues['USSD_TEXT_MODE'];
    readonly unknownSession: SettingValues['USSD_UNKNOWN_SESSION'];
    readonly ttlSeconds: number;
    readonly deadlineMs: number;
    readonly errorStatus: number;
  };
  /** Of the query gateway; undefined: there is none. */
  readonly gatewayFile: string | undefined;
  readonly agent: {
    /** The DID that tokens must name; undefined: the did:key of the oracle's key. */
    readonly did: string | undefined;
    readonly name: string;
    /** The flow that answers when no model is configured. */
    readonly flow: string;
    readonly replyBytes: number;
    readonly quotas: {
      readonly userBytesPerDay: number;
      readonly bytesPerDay: number;
      readonly sessionsPerUser: number;
    };
    /** How long an unused session is kept; undefined: for ever. */
    readonly keepSessionsMs: number | undefined;
    readonly maxTtlSeconds: number;
    /** Whether a delegation alone says who asks. */
    readonly delegationAuth: boolean;
    /** Hosts that are asked for the keys of did:web issuers. */
    readonly didWebHosts: readonly string[];
    /** Where the keys of did:ixo issuers are asked for. */
    readonly didIxoUrl: string | undefined;
  };
  /** The model that answers chats; undefined: a flow does. */
  readonly model:
    | {
        /** An OpenAI-compatible endpoint, or the module that exports the model. */
        readonly from: { readonly baseUrl: string; readonly apiKey: string | undefined } | { readonly module: string };
        /** The one that answers where a message asks for no other. */
        readonly name: string;
        readonly others: readonly string[];
        readonly systemPrompt: string | undefined;
      }
    | undefined;
  readonly plugins: {
    /** Names of shipped ones, and modules. */
    readonly modules: readonly string[];
    /** Routes that the operator makes public, as `GET /path`. */
    readonly authExcluded: readonly string[];
    readonly settings: ShippedSettings;
    /** A variable of the environment that a plugin asks for. */
    readonly variable: (name: string) => string | undefined;
  };
  /** Of MCP servers. */
  readonly mcpServersFile: string | undefined;
  readonly logLevel: SettingValues['LOG_LEVEL'];
  /** Variables that are no settings, and the settings that they most probably mean. */
  readonly misspelt: readonly Misspelt[];
  /** Every setting, as operators are shown it. */
  readonly settings: readonly ShownSetting[];
  /** Masks the secrets of this configuration in everything that leaves the process. */
  readonly redact: Redactor;
  /** A port of its own for metrics. */
  readonly metricsPort: number | undefined;
  readonly drainDelayMs: number;
}

/** A reading of the environment, and the configuration when nothing is wrong with it: then there are no problems. */
export interface ConfigReading extends SettingsReading {
  readonly config?: Config;
}

/**
 * The configuration of an environment such as `process.env`, for a program that cannot go on without it; keys that are missing in
 * development are made and kept in DATA_DIR. Throws ERR_CONFIG with everything that is wrong, one problem per line.
 * @example
 * requireConfig({ PORT: '0', DATA_DIR: ':memory:' }).port; // → 0
 * requireConfig({ PORT: 'none' }); // throws ERR_CONFIG
 */
export function requireConfig(env: NodeJS.ProcessEnv): Config {
  const { config, problems } = readConfig(env, { makeKeys: true });
  if (config) return config;
  throw new TwinlineError('ERR_CONFIG', problems.join('\n'));
}

/**
 * Reads the configuration from an environment such as `process.env`; relative paths start from the working folder.
 * @example
 * const { config, problems } = readConfig({ PORT: 'none', DATA_DIR: ':memory:' });
 * config; // → undefined
 * problems.length; // → 1
 */
export function readConfig(env: NodeJS.ProcessEnv, options: ReadOptions = {}): ConfigReading {
  requireGiven('read the configuration', { env }, { env: 'environment' });
  const reading = readSettings(env, options);
  const isSet = (setting: string) =>
    reading.entries.some(({ name, source }) => name === setting && source === 'environment');
  if (!reading.values) return reading;
  const plugins = readPlugins(reading.values, env);
  const redact = environmentRedactor(env, reading.entries);
  const settings = reading.entries.map(showSetting);
  return {
    ...reading,
    config: { ...buildConfig(reading.values, isSet), plugins, redact, misspelt: findMisspelt(env), settings },
  };
}

function buildConfig(
  values: SettingValues,
  isSet: (setting: string) => boolean,
): Omit<Config, 'plugins' | 'redact' | 'misspelt' | 'settings'> {
  return {
    production: values.NODE_ENV === 'production',
    environment: values.NODE_ENV,
    ...{ host: values.HOST, port: values.PORT },
    dataDir: values.DATA_DIR === IN_MEMORY ? IN_MEMORY : resolve(values.DATA_DIR),
    ...{ redisUrl: values.REDIS_URL, mongodbUrl: values.MONGODB_URL },
    redisAcceptLoss: values.REDIS_ACCEPT_LOSS,
    storeWaitMs: values.STORE_WAIT_SECONDS * 1_000,
    ...readKeys(values),
    operatorTokens: values.OPERATOR_TOKEN ?? [],
    studio: values.STUDIO,
    apiKeysFile: values.API_KEYS_FILE,
    governanceFile: values.GOVERNANCE_FILE,
    publicUrl: values.PUBLIC_URL && new URL(values.PUBLIC_URL).href.replace(/\/+$/, ''),
    isBehindProxy: values.TRUST_PROXY_ENABLED,
    trustedProxies: values.TRUST_PROXY_ENABLED ? (values.TRUST_PROXY_CIDRS ?? []) : [],
    corsOrigins: values.CORS_ORIGIN[0] === '*' ? '*' : values.CORS_ORIGIN,
    rateLimit: {
      max: values.RATE_LIMIT_MAX,
      windowMs: values.RATE_LIMIT_WINDOW_MS,
      exempt: values.RATE_LIMIT_EXEMPT ?? [],
      streams: values.STREAMS_PER_CLIENT,
      countsLoopback: values.NODE_ENV !== 'development' || isSet('RATE_LIMIT_MAX'),
    },
    ...readMenusDir(resolve(values.MENUS_DIR), isSet('MENUS_DIR')),
    ...{ services: values.SERVICES ?? [], machines: values.MACHINES ?? [], lintRules: values.LINT_RULES ?? [] },
    timezone: values.TIMEZONE,
    ...{ serviceHosts: values.SERVICE_HTTP_HOSTS ?? [], serviceHeaders: values.SERVICE_HTTP_HEADERS ?? {} },
    ussd: {
      gateways: readGateways(values),
      adapters: values.ADAPTERS ?? [],
      flow: values.USSD_FLOW,
      textMode: values.USSD_TEXT_MODE,
      unknownSession: values.USSD_UNKNOWN_SESSION,
      ttlSeconds: values.USSD_SESSION_TTL_SECONDS,
      deadlineMs: values.USSD_TURN_DEADLINE_MS,
      errorStatus: values.USSD_ERROR_STATUS,
    },
    gatewayFile: values.GATEWAY_FILE,
    agent: {
      did: values.ORACLE_DID,
      name: 'Twinline',
      flow: values.AGENT_FLOW,
      replyBytes: values.AGENT_REPLY_MAX_BYTES,
      quotas: {
        userBytesPerDay: values.AGENT_USER_BYTES_PER_DAY,
        bytesPerDay: values.AGENT_BYTES_PER_DAY,
        sessionsPerUser: values.AGENT_SESSIONS_PER_USER,
      },
      keepSessionsMs: values.AGENT_KEEP_DAYS === undefined ? undefined : values.AGENT_KEEP_DAYS * DAY_MS,
      maxTtlSeconds: values.UCAN_AUTH_MAX_TTL_SECONDS,
      delegationAuth: values.UCAN_DELEGATION_AUTH,
      didWebHosts: values.DID_WEB_HOSTS ?? [],
      didIxoUrl: values.DID_IXO_URL,
    },
    model: readModel(values),
    mcpServersFile: values.MCP_SERVERS,
    logLevel: values.LOG_LEVEL,
    metricsPort: values.METRICS_PORT,
    drainDelayMs: values.DRAIN_DELAY_MS,
  };
}

function readPlugins(values: SettingValues, env: NodeJS.ProcessEnv): Config['plugins'] {
  return {
    modules: values.PLUGINS ?? [],
    authExcluded: values.AUTH_EXCLUDED ?? [],
    settings: {
      credits: {
        perMillionInput: values.CREDITS_PER_MILLION_INPUT_TOKENS,
        perMillionOutput: values.CREDITS_PER_MILLION_OUTPUT_TOKENS,
        perRun: values.CREDITS_PER_RUN,
        heldPerRun: values.CREDITS_HELD_PER_RUN,
      },
      teamChat: {
        signingSecret: values.TEAM_CHAT_SIGNING_SECRET,
        botToken: values.TEAM_CHAT_BOT_TOKEN,
        replyUrl: values.TEAM_CHAT_REPLY_URL,
      },
      claims: { secret: values.CLAIMS_SECRET, service: values.CLAIMS_SERVICE },
    },
    variable: (name) => env[name],
  };
}

function readModel(values: SettingValues): Config['model'] {
  const { MODEL: module, MODEL_BASE_URL: baseUrl, MODEL_NAME: name, MODEL_SYSTEM_PROMPT: systemPrompt } = values;
  if (module !== undefined) return { from: { module }, name: name ?? 'model', others: [], systemPrompt };
  if (baseUrl === undefined || name === undefined) return undefined;
  const others = (values.MODEL_LIST ?? []).filter((one) => one !== name);
  return { from: { baseUrl, apiKey: values.MODEL_API_KEY }, name, others, systemPrompt };
}

// Where a configuration is only looked at, no key is made.
function readKeys({
  PIN_ENCRYPTION_KEY: pinKeys,
  ORACLE_KEY: oracleKeys = [],
}: Partial<SettingValues>): Pick<Config, 'keyring' | 'oracleKey' | 'olderOracleKeys'> {
  const [oracleKey, ...olderOracleKeys] = oracleKeys;
  return { keyring: (pinKeys ? parseKeyring(pinKeys) : undefined)!, oracleKey: oracleKey!, olderOracleKeys };
}

// Production does not start without the setting.
function readGateways({ USSD_GATEWAYS: entries }: SettingValues): Config['ussd']['gateways'] {
  return entries === undefined || entries[0] === '*' ? '*' : entries;
}

// In a folder without menus of its own, the shipped ones answer.
function readMenusDir(folder: string, isSet: boolean): Pick<Config, 'menusDir' | 'menusAreShipped'> {
  const shipped = dirname(fileURLToPath(import.meta.resolve('#menus/main.flow.json')));
  const menusDir = isSet || existsSync(folder) ? folder : shipped;
  return { menusDir, menusAreShipped: !isSet && menusDir === shipped };
}

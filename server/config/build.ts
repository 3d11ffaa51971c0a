// From checked values to the configuration.

import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseKeyring } from '../../lib/keyring.ts';
import { readSmsFormat } from '../../lib/sms/format.ts';
import { readDialledFlows } from '../../lib/ussd/codes.ts';
import { IN_MEMORY } from './data-dir.ts';
import { readDialledFile } from './dialled-file.ts';
import type { Config } from './fields.ts';
import type { SettingValues } from './settings.ts';

const DAY_MS = 86_400_000;

type IsSet = (setting: string) => boolean;

/** What the file of the menus says that a dial starts; undefined where USSD_FLOW says it, or there is no file. */
export function findDialled(values: SettingValues, isSet: IsSet): ReturnType<typeof readDialledFile> {
  if (isSet('USSD_FLOW')) return undefined;
  return readDialledFile(readMenusDir(resolve(values.MENUS_DIR), isSet('MENUS_DIR')).menusDir);
}

/** The configuration of these values. Keys that are missing stay undefined. */
export function buildConfig(
  values: SettingValues,
  isSet: IsSet,
  dialled: ReturnType<typeof findDialled> = findDialled(values, isSet),
): Omit<Config, 'plugins' | 'redact' | 'misspelt' | 'settings'> {
  return {
    production: values.NODE_ENV === 'production',
    environment: values.NODE_ENV,
    host: values.HOST,
    port: values.PORT,
    dataDir: values.DATA_DIR === IN_MEMORY ? IN_MEMORY : resolve(values.DATA_DIR),
    redisUrl: values.REDIS_URL,
    mongodbUrl: values.MONGODB_URL,
    redisAcceptLoss: values.REDIS_ACCEPT_LOSS,
    storeWaitMs: values.STORE_WAIT_SECONDS * 1_000,
    ...readKeys(values),
    operatorTokens: values.OPERATOR_TOKEN ?? [],
    studio: values.STUDIO,
    studioSavesDrafts: values.STUDIO_SAVE === 'draft',
    apiKeysFile: resolveFile(values.API_KEYS_FILE),
    governanceFile: resolveFile(values.GOVERNANCE_FILE),
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
    sms: readSms(values),
    ...{ serviceHosts: values.SERVICE_HTTP_HOSTS ?? [], serviceHeaders: values.SERVICE_HTTP_HEADERS ?? {} },
    ussd: {
      gateways: readGateways(values),
      adapters: values.ADAPTERS ?? [],
      ...readDialledFlows(values.USSD_FLOW),
      ...(dialled && 'flow' in dialled && { flow: dialled.flow }),
      isFlowSet: isSet('USSD_FLOW'),
      textMode: values.USSD_TEXT_MODE,
      unknownSession: values.USSD_UNKNOWN_SESSION,
      ttlSeconds: values.USSD_SESSION_TTL_SECONDS,
      deadlineMs: values.USSD_TURN_DEADLINE_MS,
      errorStatus: values.USSD_ERROR_STATUS,
    },
    gatewayFile: resolveFile(values.GATEWAY_FILE),
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
    mcpServersFile: resolveFile(values.MCP_SERVERS),
    logLevel: values.LOG_LEVEL,
    metricsPort: values.METRICS_PORT,
    drainDelayMs: values.DRAIN_DELAY_MS,
  };
}

// Messages then say which path was looked at.
const resolveFile = (file: string | undefined) => (file === undefined ? undefined : resolve(file));

/** What plugins are told of the settings. */
export function readPlugins(values: SettingValues, env: NodeJS.ProcessEnv): Config['plugins'] {
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

function readSms(values: SettingValues): Config['sms'] {
  const { SMS_URL: url, SMS_FORMAT, SMS_FROM: from, SMS_FIELDS: fields, SERVICE_HTTP_HEADERS: headers } = values;
  return url === undefined ? undefined : { url, format: readSmsFormat(SMS_FORMAT)!, from, fields, headers };
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

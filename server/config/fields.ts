// What a configuration holds.

import type { Keyring } from '../../lib/keyring.ts';
import type { Redactor } from '../../lib/redact.ts';
import type { SmsGateway } from '../../lib/sms/service.ts';
import type { FlowCode } from '../../lib/ussd/codes.ts';
import type { ShippedSettings } from './agent-settings.ts';
import type { Misspelt } from './read.ts';
import type { ShownSetting } from './secrets.ts';
import type { SettingValues } from './settings.ts';

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
  /** Whether a save in the studio keeps a draft; else it publishes. */
  readonly studioSavesDrafts: boolean;
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
  /** The gateway of `sms.send`. */
  readonly sms: SmsGateway | undefined;
  readonly timezone: string | undefined;
  readonly ussd: {
    /** Networks and `<dialect>:<secret>`; `*`: any client. */
    readonly gateways: '*' | readonly string[];
    /** Modules of adapters besides the shipped ones. */
    readonly adapters: readonly string[];
    /** What a dial starts; while a server runs, {@link isFlowSet} tells whether that can change. */
    readonly flow: string;
    /** Whether USSD_FLOW names it; else the file `dialled.json` of the menus does, or it is `main`. */
    readonly isFlowSet: boolean;
    /** Service codes that start other flows. */
    readonly codes: readonly FlowCode[];
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

/** The settings that name files and modules, and what is read with them. */
export type NamedSettings = Pick<
  Config,
  | 'production'
  | 'studio'
  | 'apiKeysFile'
  | 'governanceFile'
  | 'gatewayFile'
  | 'mcpServersFile'
  | 'services'
  | 'machines'
  | 'lintRules'
  | 'menusDir'
  | 'ussd'
  | 'model'
> & { readonly plugins: Pick<Config['plugins'], 'modules' | 'settings'> };

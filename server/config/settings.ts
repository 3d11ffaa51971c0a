// Every environment variable: its kind, its default, what it means, and what to do when it is wrong.

import { AGENT_SETTINGS, PLUGIN_SETTINGS } from './agent-settings.ts';
import {
  dialledFlows,
  flag,
  type Generated,
  integer,
  list,
  oneOf,
  type Setting,
  type SettingValue,
  text,
} from './kinds.ts';
import { SERVICE_SETTINGS } from './service-settings.ts';

const DAY_MS = 86_400_000;
const PORT_RANGE = [0, 65_535] as const;
const PRIVATE_NETWORKS =
  '127.0.0.0/8,::1/128,10.0.0.0/8,172.16.0.0/12,192.168.0.0/16,169.254.0.0/16,fc00::/7,fe80::/10';

/** All settings by variable, in the order in which they are shown. An empty variable counts as not set. */
export const SETTINGS = {
  NODE_ENV: {
    kind: oneOf('development', 'test', 'production'),
    default: 'development',
    meaning: 'production refuses development conveniences: generated keys, open debug routes',
    fix: 'Set NODE_ENV=production on servers, or leave it out.',
  },
  PORT: {
    kind: integer(...PORT_RANGE),
    default: '3000',
    meaning: 'where the server listens; 0 takes any free port',
    fix: 'Set for example PORT=3000.',
  },
  HOST: {
    kind: text('host'),
    default: '127.0.0.1',
    productionDefault: '0.0.0.0',
    meaning: 'the address that the server listens on',
    fix: 'Set HOST=127.0.0.1 for this machine only, HOST=0.0.0.0 for all networks.',
  },
  PUBLIC_URL: {
    kind: text('public-url'),
    meaning:
      'how others reach the server, signed into credentials for good, and whose pages are ours; unset = as each request says, which production refuses',
    fix: 'Set for example PUBLIC_URL=https://twins.example.com, with a path where a proxy adds one.',
  },
  DATA_DIR: {
    kind: text('path'),
    default: './data',
    meaning: 'embedded stores and generated keys; :memory: keeps nothing',
    fix: 'Set a folder that the server may write to, or DATA_DIR=:memory:.',
  },
  REDIS_URL: {
    kind: text('redis-url'),
    secret: 'password',
    meaning: 'snapshots, rate limits and messages between instances; unset = embedded',
    fix: 'Set for example REDIS_URL=redis://127.0.0.1:6379.',
  },
  REDIS_ACCEPT_LOSS: {
    kind: flag(),
    default: 'false',
    meaning: 'true lets production start on a Redis that forgets all sessions when it restarts (appendonly no)',
    fix: 'Set true or false.',
  },
  MONGODB_URL: {
    kind: text('mongodb-url'),
    secret: 'password',
    meaning: 'documents and accounts; unset = embedded',
    fix: 'Set for example MONGODB_URL=mongodb://127.0.0.1:27017/twinline.',
  },
  STORE_WAIT_SECONDS: {
    kind: integer(0, 600),
    default: '15',
    meaning: 'how long a start waits for Redis and MongoDB to answer; then it ends with exit code 1',
    fix: 'Set for example STORE_WAIT_SECONDS=15.',
  },
  PIN_ENCRYPTION_KEY: {
    kind: text('pin-keys'),
    secret: 'all',
    generated: 'pin-key',
    meaning: 'key of PINs at rest: [kid:]<64 hex or base64 of 32 bytes>[,<older keys>], the first is active',
    fix: 'Generate one with: openssl rand -hex 32',
  },
  OPERATOR_TOKEN: {
    kind: list('operator-token'),
    secret: 'all',
    meaning:
      'bearer token of operator routes; a list while it is changed; unset: loopback clients in development, nobody in production',
    fix: 'Generate one with: openssl rand -hex 32',
  },
  API_KEYS_FILE: {
    kind: text('path'),
    meaning: 'JSON file of API keys for /v1',
    fix: 'Set the path of a JSON file.',
  },
  GOVERNANCE_FILE: {
    kind: text('path'),
    meaning: 'JSON file of voting rules; unset = built-in rules',
    fix: 'Set the path of a JSON file.',
  },
  STUDIO: {
    kind: flag(),
    default: 'true',
    productionDefault: 'false',
    meaning: 'the studio, in which operators write flows in the browser; it changes the files of MENUS_DIR',
    fix: 'Set true or false.',
  },
  STUDIO_SAVE: {
    kind: oneOf('publish', 'draft'),
    default: 'publish',
    productionDefault: 'draft',
    meaning:
      'what Save does in the studio. publish: callers get the text at once, if lint and tests pass. draft: the text is kept beside the flow, and callers get it by Publish',
    fix: 'Set publish or draft.',
  },
  TRUST_PROXY_ENABLED: {
    kind: flag(),
    default: 'false',
    meaning: 'the client address is the right-most X-Forwarded-For hop that is no trusted proxy',
    fix: 'Set TRUST_PROXY_ENABLED=true behind a reverse proxy, else false.',
  },
  TRUST_PROXY_CIDRS: {
    kind: list('cidr'),
    default: PRIVATE_NETWORKS,
    productionDefault: '',
    meaning: 'networks of trusted proxies; in production those that are listed, and no others',
    fix: 'Set for example TRUST_PROXY_CIDRS=10.0.0.0/8,192.168.1.7.',
  },
  CORS_ORIGIN: {
    kind: list('origin'),
    default: '*',
    meaning: '* = any origin without credentials; a list = exactly those, with credentials',
    fix: 'Set CORS_ORIGIN=* or for example CORS_ORIGIN=https://app.example.com,http://localhost:5173 (no path, no slash).',
  },
  RATE_LIMIT_MAX: {
    kind: integer(1, 1_000_000_000),
    default: '100',
    meaning: 'requests per window and client address (IPv6 by /64, and 16 times as many by /48)',
    fix: 'Set for example RATE_LIMIT_MAX=100.',
  },
  RATE_LIMIT_WINDOW_MS: {
    kind: integer(1, DAY_MS),
    default: '60000',
    meaning: 'the window, in milliseconds',
    fix: 'Set for example RATE_LIMIT_WINDOW_MS=60000.',
  },
  RATE_LIMIT_EXEMPT: {
    kind: list('cidr'),
    meaning: 'networks, such as a telecom gateway, that are limited per phone number instead',
    fix: 'Set for example RATE_LIMIT_EXEMPT=203.0.113.0/24.',
  },
  STREAMS_PER_CLIENT: {
    kind: integer(1, 1_000_000),
    default: '256',
    meaning: 'open streams of events and sockets of one client address, counted as RATE_LIMIT_MAX counts',
    fix: 'Set for example STREAMS_PER_CLIENT=256.',
  },
  USSD_GATEWAYS: {
    kind: list('ussd-gateway'),
    secret: 'entries',
    meaning:
      'telecom gateways that may speak for callers: networks (after trusted proxies), <dialect>:<secret>, or * for everybody; unset = everybody in development',
    fix: 'Set the addresses of your telecom gateway, for example USSD_GATEWAYS=203.0.113.0/24, or hubtel:<secret of 16 characters or more>, or * for everybody.',
  },
  ADAPTERS: {
    kind: list('module'),
    meaning: 'modules whose default export is a telecom adapter; served at /api/ussd/<its name>',
    fix: 'Set for example ADAPTERS=./adapters/zed.js,@my/adapter.',
  },
  MENUS_DIR: {
    kind: text('path'),
    default: './menus',
    meaning: 'where flows are; the shipped ones when unset and there is no such folder',
    fix: 'Set the path of a folder with *.flow.json files.',
  },
  USSD_FLOW: {
    kind: dialledFlows(),
    default: 'main',
    meaning:
      'the flow that a dial starts, or a machine of MACHINES; before it, flows of single service codes: *700*4#:bus,*700*5#:awards,main. Unset: what the studio has written into dialled.json of MENUS_DIR',
    fix: 'Set the name of a flow, its file name without .flow.json, or the id of a machine; before it, if you like, <service code>:<flow> for each code that starts another.',
  },
  TIMEZONE: {
    kind: text('time-zone'),
    meaning: 'where the callers are: the time zone of flows that name none; unset = UTC',
    fix: 'Set for example TIMEZONE=Africa/Nairobi.',
  },
  MACHINES: {
    kind: list('module'),
    meaning: 'modules that export machines of your own, served beside the flows; read at the start only',
    fix: 'Set for example MACHINES=./order.js.',
  },
  ...SERVICE_SETTINGS,
  USSD_TEXT_MODE: {
    kind: oneOf('cumulative', 'latest'),
    default: 'cumulative',
    meaning: 'cumulative: text holds the whole history joined by *; latest: only the last input',
    fix: 'Set what your gateway sends.',
  },
  USSD_UNKNOWN_SESSION: {
    kind: oneOf('end', 'menu', 'forward'),
    default: 'end',
    meaning: 'an unknown session that begins with text: end it, show the first screen, or replay the shortcut',
    fix: 'Set end, menu or forward.',
  },
  USSD_SESSION_TTL_SECONDS: {
    kind: integer(1, 86_400),
    default: '180',
    meaning: 'seconds of silence before a session is forgotten',
    fix: 'Set for example USSD_SESSION_TTL_SECONDS=180.',
  },
  USSD_TURN_DEADLINE_MS: {
    kind: integer(100, 60_000),
    default: '8000',
    meaning: 'latest answer to the telecom gateway, in milliseconds',
    fix: 'Set less than your gateway waits, for example USSD_TURN_DEADLINE_MS=8000.',
  },
  USSD_ERROR_STATUS: {
    kind: integer(200, 599),
    default: '200',
    meaning: 'HTTP status of "Service temporarily unavailable"; most gateways hide the text of any other than 200',
    fix: 'Set for example USSD_ERROR_STATUS=503, or leave it out.',
  },
  ...AGENT_SETTINGS,
  GATEWAY_FILE: {
    kind: text('path'),
    meaning: 'JSON file of the query gateway: its node, descriptors, prefixes, gate and cache; unset = off',
    fix: 'Set the path of a file such as {"upstream":"node:9090","reflection":true}.',
  },
  ...PLUGIN_SETTINGS,
  LOG_LEVEL: {
    kind: oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'),
    default: 'info',
    meaning: 'what is logged to standard output, as JSON lines',
    fix: 'Set for example LOG_LEVEL=info.',
  },
  METRICS_PORT: {
    kind: integer(...PORT_RANGE),
    meaning: 'a port of its own for /metrics; unset = /metrics on the main port, for operators only',
    fix: 'Set for example METRICS_PORT=9464.',
  },
  DRAIN_DELAY_MS: {
    kind: integer(0, 600_000),
    default: '0',
    productionDefault: '5000',
    meaning: 'after SIGTERM, how long /readyz says 503 while requests are still taken',
    fix: 'Set for example DRAIN_DELAY_MS=5000.',
  },
} as const satisfies Record<string, Setting>;

export type SettingName = keyof typeof SETTINGS;
type Table = typeof SETTINGS;
type Filled = {
  [N in SettingName]: Table[N] extends { productionDefault: '' }
    ? never
    : Table[N] extends { default: string } | { generated: Generated }
      ? N
      : never;
}[SettingName];

/** What the settings come to; those without a default may be missing. */
export type SettingValues = { readonly [N in Filled]: SettingValue<Table[N]['kind']> } & {
  readonly [N in Exclude<SettingName, Filled>]?: SettingValue<Table[N]['kind']>;
};

// The variables of the agent service: who may ask it, the model that answers, the tools that it may call; and those of plugins, which
// begin with the name of their plugin.

import { CHAT_FLOW } from '../../lib/flow/format/names.ts';
import { flag, integer, list, type Setting, text } from './kinds.ts';

export const AGENT_SETTINGS = {
  ORACLE_KEY: {
    kind: list('ed25519-key'),
    secret: 'all',
    generated: 'oracle-key',
    meaning: 'Ed25519 key of the agent service; of a list, while it is changed, the first signs',
    fix: 'Generate one with: npx twinline config --new-keys',
  },
  ORACLE_DID: {
    kind: text('did'),
    meaning: 'the DID that tokens must name as audience; unset = the did:key of ORACLE_KEY',
    fix: 'Set for example ORACLE_DID=did:web:oracle.example.com.',
  },
  UCAN_AUTH_MAX_TTL_SECONDS: {
    kind: integer(1, 31_536_000),
    default: '900',
    meaning: 'longest accepted lifetime of an invocation, in seconds',
    fix: 'Set for example UCAN_AUTH_MAX_TTL_SECONDS=900.',
  },
  UCAN_DELEGATION_AUTH: {
    kind: flag(),
    default: 'on',
    meaning: 'off refuses x-ucan-delegation as the only proof of who asks',
    fix: 'Set on or off.',
  },
  DID_WEB_HOSTS: {
    kind: list('http-host'),
    meaning: 'hosts that are asked for the keys of did:web issuers of tokens; unset = such tokens are refused',
    fix: 'Set for example DID_WEB_HOSTS=id.example.com,*.example.org (no scheme, no path).',
  },
  DID_IXO_URL: {
    kind: text('http-url'),
    meaning: 'GraphQL endpoint that tells the keys of did:ixo issuers; unset = such tokens are refused',
    fix: 'Set for example DID_IXO_URL=https://blocksync.example.com/graphql.',
  },
  AGENT_FLOW: {
    kind: text('flow'),
    default: CHAT_FLOW,
    meaning: 'the flow that answers when no model is configured, or a machine of MACHINES',
    fix: 'Set the name of a flow, its file name without .flow.json, or the id of a machine.',
  },
  AGENT_REPLY_MAX_BYTES: {
    kind: integer(1_024, 1_073_741_824),
    default: '8388608',
    meaning: 'longest answer of an agent, in bytes',
    fix: 'Set for example AGENT_REPLY_MAX_BYTES=8388608.',
  },
  AGENT_USER_BYTES_PER_DAY: {
    kind: integer(1_048_576, 1_099_511_627_776),
    default: '67108864',
    meaning: 'bytes of messages that one user may send in a day (UTC)',
    fix: 'Set for example AGENT_USER_BYTES_PER_DAY=67108864.',
  },
  AGENT_BYTES_PER_DAY: {
    kind: integer(1_048_576, 1_099_511_627_776),
    default: '10737418240',
    meaning: 'bytes of messages that all users may send to this process in a day: anybody can make identities',
    fix: 'Set for example AGENT_BYTES_PER_DAY=10737418240.',
  },
  AGENT_SESSIONS_PER_USER: {
    kind: integer(1, 100_000),
    default: '1000',
    meaning: 'sessions that one user may have',
    fix: 'Set for example AGENT_SESSIONS_PER_USER=1000.',
  },
  AGENT_KEEP_DAYS: {
    kind: integer(1, 36_500),
    meaning: 'days after which a session that nobody uses is deleted with its messages; unset = never',
    fix: 'Set for example AGENT_KEEP_DAYS=90.',
  },
  MODEL: {
    kind: text('module'),
    meaning: 'a module that exports a language model of the AI SDK, in the place of an endpoint',
    fix: 'Set for example MODEL=./model.js.',
  },
  MODEL_BASE_URL: {
    kind: text('http-url'),
    secret: 'password',
    meaning: 'an OpenAI-compatible endpoint, with its /v1',
    fix: 'Set for example MODEL_BASE_URL=http://127.0.0.1:11434/v1.',
  },
  MODEL_API_KEY: {
    kind: text('token'),
    secret: 'all',
    meaning: 'key of that endpoint',
    fix: 'Set the key without spaces or line ends.',
  },
  MODEL_NAME: {
    kind: text('words'),
    meaning: 'model of that endpoint, or what the one of MODEL is called',
    fix: 'Set the name as the endpoint lists it.',
  },
  MODEL_LIST: {
    kind: list('words'),
    meaning: 'other models of that endpoint that a message may ask for',
    fix: 'Set the names as the endpoint lists them, separated by commas.',
  },
  MODEL_SYSTEM_PROMPT: {
    kind: text('lines'),
    meaning: 'what the model is to know and to do before every reply',
    fix: 'Set for example MODEL_SYSTEM_PROMPT="You help people who cook on clean stoves."',
  },
  MCP_SERVERS: {
    kind: text('path'),
    meaning: 'JSON file of MCP servers whose tools the agent may call; unset = none',
    fix: 'Set the path of a JSON file.',
  },
} as const satisfies Record<string, Setting>;

const PRICE_MAX = 1_000_000_000;

export const PLUGIN_SETTINGS = {
  PLUGINS: {
    kind: list('module'),
    meaning: 'shipped plugins by name, or modules that export one',
    fix: 'Set for example PLUGINS=credits,./plugins/mine.js.',
  },
  AUTH_EXCLUDED: {
    kind: list('route'),
    meaning: 'routes of the agent service and of plugins that need no token',
    fix: 'Set for example AUTH_EXCLUDED=GET /my-plugin/status.',
  },
  CREDITS_PER_MILLION_INPUT_TOKENS: {
    kind: integer(0, PRICE_MAX),
    default: '4800',
    meaning:
      'plugin credits: what a million tokens cost that a model reads (3 USD at 1000 credits each, and 60 % more)',
    fix: 'Set for example CREDITS_PER_MILLION_INPUT_TOKENS=4800.',
  },
  CREDITS_PER_MILLION_OUTPUT_TOKENS: {
    kind: integer(0, PRICE_MAX),
    default: '24000',
    meaning: 'plugin credits: what a million tokens cost that a model writes',
    fix: 'Set for example CREDITS_PER_MILLION_OUTPUT_TOKENS=24000.',
  },
  CREDITS_PER_RUN: {
    kind: integer(0, 1_000_000),
    default: '0',
    meaning: 'plugin credits: what a finished reply costs besides its tokens',
    fix: 'Set for example CREDITS_PER_RUN=1.',
  },
  CREDITS_HELD_PER_RUN: {
    kind: integer(1, 1_000_000),
    default: '10',
    meaning:
      'plugin credits: what is held of an account while a reply is made, CREDITS_PER_RUN or more; without it the run is refused',
    fix: 'Set for example CREDITS_HELD_PER_RUN=10: about what a reply costs, and CREDITS_PER_RUN at least.',
  },
  TEAM_CHAT_SIGNING_SECRET: {
    kind: text('token'),
    secret: 'all',
    meaning: 'plugin team-chat: the secret with which the chat signs its events',
    fix: 'Copy it from the settings of your chat app.',
  },
  TEAM_CHAT_BOT_TOKEN: {
    kind: text('token'),
    secret: 'all',
    meaning: 'plugin team-chat: the token that replies are posted with',
    fix: 'Copy it from the settings of your chat app.',
  },
  TEAM_CHAT_REPLY_URL: {
    kind: text('http-url'),
    default: 'https://slack.com/api/chat.postMessage',
    secret: 'password',
    meaning: 'plugin team-chat: where replies are posted; https and the public internet only',
    fix: 'Set for example TEAM_CHAT_REPLY_URL=https://slack.com/api/chat.postMessage.',
  },
  CLAIMS_SECRET: {
    kind: text('token'),
    secret: 'all',
    meaning: 'plugin claims: the bearer token of the cron job that has claims evaluated',
    fix: 'Generate one with: openssl rand -hex 32',
  },
  CLAIMS_SERVICE: {
    kind: text('service'),
    meaning: 'plugin claims: the function of SERVICES that evaluates a claim',
    fix: 'Set for example CLAIMS_SERVICE=claims.evaluate.',
  },
} as const satisfies Record<string, Setting>;

export interface CreditsSettings {
  /** Credits for a million tokens that a model reads. */
  readonly perMillionInput: number;
  /** Credits for a million tokens that it writes. */
  readonly perMillionOutput: number;
  /** Credits for each run that finishes, besides its tokens. */
  readonly perRun: number;
  /** Held of the account while a reply is made. */
  readonly heldPerRun: number;
}

export interface TeamChatSettings {
  readonly signingSecret: string | undefined;
  readonly botToken: string | undefined;
  readonly replyUrl: string;
}

export interface ClaimsSettings {
  /** What the cron job shows as its bearer token. */
  readonly secret: string | undefined;
  /** The service that evaluates a claim: one of the modules of SERVICES. */
  readonly service: string | undefined;
}

/** What the plugins that come with Twinline are set to. */
export interface ShippedSettings {
  readonly credits: CreditsSettings;
  readonly teamChat: TeamChatSettings;
  readonly claims: ClaimsSettings;
}

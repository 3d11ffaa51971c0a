// The variables of plugins: which there are, and those of the shipped ones, which begin with the name of their plugin.

import { integer, list, text } from './kinds.ts';
import type { Setting } from './settings.ts';

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

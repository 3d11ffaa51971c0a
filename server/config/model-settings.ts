// The variables of the model that answers chats, and of the tools of others that it may call.

import { list, text } from './kinds.ts';
import type { Setting } from './settings.ts';

export const MODEL_SETTINGS = {
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
    meaning: 'model of that endpoint',
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

// What the agent service takes and answers, as JSON Schemas.

import type { Schema } from '../../../lib/domain/schema/parts.ts';
import { record } from '../../../lib/domain/schema/twin-answers.ts';
import { SERVER_LIMITS } from '../../config/limits.ts';

const TEXT: Schema = { type: 'string' };
const FLAG: Schema = { type: 'boolean' };
const OPEN: Schema = { type: 'object', additionalProperties: true };
const TIME: Schema = { type: 'string', format: 'date-time' };
const FILLED: Schema = { type: 'string', minLength: 1 };

export const AGENT_ERROR: Schema = record(
  'A refusal of the agent service',
  {
    statusCode: { type: 'integer' },
    message: { oneOf: [TEXT, { type: 'array', items: TEXT }], description: 'A list where a body was checked' },
    error: { type: 'string', description: 'The name of the status' },
    runId: { type: 'string', description: 'The run that is in the way' },
    kind: TEXT,
    claims: { type: 'array', items: TEXT, description: 'With 402: claims to settle' },
    outstandingClaims: { type: 'array', items: TEXT, description: 'The same' },
  },
  ['error', 'runId', 'kind', 'claims', 'outstandingClaims'],
);

export const CHAT_SESSION = record(
  'A session',
  {
    sessionId: TEXT,
    title: { type: 'string', description: 'Missing until there are two messages' },
    createdAt: TIME,
    lastUpdatedAt: TIME,
    oracleName: TEXT,
    oracleDid: TEXT,
    oracleEntityDid: TEXT,
  },
  ['title'],
);

export const SESSION_LIST = record('Sessions, the ones used last first', {
  sessions: { type: 'array', items: CHAT_SESSION },
  total: { type: 'integer', minimum: 0 },
});

const TOOL_CALL = record(
  'A tool that was called',
  { name: TEXT, id: TEXT, args: OPEN, status: { enum: ['isRunning', 'done'] }, output: TEXT },
  ['status', 'output'],
);

export const CHAT_MESSAGE = record(
  'A message of a transcript',
  {
    id: TEXT,
    type: { enum: ['ai', 'human'] },
    content: TEXT,
    toolCalls: { type: 'array', items: TOOL_CALL },
    reasoning: TEXT,
    isComplete: { const: true },
    isReasoning: { const: false },
    attachment: OPEN,
    attachments: { type: 'array', items: OPEN },
  },
  ['toolCalls', 'reasoning', 'attachment', 'attachments'],
);
const MESSAGES: Schema = { type: 'array', items: CHAT_MESSAGE };

export const TRANSCRIPT = record('The messages of a session', { messages: MESSAGES });

const CURSOR: Schema = { type: ['string', 'null'] };
export const MESSAGE_PAGE = record('A page of a transcript, the oldest message first', {
  messages: MESSAGES,
  prevCursor: { ...(CURSOR as object), description: 'For `before`: what is older' },
  nextCursor: { ...(CURSOR as object), description: 'For `after`: what is newer' },
  hasOlder: FLAG,
  hasNewer: FLAG,
});

export const REPLY = record(
  'The reply',
  {
    message: record('What the agent said', { type: { const: 'ai' }, content: TEXT, id: TEXT }),
    sessionId: TEXT,
    messages: { ...(MESSAGES as object), description: 'The whole transcript, when it was asked for' },
  },
  ['messages'],
);

const RUN = record('A run', {
  runId: TEXT,
  requestId: TEXT,
  sessionId: TEXT,
  status: { type: 'string', examples: ['queued', 'running', 'recovering', 'completed'] },
});
export const OPEN_RUN = record('The run that has not ended', { run: { oneOf: [RUN, { type: 'null' }] } });

const TOOL: { readonly [name: string]: Schema } = {
  name: { type: 'string', minLength: 1, maxLength: 128 },
  description: { type: 'string', maxLength: 4_096 },
  schema: { ...OPEN, description: 'Of the arguments; handed on' },
};
const closed = (properties: { readonly [name: string]: Schema }, required: readonly string[]): Schema => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
});
const TOOLS = ['name', 'description', 'schema'];
const ATTACHMENT = closed(
  { mxcUri: TEXT, eventId: TEXT, filename: FILLED, mimetype: FILLED, size: { type: 'number', minimum: 0 } },
  ['filename', 'mimetype'],
);

export const NEW_MESSAGE = closed(
  {
    message: FILLED,
    stream: { type: 'boolean', default: false, description: 'Answer with frames as they come' },
    returnAllMessages: { type: 'boolean', default: false },
    tools: { type: 'array', items: closed(TOOL, TOOLS), maxItems: SERVER_LIMITS.declaredTools },
    agActions: {
      type: 'array',
      items: closed({ ...TOOL, hasRender: FLAG }, TOOLS),
      maxItems: SERVER_LIMITS.declaredTools,
    },
    attachments: { type: 'array', items: ATTACHMENT, maxItems: 10 },
    mcpInvocations: { type: 'object', additionalProperties: TEXT },
    timezone: { type: 'string', maxLength: 64, examples: ['Africa/Lusaka'] },
    homeServer: { type: 'string', maxLength: 512 },
    metadata: {
      type: 'object',
      properties: {
        multitask: {
          enum: ['reject', 'enqueue', 'interrupt'],
          description: 'While another run of the session is live',
        },
      },
      additionalProperties: true,
    },
    model: { type: 'string', maxLength: 256 },
  },
  ['message'],
);

export const ABORT = closed({ sessionId: FILLED, runId: FILLED }, ['sessionId']);

export const NEW_DELEGATION = closed(
  { raw: { ...FILLED, description: 'The token' }, issuer: TEXT, audience: TEXT, expiration: { type: 'number' } },
  ['raw'],
);

const SECONDS: Schema = { type: 'integer', description: 'Seconds since 1970' };
export const DELEGATED = record('The delegation is kept', { ok: { const: true }, expiration: SECONDS });
export const DELEGATION_STATUS = record('Whether one is kept', { authorized: FLAG, expiration: SECONDS }, [
  'expiration',
]);

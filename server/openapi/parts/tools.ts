// The pages of operators and what they ask for, as OpenAPI describes them.

import type { Schema } from '../../../lib/domain/schema/parts.ts';
import { record } from '../../../lib/domain/schema/twin-answers.ts';
import { SHARED_LIMITS } from '../../../lib/shared-limits.ts';
import { PLAIN_TYPE } from '../../../lib/ussd/reply.ts';
import { SERVER_LIMITS } from '../../config/limits.ts';
import { PLAIN_ANSWERS, REFUSED, UNKNOWN } from '../../http/common-answers.ts';
import type { Answered, RequestContent, RouteGroup } from '../../http/route-table.ts';
import { CON_END, PLAIN_BODY } from './ussd.ts';

const TEXT: Schema = { type: 'string' };
const json = (schema: Schema) => ({ 'application/json': schema });
const asked = (schema: Schema): RequestContent => ({ types: json(schema) });
const refused = (description: string): Answered => ({ description, types: json(REFUSED) });
const PAGE: Answered = { description: 'The page', types: { 'text/html': TEXT } };
const FOREIGN = refused('The page of another site asks, or the body is wrong');
const BODY = { 400: FOREIGN, 413: refused('The body is too large'), 415: refused('The body is no JSON') };

const STANDING = record('As much as hides what is typed', {
  screen: { type: 'string', description: 'Path of the screen' },
  secret: { type: 'boolean', description: 'The answer is a secret' },
  keys: { type: 'array', items: TEXT, description: 'Answers that lead back, home, on or out' },
});

const DIALOGUE: Schema = {
  type: 'object',
  required: ['sessionId', 'phoneNumber', 'inputs'],
  properties: {
    sessionId: TEXT,
    phoneNumber: { type: 'string', description: 'E.164 with +' },
    inputs: {
      type: 'array',
      minItems: 1,
      maxItems: SERVER_LIMITS.simulatedInputs,
      items: { type: 'string', maxLength: SHARED_LIMITS.ussdTextChars },
      description: 'What was typed, without its secrets; the first is empty and dials',
    },
  },
};

export const TOOLS_PART: RouteGroup = {
  tag: 'Pages of operators',
  description:
    'Phones and chats in a browser, for operators. With OPERATOR_TOKEN set, a browser shows it once and stays signed in.',
  access: 'operator',
  parameters: { sessionId: { description: 'The id of the session of a simulated phone', schema: TEXT } },
  answers: {
    ...PLAIN_ANSWERS,
    401: {
      description: 'Nobody is signed in; a browser gets a page to sign in on',
      types: { ...json(REFUSED), 'text/html': TEXT },
      headers: { 'WWW-Authenticate': 'How to come in' },
    },
    404: UNKNOWN,
  },
  routes: [
    { method: 'GET', path: '/simulator', id: 'getSimulator', summary: 'Phones that dial', answers: { 200: PAGE } },
    {
      method: 'POST',
      path: '/simulator/dial',
      id: 'dialSimulated',
      summary: 'What a telecom gateway asks, for the phones of operators',
      description: 'As POST /api/ussd, whatever USSD_GATEWAYS lists. Only the page of phones may ask.',
      body: asked(PLAIN_BODY),
      answers: { 200: { description: 'A screen', types: { [PLAIN_TYPE]: CON_END } }, ...BODY },
    },
    {
      method: 'GET',
      path: '/simulator/sessions/:sessionId',
      id: 'getSimulatedSession',
      summary: 'Whether a simulated phone is asked for a secret',
      answers: { 200: { description: 'Where it stands', types: json(STANDING) } },
    },
    {
      method: 'POST',
      path: '/simulator/flow-test',
      id: 'saveFlowTest',
      summary: 'A dialogue as a file of flow tests',
      description: 'Only the page of phones may ask. What services answered to it stands in the test.',
      body: asked(DIALOGUE),
      answers: {
        200: { description: 'The file', types: json(record('A file', { name: TEXT, text: TEXT })) },
        ...BODY,
      },
    },
    { method: 'GET', path: '/chat', id: 'getChat', summary: 'Chats with the agent', answers: { 200: PAGE } },
    {
      method: 'POST',
      path: '/chat/token',
      id: 'makeChatToken',
      summary: 'An invocation of the agent service for this browser',
      description:
        'Only the page of chats may ask. A cookie that no script reads makes the browser the same user again.',
      body: asked({ type: 'object' }),
      answers: {
        200: {
          description: 'The token',
          types: json(
            record('A token', { token: TEXT, did: TEXT, expiresIn: { type: 'integer', description: 'Seconds' } }),
          ),
          headers: { 'Set-Cookie': 'Who the browser is' },
        },
        ...BODY,
      },
    },
    {
      method: 'POST',
      path: '/operator/sign-in',
      id: 'signIn',
      summary: 'Sign a browser in with the OPERATOR_TOKEN',
      body: asked({ type: 'object', required: ['token'], properties: { token: TEXT } }),
      answers: {
        204: { description: 'Signed in', headers: { 'Set-Cookie': 'Who is signed in, until when' } },
        ...BODY,
      },
    },
  ],
};

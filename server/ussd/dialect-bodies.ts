// OpenAPI descriptions of each dialect route: its fields, its screens, and an example.

import { COMMON_LIMITS } from '../../lib/common-limits.ts';
import { record, type Schema } from '../../lib/json/schema.ts';
import type { AdapterRoute, RouteWords } from '../../lib/ussd/adapter.ts';
import { USSD_LIMITS } from '../../lib/ussd/limits.ts';
import { PLAIN_TYPE } from '../../lib/ussd/reply.ts';
import { type Parameter, pathNames, type RequestContent, type RouteAnswer } from '../http/route-table.ts';

const TEXT: Schema = { type: 'string' };
const TYPED: Schema = { type: 'string', maxLength: COMMON_LIMITS.ussdTextChars };
export const SESSION: Schema = {
  type: 'string',
  minLength: 1,
  maxLength: USSD_LIMITS.ussdSessionIdChars,
  examples: ['example-1'],
};
const MSISDN: Schema = { type: 'string', pattern: '^\\+?[1-9]\\d{6,14}$', examples: ['260971230001'] };

/** A screen of the plain endpoint. */
export const CON_END: Schema = {
  type: 'string',
  pattern: '^(CON|END) ',
  description: 'CON while the session continues, else END; then the screen',
  examples: ['CON 1. Information\n2. Products\n*. Exit'],
};

const PLAIN_DIAL = { sessionId: 'example-1', serviceCode: '*2233#', phoneNumber: '+260971230001', text: '' };

/** The fields of the plain endpoint. */
export const PLAIN_BODY: Schema = {
  type: 'object',
  required: ['sessionId', 'serviceCode', 'phoneNumber', 'text'],
  properties: {
    sessionId: SESSION,
    serviceCode: { type: 'string', pattern: '^\\*\\d+(?:\\*\\d+)*#$', examples: ['*2233#'] },
    phoneNumber: { type: 'string', pattern: '^\\+[1-9]\\d{6,14}$', examples: ['+260971230001'] },
    text: { ...(TYPED as object), description: 'Empty for a dial; then all inputs so far, joined by `*`' },
  },
  additionalProperties: true,
  examples: [PLAIN_DIAL],
};

interface BodyFields {
  readonly properties: { readonly [name: string]: Schema };
  readonly optional?: readonly string[];
  /** The request prefilled in /docs: a first dial, unless the route expects something else. */
  readonly example: { readonly [name: string]: unknown };
}

/** A JSON or form body with these fields; others are allowed. */
function describeBody({ properties, optional = [], example }: BodyFields): RequestContent {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return bodyIn({ type: 'object', required, properties, additionalProperties: true }, example);
}

function bodyIn(schema: Schema, example: object | undefined): RequestContent {
  const types = { 'application/json': schema, 'application/x-www-form-urlencoded': schema };
  return example === undefined ? { types } : { types, example };
}

export const screen = (types: { readonly [mediaType: string]: Schema }): RouteAnswer => ({
  description: 'A screen; also for invalid requests and server errors, since gateways do not display errors',
  types,
});
export const ANSWERED = { [PLAIN_TYPE]: CON_END };
const describeAnswer = (properties: { readonly [name: string]: Schema }) => ({
  'application/json': record('A screen', properties),
});

/** Description of a dialect route; the adapter defines its method and path. */
export interface DialectRoute {
  readonly id: string;
  readonly summary: string;
  readonly parameters?: { readonly [name: string]: Parameter };
  readonly query?: { readonly [name: string]: Parameter };
  readonly body?: RequestContent;
  readonly types: { readonly [mediaType: string]: Schema };
}

const GHANA = '233241234567';

const NALO_ECHO = { USERID: TEXT, MSISDN: TEXT };
const ARKESEL_ECHO = { sessionID: TEXT, userID: TEXT, msisdn: TEXT };
const NOTED = { 'application/json': record('Noted', { responseExitCode: { const: 200 }, responseMessage: TEXT }) };
const INFOBIP = describeAnswer({
  ussdMenu: TEXT,
  shouldClose: { type: 'boolean' },
  responseExitCode: { const: 200 },
  responseMessage: TEXT,
});
const INFOBIP_STATUS: Schema = {
  anyOf: [
    record('The session state', {
      sessionActive: { type: 'boolean' },
      responseExitCode: { const: 200 },
      responseMessage: TEXT,
    }),
    INFOBIP['application/json']!,
  ],
};
const INFOBIP_END = {
  types: { 'application/json': { type: 'object' } as const },
  required: false,
  example: { exitCode: 200, reason: '' },
};
// The answer for a session that cannot be ended is that of a continuing session.
const INFOBIP_NOTED: Schema = { anyOf: [NOTED['application/json'], INFOBIP['application/json']!] };

/** By method and path below /api/ussd. */
export const DIALECT_ROUTES: { readonly [route: string]: DialectRoute } = {
  'POST ': { id: 'dial', summary: 'The plain endpoint', body: bodyIn(PLAIN_BODY, PLAIN_DIAL), types: ANSWERED },
  'POST /africastalking': {
    id: 'dialAfricasTalking',
    summary: "Africa's Talking",
    body: bodyIn(PLAIN_BODY, PLAIN_DIAL),
    types: ANSWERED,
  },
  'POST /hubtel': {
    id: 'dialHubtel',
    summary: 'Hubtel',
    body: describeBody({
      properties: {
        SessionId: SESSION,
        Type: { enum: ['Initiation', 'Response', 'Timeout', 'Release'] },
        Mobile: MSISDN,
        ServiceCode: TEXT,
        Message: TYPED,
        Sequence: { type: ['integer', 'string'] },
        Operator: TEXT,
        Platform: TEXT,
      },
      optional: ['Sequence', 'Operator', 'Platform', 'Message'],
      example: {
        SessionId: 'example-1',
        Type: 'Initiation',
        Mobile: GHANA,
        ServiceCode: '713',
        Message: '*713#',
        Sequence: 1,
        Operator: 'mtn',
      },
    }),
    types: describeAnswer({
      SessionId: TEXT,
      Type: { enum: ['Response', 'Release'] },
      Message: TEXT,
      Label: TEXT,
      ClientState: TEXT,
      DataType: { enum: ['input', 'display'] },
      FieldType: { const: 'text' },
    }),
  },
  'POST /nalo': {
    id: 'dialNalo',
    summary: 'Nalo Solutions',
    body: describeBody({
      properties: {
        ...NALO_ECHO,
        SESSIONID: SESSION,
        MSISDN,
        MSGTYPE: { type: ['boolean', 'string'] },
        USERDATA: TYPED,
        NETWORK: TEXT,
      },
      optional: ['NETWORK', 'USERID', 'SESSIONID', 'MSGTYPE'],
      example: {
        USERID: 'example',
        SESSIONID: 'example-1',
        MSISDN: GHANA,
        MSGTYPE: true,
        USERDATA: '*920*1#',
        NETWORK: 'MTN',
      },
    }),
    types: describeAnswer({
      ...NALO_ECHO,
      MSG: TEXT,
      MSGTYPE: { type: 'boolean', description: 'Whether the session continues' },
    }),
  },
  'POST /arkesel': {
    id: 'dialArkesel',
    summary: 'Arkesel',
    body: describeBody({
      properties: {
        ...ARKESEL_ECHO,
        sessionID: SESSION,
        msisdn: MSISDN,
        newSession: { type: ['boolean', 'string'] },
        userData: TYPED,
        network: TEXT,
      },
      optional: ['network', 'userID'],
      example: {
        sessionID: 'example-1',
        userID: 'example',
        newSession: true,
        msisdn: GHANA,
        userData: '*928*01#',
        network: 'MTN',
      },
    }),
    types: describeAnswer({ ...ARKESEL_ECHO, message: TEXT, continueSession: { type: 'boolean' } }),
  },
  'POST /infobip/session/:id/start': {
    id: 'startInfobip',
    summary: 'Infobip: start of a session',
    body: describeBody({
      properties: { msisdn: MSISDN, shortCode: TEXT, text: TYPED, ussdGwId: TEXT, imsi: TEXT },
      optional: ['shortCode', 'text', 'ussdGwId', 'imsi'],
      example: { msisdn: '38595123456', shortCode: '*1#', text: '' },
    }),
    types: INFOBIP,
  },
  'POST /infobip/session/:id/response': {
    id: 'answerInfobip',
    summary: 'Infobip: user input',
    body: describeBody({
      properties: { msisdn: MSISDN, text: TYPED, ussdGwId: TEXT, imsi: TEXT },
      optional: ['ussdGwId', 'imsi'],
      example: { msisdn: '38595123456', text: '1' },
    }),
    types: INFOBIP,
  },
  'GET /infobip/session/:id/status': {
    id: 'statusInfobip',
    summary: 'Infobip: session status',
    types: { 'application/json': INFOBIP_STATUS },
  },
  'PUT /infobip/session/:id/end': {
    id: 'endInfobip',
    summary: 'Infobip: end of a session',
    body: INFOBIP_END,
    types: { 'application/json': INFOBIP_NOTED },
  },
  'POST /infobip/session/:id/end': {
    id: 'endInfobipByPost',
    summary: 'Infobip: end of a session',
    body: INFOBIP_END,
    types: { 'application/json': INFOBIP_NOTED },
  },
  'GET /comviva': {
    id: 'dialComviva',
    summary: 'Comviva Flares',
    query: {
      MSISDN: { description: 'The caller; the clean-up call sends it as `msisdn`', schema: MSISDN },
      input: { description: 'The input', schema: { ...(TYPED as object), examples: ['121'] } },
      SessionID: { description: 'Default: the phone number', schema: SESSION },
      clean: { description: 'Any value: ends the session', schema: TEXT },
    },
    types: {
      [PLAIN_TYPE]: {
        type: 'string',
        description: 'The screen; the header Freeflow says whether the session continues',
      },
    },
  },
};

/** Describes a route of a custom adapter, with defaults for what it leaves out. */
export function describeOwnRoute(name: string, { method, path, about = {} }: AdapterRoute): DialectRoute {
  const { summary = name, query, body = ANY_BODY, answers = ANSWERED } = about;
  const { schema, example } = body;
  return {
    id: ['dial', name, method, path].join(' ').replace(/\W+(\w)/g, (_, letter: string) => letter.toUpperCase()),
    summary,
    parameters: Object.fromEntries(pathNames(path).map((part) => [part, { description: part, schema: SESSION }])),
    ...(query && { query }),
    ...(method !== 'GET' && { body: bodyIn(schema, example) }),
    types: answers,
  };
}

const ANY_BODY: NonNullable<RouteWords['body']> = { schema: { type: 'object', additionalProperties: true } };

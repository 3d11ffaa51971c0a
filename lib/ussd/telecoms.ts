// How the gateways of the shipped dialects send requests, and how they read responses.

import type { RawReply, UssdReply } from './adapter.ts';
import type { AdapterName } from './adapters.ts';

/** A recorded request; the path is relative to the adapter's base and includes its leading slash. */
export interface RecordedRequest {
  readonly method: string;
  readonly path: string;
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** One step of a caller. */
export interface TelecomStep {
  /** `dial` starts the session, `type` answers, `end` hangs up. */
  readonly kind: 'dial' | 'type' | 'end';
  readonly sessionId: string;
  /** E.164 with `+`. */
  readonly phoneNumber: string;
  /** `*digits#` */
  readonly serviceCode: string;
  /** The input of this step; '' for `dial` and `end`. */
  readonly text: string;
  /** All input of this session so far, joined by `*`. */
  readonly history: string;
  /** 1 for the dial, incremented with each step; a retry repeats its number. */
  readonly number: number;
}

/** The telecom's side of a dialect. */
export interface TelecomDialect {
  /** The adapter's name: its routes are below `/api/ussd/<name>`. */
  readonly name: string;
  /** The request for a step; undefined when the dialect has none. The path is relative to the adapter's base. */
  ask(step: TelecomStep): RecordedRequest | undefined;
  /** The screen in a response. */
  read(answer: RawReply): UssdReply;
}

const post = (body: object, path = ''): RecordedRequest => ({
  method: 'POST',
  path,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
});

function fields({ body }: RawReply): Record<string, unknown> {
  return JSON.parse(body) as Record<string, unknown>;
}

const screen = (goesOn: boolean, text: unknown): UssdReply => ({
  kind: goesOn ? 'continue' : 'end',
  text: String(text),
});
/** Without its plus sign. */
const msisdn = ({ phoneNumber }: TelecomStep) => phoneNumber.slice(1);
/** The dialled code, or the input. */
const userInput = ({ kind, serviceCode, text }: TelecomStep) => (kind === 'dial' ? serviceCode : text);

const HUBTEL_TYPES = { dial: 'Initiation', type: 'Response', end: 'Release' } as const;

/** The six shipped dialects. */
export const TELECOM_DIALECTS: { readonly [name in AdapterName]: TelecomDialect } = {
  africastalking: {
    name: 'africastalking',
    ask: ({ kind, sessionId, serviceCode, phoneNumber, history }) => {
      const common = { sessionId, serviceCode, phoneNumber };
      const body =
        kind === 'end' ? { ...common, status: 'Success', durationInMillis: '1' } : { ...common, text: history };
      const headers = { 'content-type': 'application/x-www-form-urlencoded' };
      return { method: 'POST', path: '', headers, body: new URLSearchParams(body).toString() };
    },
    read: ({ body }) => screen(body.startsWith('CON '), body.replace(/^(CON|END) /, '')),
  },
  hubtel: {
    name: 'hubtel',
    ask: (step) =>
      post({
        SessionId: step.sessionId,
        Type: HUBTEL_TYPES[step.kind],
        Mobile: msisdn(step),
        ServiceCode: step.serviceCode.replace(/[*#]/g, ' ').trim().split(' ')[0],
        Message: userInput(step),
        Sequence: step.number,
        Operator: 'mtn',
        Platform: 'USSD',
      }),
    read: (answer) => {
      const { Type, Message } = fields(answer);
      return screen(Type === 'Response', Message);
    },
  },
  nalo: {
    name: 'nalo',
    ask: (step) =>
      step.kind === 'end'
        ? undefined
        : post({
            USERID: 'testing',
            MSISDN: msisdn(step),
            USERDATA: userInput(step),
            MSGTYPE: step.kind === 'dial',
            NETWORK: 'MTN',
            SESSIONID: step.sessionId,
          }),
    read: (answer) => {
      const { MSGTYPE, MSG } = fields(answer);
      return screen(MSGTYPE === true, MSG);
    },
  },
  arkesel: {
    name: 'arkesel',
    ask: (step) =>
      step.kind === 'end'
        ? undefined
        : post({
            sessionID: step.sessionId,
            userID: 'testing',
            newSession: step.kind === 'dial',
            msisdn: msisdn(step),
            userData: userInput(step),
            network: 'MTN',
          }),
    read: (answer) => {
      const { continueSession, message } = fields(answer);
      return screen(continueSession === true, message);
    },
  },
  infobip: {
    name: 'infobip',
    ask: (step) => {
      const base = `/session/${encodeURIComponent(step.sessionId)}`;
      if (step.kind === 'end') return { ...post({ exitCode: 200, reason: '' }, `${base}/end`), method: 'PUT' };
      const first = step.kind === 'dial';
      const body = { msisdn: msisdn(step), text: step.text, ...(first && { shortCode: step.serviceCode }) };
      return post(body, `${base}/${first ? 'start' : 'response'}`);
    },
    read: (answer) => {
      const { shouldClose, ussdMenu } = fields(answer);
      return screen(shouldClose === false, ussdMenu ?? '');
    },
  },
  comviva: {
    name: 'comviva',
    ask: (step) => {
      const { sessionId } = step;
      const input = step.kind === 'end' ? { clean: '1' } : { input: userInput(step).replace(/^\*|#$/g, '') };
      const query = { MSISDN: msisdn(step), SessionID: sessionId, ...input };
      return { method: 'GET', path: '', query: new URLSearchParams(query).toString() };
    },
    read: ({ body, headers }) => screen((headers?.Freeflow ?? headers?.freeflow) === 'FC', body),
  },
};

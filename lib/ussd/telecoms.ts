// How the gateways of the shipped dialects ask, and how they read what is answered.

import type { RawReply, UssdReply } from './adapter.ts';
import type { AdapterName } from './adapters.ts';

/** A request as it was recorded; the path is relative to the adapter's base, with its slash. */
export interface RecordedRequest {
  readonly method: string;
  readonly path: string;
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** One step of a caller, as a dialect has to put it. */
export interface TelecomStep {
  /** `dial` begins the session, `type` is an answer, `end` hangs up. */
  readonly kind: 'dial' | 'type' | 'end';
  readonly sessionId: string;
  /** E.164 with `+`. */
  readonly phoneNumber: string;
  /** `*digits#` */
  readonly serviceCode: string;
  /** What is typed now; '' for the others. */
  readonly text: string;
  /** All that was typed in this session, joined by `*`. */
  readonly history: string;
  /** 1 for the dial, then +1 with each step; a retry has the number of what it repeats. */
  readonly number: number;
}

/** A telecom's side of a dialect. */
export interface TelecomDialect {
  /** Of the adapter: its routes are below `/api/ussd/<name>`. */
  readonly name: string;
  /** The request of a step; undefined where the dialect has none for it. The path is relative to the adapter's. */
  ask(step: TelecomStep): RecordedRequest | undefined;
  /** The screen in an answer. */
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
/** Dialled, or typed. */
const typed = ({ kind, serviceCode, text }: TelecomStep) => (kind === 'dial' ? serviceCode : text);

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
        Message: typed(step),
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
            USERDATA: typed(step),
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
            userData: typed(step),
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
      const said = step.kind === 'end' ? { clean: '1' } : { input: typed(step).replace(/^\*|#$/g, '') };
      const query = { MSISDN: msisdn(step), SessionID: sessionId, ...said };
      return { method: 'GET', path: '', query: new URLSearchParams(query).toString() };
    },
    read: ({ body, headers }) => screen((headers?.Freeflow ?? headers?.freeflow) === 'FC', body),
  },
};

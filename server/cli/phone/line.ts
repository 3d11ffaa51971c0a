// The connection of a phone in the terminal: to a server, or to an engine in this process. Can record the dialogue for `twinline replay`.

import { randomUUID } from 'node:crypto';
import { closeSync, openSync, writeSync } from 'node:fs';
import { failureCode } from '../../../lib/engine/calls.ts';
import type { InspectionEvent, Inspector } from '../../../lib/engine/conversation.ts';
import { toStateValue } from '../../../lib/engine/machine/state-path.ts';
import type { Services } from '../../../lib/engine/service.ts';
import { LaterAnswer } from '../../../lib/engine/service.ts';
import { seedSession } from '../../../lib/engine/sessions.ts';
import { TwinlineError } from '../../../lib/errors.ts';
import type { CompiledFlow } from '../../../lib/flow/run/compile.ts';
import { asksForSecret, keepsSecret } from '../../../lib/flow/run/scope.ts';
import { hidePrivateMemory, listPrivateServices, type Masks, masks } from '../../../lib/flow/testing/mask.ts';
import type { RecordedCall, RecordedTurn } from '../../../lib/flow/testing/replay.ts';
import type { JsonObject } from '../../../lib/json/json.ts';
import type { UssdReply } from '../../../lib/ussd/adapter.ts';
import { ussdKey } from '../../../lib/ussd/keys.ts';
import type { UssdRequest } from '../../../lib/ussd/request.ts';
import type { Host } from '../../boot/host.ts';
import { readErrorCode } from '../remote.ts';

export interface Phone {
  /** E.164 with `+`. */
  readonly phoneNumber: string;
  readonly serviceCode: string;
}

export interface PhoneScreen extends UssdReply {
  /** Whether the answer to this screen is a secret. */
  readonly secret: boolean;
}

/** One session. */
export interface PhoneCall {
  readonly sessionId: string;
  /** Types an answer; '' first, to dial. */
  type(answer: string): Promise<PhoneScreen>;
  /** Repeats the last request byte by byte, like a telecom gateway that got no response. */
  again(): Promise<PhoneScreen>;
  /** Ends the session as the telecom gateway; false if the dialect has no such message. */
  hangUp(): Promise<boolean>;
}

/** Starts a new session. */
export type PhoneLine = () => PhoneCall;

/** A phone whose telecom gateway posts to the server at `url`, such as http://127.0.0.1:3000. Rejects with a readable ERR_SERVICE. */
export function lineTo(url: string, phone: Phone): PhoneLine {
  const endpoint = `${url}/api/ussd`;
  return () => {
    const sessionId = `chat-${randomUUID()}`;
    let text: string | undefined;
    const again = async (): Promise<PhoneScreen> => {
      const reply = await post(endpoint, { sessionId, ...phone, text: text ?? '' });
      // A client can only guess whether the server asks for a secret.
      return { ...reply, secret: /\b(pin|password|passcode)\b/i.test(reply.text) };
    };
    return {
      sessionId,
      type: (answer) => {
        text = text ? `${text}*${answer}` : answer;
        return again();
      },
      again,
      // The generic endpoint has no such message: sessions expire.
      hangUp: async () => false,
    };
  };
}

async function post(endpoint: string, fields: object): Promise<UssdReply> {
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(endpoint, { method: 'POST', headers, body: JSON.stringify(fields) }).catch((error) => {
    const why = (error as { cause?: { code?: string } }).cause?.code ?? (error as Error).message;
    throw new TwinlineError('ERR_SERVICE', `Cannot reach ${endpoint} (${why}). Is the server running?`);
  });
  const recorded = await answer.text();
  if (answer.status === 403)
    throw new TwinlineError(
      'ERR_SERVICE',
      `${endpoint} takes requests of telecom gateways only. Add the address of this machine to its USSD_GATEWAYS.`,
    );
  const [, word, text = ''] = /^(CON|END) ?(.*)$/s.exec(recorded) ?? [];
  if (word === undefined) {
    const what = `${endpoint} answered ${answer.status}, and neither CON nor END.`;
    throw new TwinlineError('ERR_SERVICE', `${what} Is this the address of a USSD server?`);
  }
  return { kind: word === 'CON' ? 'continue' : 'end', text };
}

export interface InsideLine extends Phone {
  readonly flow: string;
  /** The screen to start on, with the flow's variables there. @default the start of the flow */
  readonly from?: { readonly screen: string; readonly context: JsonObject } | undefined;
}

const DIALECT = 'africastalking';

/** A phone on an engine in this process. It sends answers one at a time, so sessions have no length limit. */
export function lineInside({ engine, ussd, menus }: Host, { flow, from, ...phone }: InsideLine): PhoneLine {
  const compiled = menus.compiled.get(flow);
  // A custom machine declares that it has secrets, but not which input is one.
  const mayAskForSecrets = !compiled && engine.library.current(flow)?.secretsIn !== undefined;
  const isSecret = (path: string | undefined) =>
    path !== undefined && (compiled ? asksForSecret(compiled.screens.get(path)) : mayAskForSecrets);
  const place = async (sessionId: string, { screen, context }: NonNullable<InsideLine['from']>): Promise<void> => {
    const values = { sessionId, ...phone, msisdn: phone.phoneNumber };
    const vars = compiled?.flow.vars ?? {};
    const own = Object.entries(values).filter(([name]) => Object.hasOwn(vars, name));
    await seedSession(engine, ussdKey(DIALECT, sessionId), {
      conversation: flow,
      state: compiled ? screen : toStateValue(screen),
      context: { $stack: [], $page: 0, $bad: 0, ...Object.fromEntries(own), ...context },
      door: { sessionId, ...phone, marks: '' },
    });
  };
  return () => {
    const sessionId = `chat-${randomUUID()}`;
    let turn = 0;
    let last: UssdRequest | undefined;
    const again = async (): Promise<PhoneScreen> => {
      const reply = await ussd.turn(last!, DIALECT);
      return { ...reply, secret: isSecret((await ussd.inspect(sessionId))?.state) };
    };
    return {
      sessionId,
      type: async (text) => {
        const isDial = turn === 0;
        const fresh = isDial && from === undefined;
        last = { sessionId, ...phone, text, event: 'turn', mode: 'latest', fresh, turnId: `${turn++}` };
        if (isDial && from) await place(sessionId, from);
        return again();
      },
      again,
      hangUp: async () => {
        await ussd.turn({ sessionId, ...phone, text: '', event: 'end', mode: 'latest' }, DIALECT);
        return true;
      },
    };
  };
}

export interface Recorder {
  /** Records results of services. */
  readonly services: (services: Services) => Services;
  /** Records screens, with private values masked. */
  readonly inspector: Inspector;
  /** The same connection, recording the dialogue. */
  line(line: PhoneLine, on: RecordedLine): PhoneLine;
  close(): void;
}

interface RecordedLine {
  readonly host: Host;
  readonly phone: Phone;
  readonly flow: string;
}

/** Appends to a file. Throws ERR_INPUT if it cannot be written. */
export function recorder(file: string): Recorder {
  const handle = openForAppend(file);
  let calls: RecordedCall[] = [];
  let reply: string | undefined;
  const emit = ({ turn }: InspectionEvent) => {
    reply = turn?.reply;
  };
  return {
    inspector: { isWatched: () => true, emit },
    services: (services) => noteAnswers(services, (call) => calls.push(call)),
    line: (line, { host, phone, flow }) => {
      const compiled = host.menus.compiled.get(flow)!;
      const secret = secretServices(compiled);
      const privates = listPrivateServices(compiled);
      const record = (one: RecordedCall): RecordedCall => {
        if (!('return' in one)) return one;
        return secret.has(one.service)
          ? { ...one, return: null }
          : { ...one, return: privates.get(one.service)?.(one.return ?? null) ?? one.return ?? null };
      };
      return () => {
        const session = randomUUID();
        const numbers: Masks = masks();
        const call = line();
        let turn = 0;
        let state: string | undefined;
        const type: PhoneCall['type'] = async (answer) => {
          const typed = numbers.mask(answer, state === undefined ? undefined : compiled.screens.get(state));
          reply = undefined;
          const { phoneNumber } = phone;
          const { values } = await host.memory.recall({ phoneNumber, conversation: flow });
          const at = host.engine.clock.now();
          const shown = await call.type(answer);
          // What is called after the last words belongs to them.
          if (shown.kind === 'end') await host.engine.idle();
          state = (await host.ussd.inspect(call.sessionId))?.state;
          const first = turn++ === 0;
          const recorded: RecordedTurn = {
            ...{ session, turn, flow, version: compiled.version, at },
            ...(first && { phone: phoneNumber, memory: hidePrivateMemory(compiled, values) }),
            ...{ in: typed, text: reply ?? shown.text, end: shown.kind === 'end' },
            ...(state !== undefined && { state }),
            calls: calls.map(record),
          };
          calls = [];
          writeSync(handle, `${JSON.stringify(recorded)}\n`);
          return shown;
        };
        return { ...call, type };
      };
    },
    close: () => closeSync(handle),
  };
}

function openForAppend(file: string): number {
  try {
    return openSync(file, 'a', 0o600);
  } catch (cause) {
    const words = `Cannot write ${file} (${readErrorCode(cause)}). Give another file.`;
    throw new TwinlineError('ERR_INPUT', words, { cause });
  }
}

function noteAnswers(services: Services, note: (call: RecordedCall) => void): Services {
  const entries = Object.entries(services).map(([service, serve]): [string, Services[string]] => [
    service,
    async (input, call) => {
      try {
        const answer = await serve(input, call);
        if (!(answer instanceof LaterAnswer)) note({ service, return: answer });
        return answer;
      } catch (error) {
        note({ service, fail: failureCode(error) });
        throw error;
      }
    },
  ]);
  return Object.fromEntries(entries);
}

// Services whose results are saved as secrets: recordings omit their results.
function secretServices({ screens }: CompiledFlow): Set<string> {
  const services = [...screens.values()].flatMap((node) =>
    node.screen.type === 'call' && keepsSecret(node) ? [node.screen.service] : [],
  );
  return new Set(services);
}

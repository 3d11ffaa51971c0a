// A telecom's gateway for tests: callers who dial a server over HTTP, type, retry and hang up, in any dialect.

import { randomUUID } from 'node:crypto';
import { TwinlineError } from '../errors.ts';
import { requireGiven } from '../given.ts';
import type { UssdReply } from '../ussd/adapter.ts';
import type { AdapterName } from '../ussd/adapters.ts';
import { TELECOM_DIALECTS, type TelecomDialect, type TelecomStep } from '../ussd/telecoms.ts';

/** Which server is dialled. */
export interface TelecomOptions {
  /** Of the server, such as `http://127.0.0.1:3000`. */
  readonly url: string;
  /** Sent with every request, such as `{ authorization: 'Bearer <the secret of USSD_GATEWAYS>' }`. @default none */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Who calls, and what is dialled. */
export interface CallerOptions {
  /** E.164 with `+`. @default '+233241234567' */
  readonly phoneNumber?: string;
  /** `*digits#`. @default '*713#' */
  readonly serviceCode?: string;
  /** @default a new one */
  readonly sessionId?: string;
}

/** A phone in one session. */
export interface TelecomCaller {
  /** Begins the session; its first screen. */
  dial(): Promise<UssdReply>;
  /** Types an answer; the next screen. */
  type(text: string): Promise<UssdReply>;
  /** Sends the last request once more, as gateways do that have had no answer in time. */
  retry(): Promise<UssdReply>;
  /** Tells the server that the caller has gone; nothing where the dialect has no word for it. */
  hangUp(): Promise<void>;
}

/** A gateway whose callers dial a server. */
export interface TelecomGateway {
  caller(options?: CallerOptions): TelecomCaller;
}

/**
 * A gateway that speaks a shipped dialect, by its name, or one of yours. Calls reject with ERR_SERVICE when no screen is answered.
 * @example
 * const server = await startServer(requireConfig({ PORT: '0', DATA_DIR: ':memory:', LOG_LEVEL: 'silent' }));
 * const caller = telecomGateway('hubtel', { url: server.url }).caller();
 * (await caller.dial()).kind; // → 'continue'
 * (await caller.type('*')).kind; // → 'end'
 * await server.close();
 */
export function telecomGateway(dialect: AdapterName | TelecomDialect, options: TelecomOptions): TelecomGateway {
  requireGiven('call a gateway', options, {});
  const { url, headers } = options;
  const spoken = typeof dialect === 'string' ? TELECOM_DIALECTS[dialect] : dialect;

  const send = async (step: TelecomStep): Promise<UssdReply | undefined> => {
    const asked = spoken.ask(step);
    if (!asked) return undefined;
    const place = `${url}/api/ussd/${spoken.name}${asked.path}${asked.query ? `?${asked.query}` : ''}`;
    const { method, body } = asked;
    const answer = await fetch(place, {
      method,
      headers: { ...asked.headers, ...headers },
      ...(body !== undefined && { body }),
    });
    const text = await answer.text();
    const raw = {
      status: answer.status,
      type: answer.headers.get('content-type') ?? '',
      headers: Object.fromEntries(answer.headers),
      body: text,
    };
    try {
      if (answer.status !== 404 && answer.status !== 405) return spoken.read(raw);
    } catch {
      // What is no answer of the dialect is reported below.
    }
    throw new TwinlineError(
      'ERR_SERVICE',
      `${method} /api/ussd/${spoken.name}${asked.path} was answered with ${answer.status} and no screen. Is the adapter served there?`,
    );
  };

  return {
    caller({ phoneNumber = '+233241234567', serviceCode = '*713#', sessionId = randomUUID() } = {}) {
      const typed: string[] = [];
      let last: TelecomStep | undefined;
      const say = async (kind: TelecomStep['kind'], text: string): Promise<UssdReply> => {
        if (kind === 'dial') typed.length = 0;
        else if (kind === 'type') typed.push(text);
        const number = kind === 'dial' ? 1 : (last?.number ?? 0) + 1;
        last = { kind, sessionId, phoneNumber, serviceCode, text, history: typed.join('*'), number };
        return (await send(last)) ?? { kind: 'end', text: '' };
      };
      return {
        dial: () => say('dial', ''),
        type: (text) => say('type', text),
        retry: async () => {
          if (!last) throw new TwinlineError('ERR_INPUT', 'Cannot retry: nothing was sent yet. Dial first.');
          return (await send(last)) ?? { kind: 'end', text: '' };
        },
        hangUp: async () => void (await say('end', '')),
      };
    },
  };
}

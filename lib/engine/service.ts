// Services, the one way in which a conversation touches the outside world: functions from JSON to JSON, by name. And the failures
// by which they tell a machine why.

import { TwinlineError } from '../errors.ts';
import type { Json, JsonObject } from '../json/json.ts';

/** Who is calling: the session and what its door knows about it. */
export interface ServiceSession {
  /** The session's id as its door knows it. */
  readonly id: string;
  /** E.164 with `+`, where the door knows one. */
  readonly phoneNumber?: string;
  readonly serviceCode?: string;
  /** The conversation that calls; missing for lifecycles. */
  readonly conversation?: string;
  /** Keyed hashes of the SIM card, where the telecom gateway names it. */
  readonly sim?: string;
  /** The phone is simulated by an operator: nobody has shown that the number is theirs. Missing for callers. */
  readonly simulated?: true;
}

/** What a service is told of its call beside the input. */
export interface ServiceCall {
  /** Aborts when the call's deadline has passed; an answer after that is ignored. */
  readonly signal: AbortSignal;
  /** The same for every try of the same call, also after a crash: act at most once per key. */
  readonly idempotencyKey: string;
  readonly session: ServiceSession;
  /**
   * Only where the flow waits for a callback: whoever POSTs an answer there, once, answers this call. It is a secret. What the service itself
   * returns is not used then; when it throws, the call has failed.
   */
  readonly callbackUrl?: string;
}

/**
 * Answers JSON, or rejects; a rejection is the failure of the call: `onError` of a machine, `fail` of a flow. The input of a flow is
 * named values; that of a machine of one's own is what its `input` gives, any JSON: say so with `(input: Json, call) => …`. An answer
 * that comes from outside is announced by `later`.
 */
export type Service = (input: JsonObject, call: ServiceCall) => Promise<Json | LaterAnswer>;

/** Services by the name that flows call them by. */
export type Services = { readonly [name: string]: Service };

/** Options of `ServiceError`. */
export interface ServiceErrorOptions {
  /** What else the machine is told: JSON. @default nothing */
  readonly data?: Json;
  /** Whether the same call may succeed when it is tried again, as often as its policy allows. @default false */
  readonly retry?: boolean;
}

const CODE = /^(?!ERR_)[A-Za-z][\w.-]{0,63}$/;

/**
 * A failure that a service tells: `onError` of a machine gets `{ code, message, data }` as `event.error`, `fail` of a flow the code as
 * `error`. All of it may be stored, shown and logged, so it must hold no secret; those of the call's own input are masked. Any
 * other error that a service throws is ERR_SERVICE to them, without its words.
 *
 * `code` is 1 to 64 letters, digits, `_`, `.` and `-`, begins with a letter, and not with `ERR_`, which is Twinline's; the constructor
 * throws ERR_CONFIG for others.
 * @example
 * const error = new ServiceError('INSUFFICIENT_FUNDS', 'The balance is too low.', { data: { missing: 40 } });
 * error.code; // → 'INSUFFICIENT_FUNDS'
 * error.retry; // → false
 */
export class ServiceError extends Error {
  override readonly name = 'ServiceError' as const;
  readonly code: string;
  readonly data: Json | undefined;
  readonly retry: boolean;

  constructor(code: string, message = '', { data, retry = false }: ServiceErrorOptions = {}) {
    super(message);
    if (!isServiceCode(code))
      throw new TwinlineError(
        'ERR_CONFIG',
        'Cannot make a ServiceError: its code must be 1 to 64 letters, digits, "_", "." and "-", begin with a letter, and not with "ERR_".',
      );
    this.code = code;
    this.data = data;
    this.retry = retry;
  }
}

/** Whether a service may use this code for its failures. */
export const isServiceCode = (code: unknown): boolean => typeof code === 'string' && CODE.test(code);

/**
 * The result of a service whose answer comes later; `later` makes it. Printing it does not show the token.
 * @example
 * new LaterAnswer('a-token', 120_000).within; // → 120000
 */
export class LaterAnswer {
  readonly #token: string;
  /** Milliseconds until the call has failed with ERR_TIMEOUT. */
  readonly within: number;

  constructor(token: string, within: number) {
    this.#token = token;
    this.within = within;
  }

  /** Names the call to `completeCall`: letters, digits, `-` and `_`, so that it can stand in a URL. Whoever has it may answer the call. */
  get token(): string {
    return this.#token;
  }
}

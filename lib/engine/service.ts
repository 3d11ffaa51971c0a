// Services, the one way in which a conversation touches the outside world: functions from JSON to JSON, by name.

import type { Json, JsonObject } from '../json/json.ts';

/** Who is calling: the session and what its door knows about it. */
export interface ServiceSession {
  /** The session's id as its door knows it. */
  readonly id: string;
  /** E.164 with `+`, where the door knows one. */
  readonly phoneNumber?: string;
  readonly serviceCode?: string;
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
}

/** Answers JSON, or rejects; a rejection sends the flow to the screen's `fail`. */
export type Service = (input: JsonObject, call: ServiceCall) => Promise<Json>;

/** Services by the name that flows call them by. */
export type Services = { readonly [name: string]: Service };

// The interface of a telecom dialect.
import type { JsonObject } from '../json/json.ts';
import type { RawRequest, UssdRequest } from './request.ts';

/** A screen: `continue` waits for input, `end` closes the session; text may have several lines. */
export type UssdReply = { kind: 'continue' | 'end'; text: string };

/** An HTTP response as written by an adapter; `type` is the full Content-Type. */
export type RawReply = { status: number; type: string; headers?: Readonly<Record<string, string>>; body: string };

/**
 * A route relative to the adapter's base path ('' is the base itself); `:name` matches one segment. `about` is shown in /docs
 * and /openapi.json.
 */
export type AdapterRoute = { method: 'GET' | 'POST' | 'PUT'; path: string; about?: RouteWords };

/** Documentation of a route; requests are not checked against it. */
export type RouteWords = {
  /** @default the name of the adapter */
  summary?: string;
  /** Query parameters, each with a JSON Schema. */
  query?: Readonly<Record<string, { description: string; schema: JsonObject }>>;
  /** A JSON Schema of the body, and an example. @default an object with any fields; none for GET */
  body?: { schema: JsonObject; example?: JsonObject };
  /** A JSON Schema of the response by media type. @default text whose first word is CON or END */
  answers?: Readonly<Record<string, JsonObject>>;
};

/**
 /**
  * A telecom dialect: pure functions between raw HTTP and the core request and reply. `twinline/ussd` exports the readers and
  * writers that the shipped adapters use.
  */
export type Adapter = {
  /** Up to 32 lower-case letters, digits and dashes, starting with a letter: `/api/ussd/<name>`, and a metrics label. */
  name: string;
  /** At least one. */
  routes: readonly AdapterRoute[];
  /** Parses and validates a request. Throws ERR_INPUT, and nothing else, for any bytes. */
  read(raw: RawRequest): UssdRequest;
  /**
   * Writes the response to a parsed request. `reply` is NOTHING for an `end` event: no phone shows it, and few gateways read
   * it.
   */
  write(reply: UssdReply, request: UssdRequest): RawReply;
  /** Writes the response to a request that was refused or never parsed, so that the caller still sees the text. Never throws. */
  refuse(reply: UssdReply, raw: RawRequest): RawReply;
};

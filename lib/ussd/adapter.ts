// What a telecom dialect is to us.
import type { JsonObject } from '../json/json.ts';
import type { RawRequest, UssdRequest } from './request.ts';

/** A screen: `continue` waits for an answer, `end` closes the session; text may be several lines. */
export type UssdReply = { kind: 'continue' | 'end'; text: string };

/** An HTTP answer as an adapter writes it; `type` is the full Content-Type. */
export type RawReply = { status: number; type: string; headers?: Readonly<Record<string, string>>; body: string };

/**
 * A door path relative to the adapter's base path ('' is the base itself); `:name` is one segment. `about` is what /docs and
 * /openapi.json say of it.
 */
export type AdapterRoute = { method: 'GET' | 'POST' | 'PUT'; path: string; about?: RouteWords };

/** What is said of a route to those who read about it; nothing is checked against it. */
export type RouteWords = {
  /** @default the name of the adapter */
  summary?: string;
  /** The parameters of the query, with a JSON Schema each. */
  query?: Readonly<Record<string, { description: string; schema: JsonObject }>>;
  /** A JSON Schema of the fields of the body, and an example of them. @default an object with any fields; none for GET */
  body?: { schema: JsonObject; example?: JsonObject };
  /** A JSON Schema of the screen by media type. @default a text whose first word is CON or END */
  answers?: Readonly<Record<string, JsonObject>>;
};

/**
 * One telecom dialect: pure functions between raw HTTP and the core request and reply. `twinline/ussd` exports the readers and
 * writers that the shipped ones are made of.
 */
export type Adapter = {
  /** Lower-case letters, digits and dashes, up to 32, the first a letter: `/api/ussd/<name>`, and a label of metrics. */
  name: string;
  /** At least one. */
  routes: readonly AdapterRoute[];
  /** Reads and checks a request. Throws ERR_INPUT, and nothing else, for any bytes. */
  read(raw: RawRequest): UssdRequest;
  /** Answers a request that was read. `reply` is NOTHING for an `end` event: no phone shows it, and few gateways read it. */
  write(reply: UssdReply, request: UssdRequest): RawReply;
  /** Answers a request that was not read (or not even looked at) so that the caller still sees the text. Never throws. */
  refuse(reply: UssdReply, raw: RawRequest): RawReply;
};

// What a telecom dialect is to us.
import type { RawRequest, UssdRequest } from './request.ts';

/** A screen: `continue` waits for an answer, `end` closes the session; text may be several lines. */
export type UssdReply = { kind: 'continue' | 'end'; text: string };

/** An HTTP answer as an adapter writes it; `type` is the full Content-Type. */
export type RawReply = { status: number; type: string; headers?: Readonly<Record<string, string>>; body: string };

/** A door path relative to the adapter's base path ('' is the base itself); `:name` is one segment. */
export type AdapterRoute = { method: 'GET' | 'POST' | 'PUT'; path: string };

/** One telecom dialect: pure functions between raw HTTP and the core request and reply. */
export type Adapter = {
  name: string;
  routes: readonly AdapterRoute[];
  /** Reads and checks a request. Throws ERR_INPUT, and nothing else, whatever was sent. */
  read(raw: RawRequest): UssdRequest;
  /** Answers a request that was read; an `end` event is answered with NOTHING. */
  write(reply: UssdReply, request: UssdRequest): RawReply;
  /** Answers a request that was not read (or not even looked at) so that the caller still sees the text. Never throws. */
  refuse(reply: UssdReply, raw: RawRequest): RawReply;
};

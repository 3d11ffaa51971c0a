// What a telecom dialect is to us, and the table of those that we speak.
import { africasTalking } from './adapters/africastalking.ts';
import { arkesel } from './adapters/arkesel.ts';
import { comviva } from './adapters/comviva.ts';
import { hubtel } from './adapters/hubtel.ts';
import { infobip } from './adapters/infobip.ts';
import { nalo } from './adapters/nalo.ts';
import type { RawReply, UssdReply } from './reply.ts';
import type { RawRequest, TextMode, UssdRequest } from './request.ts';

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

/**
 * Every adapter by name; `africastalking` is also the plain endpoint. `textMode` is that of the plain endpoint; the other
 * dialects have a fixed one.
 */
export function createAdapters(textMode: TextMode) {
  return { africastalking: africasTalking(textMode), hubtel, nalo, arkesel, infobip, comviva } as const;
}

export type AdapterName = keyof ReturnType<typeof createAdapters>;

// Recorded dialogues of a telecom gateway: what it sent, what is read, what is replied, what goes over the wire.

import { TwinlineError } from '../errors.ts';
import type { Adapter, RawReply, UssdReply } from '../ussd/adapter.ts';
import type { RawRequest, UssdRequest } from '../ussd/request.ts';
import type { RecordedRequest } from '../ussd/telecoms.ts';

/** One request of a recorded dialogue, and what it comes to. */
export interface RecordedTurn {
  readonly what: string;
  readonly request: RecordedRequest;
  /** What the adapter makes of it. */
  readonly read: UssdRequest;
  readonly reply: UssdReply;
  /** How the adapter writes that reply, to the byte. */
  readonly answer: RawReply;
}

/** A dialogue with at least one turn. */
export interface RecordedDialogue {
  /** Where it was recorded, or who has documented it. */
  readonly source: string;
  readonly turns: readonly RecordedTurn[];
  /** Requests that break the rules, and how the adapter refuses them. */
  readonly refused: readonly { readonly what: string; readonly request: RecordedRequest; readonly answer: RawReply }[];
}

/** Reads an answer as the gateway would. */
export type ReadAnswer = (answer: RawReply) => UssdReply;

/** What an adapter is held against. */
export interface AdapterSamples {
  /** As many different requests as the gateway sends, and some that break its rules. */
  readonly dialogue: RecordedDialogue;
  /** Reads the adapter's answers as the gateway does. */
  readonly client: ReadAnswer;
}

/** The request as an adapter is given it. */
export function rawRequest({ method, path, query = '', headers = {}, body = '' }: RecordedRequest): RawRequest {
  const segments = path.split('/').filter((segment) => segment !== '');
  return { method, path: segments.map(decodeURIComponent), query: new URLSearchParams(query), headers, body };
}

/** Whether some route of the adapter takes the request. */
export function isRouted(adapter: Adapter, request: RecordedRequest): boolean {
  return adapter.routes.some((route) => {
    const pattern = new RegExp(`^${route.path.replace(/:\w+/g, '[^/]+')}/?$`);
    return route.method === request.method && pattern.test(request.path);
  });
}

/** The request once for each of its fields, with `value` put there. */
export function mutateRequest(request: RecordedRequest, value: unknown): RecordedRequest[] {
  const put = (encoded: string) =>
    [...new URLSearchParams(encoded).keys()].map((name) => {
      const fields = new URLSearchParams(encoded);
      fields.set(name, typeof value === 'string' ? value : JSON.stringify(value));
      return fields.toString();
    });
  if (request.query !== undefined) return put(request.query).map((query) => ({ ...request, query }));
  const body = request.body ?? '';
  if (!body.trim().startsWith('{')) return put(body).map((changed) => ({ ...request, body: changed }));
  const fields = JSON.parse(body);
  return Object.keys(fields).map((name) => ({ ...request, body: JSON.stringify({ ...fields, [name]: value }) }));
}

/** Whether an adapter may throw this. */
export const isRefusal = (error: unknown): boolean => error instanceof TwinlineError && error.code === 'ERR_INPUT';

// Converts the outcome of a call to an HTTP response: status tables, and bodies without addresses.

import type { Registry } from '#protobuf';
import type { ErrorCode, TwinlineError } from '../errors.ts';
import { GRPC, type Status } from './channel/channel.ts';
import { readFields } from './descriptors/options.ts';
import type { UnknownTypes } from './descriptors/type-source.ts';
import type { Effort, JsonWriter, JsonWriters } from './json/writer.ts';
import { GATEWAY_LIMITS } from './limits.ts';

// HTTP status by gRPC code, from 0: the table of grpc-gateway v2.
const HTTP: readonly number[] = [200, 499, 500, 400, 504, 404, 409, 403, 429, 400, 409, 400, 501, 500, 503, 500, 401];

/**
 * The HTTP status for a gRPC code; 500 for undefined codes.
 * @example
 * httpStatus(5); // → 404
 */
export function httpStatus(code: number): number {
  return HTTP[code] ?? 500;
}

/** An HTTP response. */
export interface HttpAnswer {
  readonly http: number;
  /** `{"code":5,"message":"…","details":[]}` */
  readonly body: string;
}

/** Refusals by the gateway itself. */
export const REFUSALS = {
  'unknown-route': { http: 404, code: 5, message: 'Not Found' },
  method: { http: 405, code: 12, message: 'Method Not Allowed' },
  disabled: { http: 501, code: 12, message: 'Not Implemented' },
  'no-credentials': { http: 401, code: 16, message: 'Send Authorization: Bearer <key> with a key of this gateway' },
  forbidden: { http: 403, code: 7, message: 'The key of this request may not call this method' },
} as const;

/** A key of `REFUSALS`. */
export type RefusalName = keyof typeof REFUSALS;

// Deployments in the Cosmos SDK's style have no other answer to an unknown path or method.
const AS_COSMOS: {
  readonly [kind in RefusalName]?: { readonly http: number; readonly code: number; readonly message: string };
} = {
  'unknown-route': { http: 501, code: 12, message: 'Not Implemented' },
  method: { http: 501, code: 12, message: 'Method Not Allowed' },
};

// A closed list: an error with any other code is internal, and clients learn nothing about it.
const ERRORS: { readonly [code in ErrorCode]?: number } = {
  ERR_INPUT: 3,
  ERR_TIMEOUT: 4,
  ERR_BUSY: 14,
  ERR_SERVICE: 13,
};

/** Options of `createStatusAnswers`. */
export interface StatusOptions {
  /** Resolves the types of error details. */
  readonly registry: Registry;
  readonly writers: JsonWriters;
  /** Texts to hide from clients, such as the node's `host:port`. */
  readonly hide: readonly string[];
  /** Status for an unknown path; 501 applies to an unknown method as well. @default 404 */
  readonly unknownRoute?: 404 | 501;
}

/** Responses to failed calls and refused requests. */
export interface StatusAnswers {
  /**
   * For a failed call; `details` is the value of `grpc-status-details-bin`. `unknown` receives undeclared types: such details
   * are dropped, because their bytes may contain addresses.
   */
  ofStatus(status: Status, details?: Uint8Array, unknown?: UnknownTypes): HttpAnswer;
  ofRefusal(refusal: RefusalName): HttpAnswer;
  /** For anything thrown while a request is parsed, called or answered. */
  ofError(error: unknown): HttpAnswer;
}

/**
 * Converts gRPC statuses to HTTP responses.
 * @example
 * import { readFileSync } from 'node:fs';
 *
 * const { registry } = readDescriptorSet(readFileSync('library.pb'));
 * const writers = createJsonWriters({ registry, form: 'cosmos' });
 * const answers = createStatusAnswers({ registry, writers, hide: ['node:9090'] });
 * answers.ofRefusal('unknown-route'); // → { http: 404, body: '{"code":5,"message":"Not Found","details":[]}' }
 */
export function createStatusAnswers({ registry, writers, hide, unknownRoute = 404 }: StatusOptions): StatusAnswers {
  const any = registry.getMessage('google.protobuf.Any');
  const writeDetail = any && writers.findWriter(any);
  const clean = (text: string): string => withoutAddresses(text, hide);
  const answer = (http: number, { code, message }: { code: number; message: string }, details: string[] = []) => ({
    http,
    body: `{"code":${code},"message":${JSON.stringify(message)},"details":[${details.join(',')}]}`,
  });
  return {
    ofStatus: (status, bytes, unknown) => {
      const { code, from } = status;
      if (code === GRPC.unimplemented && (from === 'channel' || status.message === ''))
        return answer(501, REFUSALS.disabled);
      // RESOURCE_EXHAUSTED from the node means too many requests; from the channel, a reply too large for the gateway.
      const http = code === GRPC.resourceExhausted && from === 'channel' ? 502 : httpStatus(code);
      const hasDetails = bytes && writeDetail && from === 'node';
      const details = hasDetails ? writeDetails(bytes, { write: writeDetail, unknown }).map(clean) : [];
      return answer(code === 0 ? 500 : http, { code, message: clean(status.message) }, details);
    },
    ofRefusal: (refusal) => {
      const { http, ...rest } = (unknownRoute === 501 ? AS_COSMOS[refusal] : undefined) ?? REFUSALS[refusal];
      return answer(http, rest);
    },
    ofError: (error) => {
      const { code: name, message = '', reason } = (error ?? {}) as Partial<TwinlineError>;
      if (reason === 'too-large') return answer(502, { code: GRPC.resourceExhausted, message: clean(message) });
      const code = name !== undefined && Object.hasOwn(ERRORS, name) ? ERRORS[name] : undefined;
      if (code === undefined) return answer(500, { code: 13, message: 'Internal error' });
      return answer(httpStatus(code), { code, message: clean(message) });
    },
  };
}

// Contains stack traces of the node.
const PRIVATE_DETAIL = '/google.rpc.DebugInfo"';

interface DetailWriter {
  readonly write: JsonWriter;
  readonly unknown: UnknownTypes | undefined;
}

// Drops details beyond GATEWAY_LIMITS.gatewayDetailBytes in total.
function writeDetails(bytes: Uint8Array, writer: DetailWriter): string[] {
  const details: string[] = [];
  let left: number = GATEWAY_LIMITS.gatewayDetailBytes;
  try {
    readFields(bytes, {
      3: (reader) => {
        const detail = tryWrite(reader.bytes(), writer);
        if (detail === undefined || detail.length > left) return;
        left -= detail.length;
        details.push(detail.toString('utf8'));
      },
    });
  } catch {
    // Return the status itself in any case.
  }
  return details.filter((detail) => !detail.includes(PRIVATE_DETAIL));
}

const DETAIL: Effort = { jsonBytes: GATEWAY_LIMITS.gatewayDetailBytes, orderBytes: GATEWAY_LIMITS.gatewayDetailBytes };

// Undefined for a detail with an unknown type, whose bytes may contain addresses.
function tryWrite(bytes: Uint8Array, { write, unknown }: DetailWriter): Buffer | undefined {
  let isWhole = true;
  const add = (name: string) => {
    isWhole = false;
    unknown?.add(name);
  };
  try {
    const json = write(bytes, { most: DETAIL, unknown: { add } });
    return isWhole ? json : undefined;
  } catch {
    return undefined;
  }
}

// host:port with a dotted host or localhost, IPv4, IPv6, and Unix sockets.
const ADDRESSES: readonly RegExp[] = [
  /\b(?:[A-Za-z0-9-]{1,63}\.){1,9}[A-Za-z0-9-]{1,63}:\d{1,5}\b/g,
  /\blocalhost(?::\d{1,5})?\b/g,
  /\b(?:\d{1,3}\.){3}\d{1,3}\b/g,
  /\[(?=[^\]:]{0,4}:[^\]:]{0,4}:)[0-9A-Fa-f:.]{2,45}(?:%[\w.-]{1,16})?\](?::\d{1,5})?/g,
  /(?<![\w:])(?:[0-9A-Fa-f]{1,4}:){7}[0-9A-Fa-f]{1,4}(?![\w:])/g,
  /(?<![\w:])(?:[0-9A-Fa-f]{1,4}(?::[0-9A-Fa-f]{1,4}){0,6})?::(?:[0-9A-Fa-f]{1,4}(?::[0-9A-Fa-f]{1,4}){0,6})?(?![\w:])/g,
  /\bunix:[^\s"\\]+/g,
];

/**
 * Replaces every network address in the text by the word address.
 * @example
 * withoutAddresses('dial node:9090 or 10.0.0.7:443', ['node:9090']); // → 'dial address or address'
 */
export function withoutAddresses(text: string, hide: readonly string[]): string {
  let clean = text;
  for (const secret of hide) if (secret) clean = clean.replaceAll(secret, 'address');
  for (const pattern of ADDRESSES) clean = clean.replace(pattern, 'address');
  return clean;
}

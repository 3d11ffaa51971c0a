// Reads the node's part of a gateway request: message, metadata and deadline.

import type { IncomingMessage } from 'node:http';
import { TwinlineError } from '../../lib/errors.ts';
import { type Metadata, type Route, type TypeSource, toMetadata, type UnknownTypes } from '../../lib/gateway/index.ts';
import { withTrace } from '../../lib/http/tracing.ts';
import { SERVER_LIMITS } from '../config/limits.ts';
import { Refusal } from '../http/errors.ts';
import type { Catalog } from './catalog.ts';

/** What is sent to the node. */
export interface NodeRequest {
  readonly message: Buffer;
  readonly metadata: Metadata;
  readonly deadlineMs: number;
  /** Whether the caller set the deadline. */
  readonly isHasty: boolean;
}

interface RouteMatch {
  readonly route: Route;
  /** Decoded path values. */
  readonly values: readonly string[];
  /** Still encoded, without the question mark. */
  readonly query: string;
}

/** Reads the request. Rejects with ERR_INPUT, or with a refusal for a body that is too large or encoded. */
export async function readRequest(
  req: IncomingMessage,
  { route, values, query }: RouteMatch,
  { catalog: { settings }, types }: { readonly catalog: Catalog; readonly types: TypeSource },
): Promise<NodeRequest> {
  const deadlineMs = parseDeadline(req.headers['grpc-timeout'], settings.deadlineMs);
  const forwarded = toMetadata(req.headers, settings.forwardHeaders);
  if (forwarded.kind === 'refused') throw new TwinlineError('ERR_INPUT', forwarded.message);
  const body = route.body === '' ? undefined : await readBytes(req);
  const bind = (unknown?: UnknownTypes) => route.bind({ values, query, body, ...(unknown && { unknown }) });
  return {
    // A body may contain messages whose types must be learned first.
    message: body?.length ? (await types.make(bind, { deadlineMs })).value : bind(),
    metadata: [...forwarded.metadata, ...Object.entries(withTrace<{ readonly [name: string]: string }>({}))],
    deadlineMs,
    isHasty: deadlineMs < settings.deadlineMs,
  };
}

const UNIT_MS: { readonly [unit: string]: number } = { H: 3_600_000, M: 60_000, S: 1_000, m: 1, u: 1e-3, n: 1e-6 };

/** The smaller of the caller's deadline (`Grpc-Timeout: 500m`) and the gateway's. Throws ERR_INPUT. */
function parseDeadline(text: string | string[] | undefined, mostMs: number): number {
  if (text === undefined) return mostMs;
  const [, digits, unit] = /^(\d{1,8})([HMSmun])$/.exec(String(text)) ?? [];
  if (digits === undefined)
    throw new TwinlineError(
      'ERR_INPUT',
      `Grpc-Timeout is invalid: ${JSON.stringify(String(text).slice(0, 40))} is not up to eight digits and one of H, M, S, m, u, n.`,
    );
  return Math.min(mostMs, Number(digits) * UNIT_MS[unit!]!);
}

async function readBytes(req: IncomingMessage): Promise<Buffer> {
  const encoding = req.headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity')
    throw new Refusal('unsupported-media-type', 'Encoded bodies are not supported: send no Content-Encoding');
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of req.iterator({ destroyOnReturn: false })) {
      bytes += (chunk as Buffer).length;
      if (bytes > SERVER_LIMITS.jsonBodyBytes)
        throw new Refusal('too-large', `The body is larger than ${SERVER_LIMITS.jsonBodyBytes} bytes`);
      chunks.push(chunk as Buffer);
    }
  } catch (cause) {
    if (cause instanceof Refusal) throw cause;
    throw new TwinlineError('ERR_INPUT', 'The body ended early.', { cause });
  }
  return Buffer.concat(chunks);
}

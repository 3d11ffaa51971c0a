// Asks a node for the descriptors of its services (gRPC server reflection, v1 or v1alpha) and gives them as they are.

import { BinaryWriter } from '@bufbuild/protobuf/wire';
import { type Detail, TwinlineError } from '../../errors.ts';
import { type Channel, GRPC, type StopSignal } from '../channel/channel.ts';
import { GATEWAY_LIMITS } from '../limits.ts';
import {
  encodeRequest,
  type File,
  type ReflectionReply,
  type ReflectionRequest,
  readFile,
  readReply,
  sortByImports,
} from './reflection-messages.ts';

/** Options of `reflect`. */
export interface ReflectionOptions {
  /** Milliseconds for all of it. @default GATEWAY_LIMITS.reflectionMs */
  readonly deadlineMs?: number;
  readonly signal?: AbortSignal;
  /** Files, and bytes of all files together. @default GATEWAY_LIMITS.reflectionFiles, GATEWAY_LIMITS.reflectionBytes */
  readonly maxFiles?: number;
  readonly maxBytes?: number;
}

/** What a node has said of its services. */
export interface Reflected {
  /** A `google.protobuf.FileDescriptorSet`: the bytes of each file as the node sent them, what is imported first. */
  readonly descriptors: Uint8Array;
  /** The services that the node names, without those of reflection. */
  readonly services: readonly string[];
  /** Files that others import and the node does not have. */
  readonly missing: readonly string[];
  /** Services that the node names and does not describe, and why. */
  readonly left: readonly Detail[];
}

/**
 * Reads all services of a node with their files and what these import. Rejects with ERR_SERVICE when the node offers no
 * reflection (reason `not-offered`), breaks off or describes none of the services that it names, and with ERR_INPUT when
 * it sends too much.
 * @example
 * const channel = http2Channel({ upstream: '127.0.0.1:1' });
 * await reflect(channel, { deadlineMs: 200 }); // throws ERR_SERVICE
 * await channel.close();
 */
export async function reflect(channel: Channel, options: ReflectionOptions = {}): Promise<Reflected> {
  const { deadlineMs = GATEWAY_LIMITS.reflectionMs, maxFiles = GATEWAY_LIMITS.reflectionFiles, signal } = options;
  const { maxBytes = GATEWAY_LIMITS.reflectionBytes } = options;
  const endsAt = performance.now() + deadlineMs;
  const left = () => ({ deadlineMs: endsAt - performance.now(), ...(signal && { signal }) });
  const { service, services } = await tryVersions(channel, (version) => listServices(channel, version, left));
  const gathered = await gatherFiles(channel, { service, symbols: services, left, maxFiles, maxBytes });
  const [first] = gathered.left;
  if (first && gathered.left.length === services.length)
    throw reflectionError(channel, `it does not describe ${first.field}: ${first.error}`);
  const missing = [...gathered.missing].sort();
  return { descriptors: encodeSet(sortByImports(gathered.files)), services, missing, left: gathered.left };
}

async function listServices(
  channel: Channel,
  service: Version,
  left: () => { deadlineMs: number },
): Promise<{ service: Version; services: readonly string[] }> {
  for await (const reply of callReflection(channel, { service, requests: ['services'], ...left() })) {
    if (reply.kind !== 'services')
      throw reflectionError(channel, `it does not list its services: ${describeReply(reply)}`);
    const named = reply.names.filter((name) => !name.startsWith('grpc.reflection.'));
    if (named.length <= GATEWAY_LIMITS.reflectionFiles) return { service, services: [...new Set(named)] };
    throw reflectionError(channel, `it lists ${named.length} services`);
  }
  throw reflectionError(channel, 'it did not answer');
}

function encodeSet(files: readonly File[]): Uint8Array {
  const writer = new BinaryWriter();
  for (const { content } of files) writer.tag(1, 2).bytes(content);
  return writer.finish();
}

interface GatherOptions {
  readonly service: Version;
  readonly symbols: readonly string[];
  /** What is left of the time, asked anew for each call. */
  readonly left: () => { readonly deadlineMs: number; readonly signal?: StopSignal };
  /** Files, and bytes of all files together. */
  readonly maxFiles: number;
  readonly maxBytes: number;
  /** Whether a file that others import is known and need not be read. @default none is */
  readonly isKnown?: (file: string) => boolean;
}

interface Gathered {
  /** By name. */
  readonly files: ReadonlyMap<string, File>;
  /** Files that others import and the node does not have. */
  readonly missing: ReadonlySet<string>;
  /** Symbols that the node does not describe, and why. */
  readonly left: readonly Detail[];
}

/** Rejects with ERR_SERVICE when the node breaks off or answers what is no reply, with ERR_INPUT when it sends too much. */
export async function gatherFiles(channel: Channel, options: GatherOptions): Promise<Gathered> {
  const { service, symbols, left: timeLeft, maxFiles, maxBytes, isKnown = () => false } = options;
  const files = new Map<string, File>();
  const missing = new Set<string>();
  const left: Detail[] = [];
  let bytes = 0;

  await read(symbols.map((symbol) => ({ symbol })));
  for (;;) {
    const wanted = new Set([...files.values()].flatMap(({ imports }) => imports));
    const next = [...wanted].filter((name) => !files.has(name) && !missing.has(name) && !isKnown(name));
    if (!next.length) return { files, missing, left };
    if (files.size + missing.size + next.length > maxFiles) throw tooMuch();
    await read(next.map((name) => ({ file: name })));
    for (const name of next) if (!files.has(name)) missing.add(name);
  }

  async function read(requests: readonly ReflectionRequest[]): Promise<void> {
    if (!requests.length) return;
    let at = 0;
    for await (const reply of callReflection(channel, { service, requests, ...timeLeft() }))
      take(requests[at++]!, reply);
    if (at < requests.length) throw reflectionError(channel, `it answered ${at} of ${requests.length} questions`);
  }

  function take(request: ReflectionRequest, reply: ReflectionReply): void {
    if (reply.kind === 'files') for (const file of reply.files) add(file);
    else if (request === 'services') return;
    else if ('symbol' in request) left.push({ field: request.symbol, error: describeReply(reply) });
    else if (reply.kind !== 'error')
      throw reflectionError(channel, `it does not describe ${request.file}: ${describeReply(reply)}`);
  }

  function add(content: Uint8Array): void {
    const file = readFile(content, channel.name);
    if (files.has(file.name)) return;
    files.set(file.name, file);
    bytes += content.length;
    if (files.size > maxFiles || bytes > maxBytes) throw tooMuch();
  }

  function tooMuch(): TwinlineError {
    return new TwinlineError(
      'ERR_INPUT',
      `The node ${channel.name} describes itself in more than ${maxFiles} files or ${maxBytes} bytes. ` +
        'Give the descriptors of the services that you need in a file instead.',
    );
  }
}

// v1alpha is all that nodes of Cosmos SDK before 0.50 speak; the messages are the same.
const VERSIONS = ['grpc.reflection.v1.ServerReflection', 'grpc.reflection.v1alpha.ServerReflection'] as const;

type Version = (typeof VERSIONS)[number];

/** Thrown when the node does not know this version. */
class NotOffered {}

interface ReflectionCall {
  readonly service: Version;
  readonly requests: readonly ReflectionRequest[];
  readonly deadlineMs: number;
  readonly signal?: StopSignal;
}

/** The replies to all requests, in order; throws ERR_SERVICE when the stream does not end well. */
async function* callReflection(
  channel: Channel,
  { service, requests, ...rest }: ReflectionCall,
): AsyncGenerator<ReflectionReply> {
  const path = `/${service}/ServerReflectionInfo`;
  const { messages, end } = channel.stream({ path, requests: requests.map(encodeRequest), ...rest });
  let count = 0;
  for await (const message of messages) {
    // More replies than requests: a node that never stops.
    if (count++ >= requests.length) break;
    yield readReply(message, channel.name);
  }
  const { code, message } = (await end).status;
  if (code === GRPC.unimplemented && !count) throw new NotOffered();
  if (code !== GRPC.ok && count < requests.length)
    throw reflectionError(channel, `the call ended with code ${code} (${message})`);
}

/** Tries one version after the other; rejects with ERR_SERVICE, reason `not-offered`, when the node knows none. */
export async function tryVersions<T>(channel: Channel, work: (service: Version) => Promise<T>): Promise<T> {
  for (const service of VERSIONS)
    try {
      return await work(service);
    } catch (error) {
      if (!(error instanceof NotOffered)) throw error;
    }
  throw reflectionError(channel, 'it offers no reflection', 'not-offered');
}

function reflectionError(channel: Channel, why: string, reason?: 'not-offered'): TwinlineError {
  return new TwinlineError(
    'ERR_SERVICE',
    `Cannot read the descriptors of the node ${channel.name}: ${why}. ` +
      'Turn on server reflection at the node, or give a file of descriptors.',
    reason && { reason },
  );
}

/** Describes a reply that is not what was asked for. */
function describeReply(reply: ReflectionReply): string {
  return reply.kind === 'error' ? `code ${reply.code}, ${reply.message}` : `it sent ${reply.kind}`;
}

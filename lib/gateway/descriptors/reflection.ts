// Downloads a node's descriptors by gRPC server reflection (v1 or v1alpha), unchanged.

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
  /** Milliseconds for the whole download. @default GATEWAY_LIMITS.reflectionMs */
  readonly deadlineMs?: number;
  readonly signal?: AbortSignal;
  /** Limits on files and total bytes. @default GATEWAY_LIMITS.reflectionFiles, GATEWAY_LIMITS.reflectionBytes */
  readonly maxFiles?: number;
  readonly maxBytes?: number;
}

/** A node's services and descriptors. */
export interface Reflected {
  /** A `google.protobuf.FileDescriptorSet` of the files as the node sent them, imports first. */
  readonly descriptors: Uint8Array;
  /** The listed services, except reflection itself. */
  readonly services: readonly string[];
  /** Imported files that the node lacks. */
  readonly missing: readonly string[];
  /** Services that the node lists but does not describe, and why. */
  readonly left: readonly Detail[];
}

/**
 * Downloads the descriptors of all services, with their imports. Rejects with ERR_SERVICE when the node offers no reflection
 * (reason `not-offered`), aborts, or describes none of its services; with ERR_INPUT when it sends too much.
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
    const names = reply.names.filter((name) => !name.startsWith('grpc.reflection.'));
    if (names.length <= GATEWAY_LIMITS.reflectionFiles) return { service, services: [...new Set(names)] };
    throw reflectionError(channel, `it lists ${names.length} services`);
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
  /** The remaining time, computed for each call. */
  readonly left: () => { readonly deadlineMs: number; readonly signal?: StopSignal };
  /** Limits on files and total bytes. */
  readonly maxFiles: number;
  readonly maxBytes: number;
  /** Whether an imported file is known and need not be read. @default none is */
  readonly isKnown?: (file: string) => boolean;
}

interface Gathered {
  /** By name. */
  readonly files: ReadonlyMap<string, File>;
  /** Imported files that the node lacks. */
  readonly missing: ReadonlySet<string>;
  /** Symbols that the node does not describe, and why. */
  readonly left: readonly Detail[];
}

/** Rejects with ERR_SERVICE when the node aborts or sends an invalid reply, with ERR_INPUT when it sends too much. */
export async function gatherFiles(channel: Channel, options: GatherOptions): Promise<Gathered> {
  const { service, symbols, left: timeLeft, maxFiles, maxBytes, isKnown = () => false } = options;
  const files = new Map<string, File>();
  const missing = new Set<string>();
  const left: Detail[] = [];
  let bytes = 0;

  await read(symbols.map((symbol) => ({ symbol })));
  for (;;) {
    const needed = new Set([...files.values()].flatMap(({ imports }) => imports));
    const next = [...needed].filter((name) => !files.has(name) && !missing.has(name) && !isKnown(name));
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
    if (at < requests.length) throw reflectionError(channel, `it answered ${at} of ${requests.length} requests`);
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
      `The node ${channel.name} has descriptors of more than ${maxFiles} files or ${maxBytes} bytes. ` +
        'Use a descriptor file with the services that you need instead.',
    );
  }
}

// Nodes with Cosmos SDK before 0.50 only speak v1alpha; the messages are the same.
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

/** The replies to all requests, in order; throws ERR_SERVICE when the stream fails early. */
async function* callReflection(
  channel: Channel,
  { service, requests, ...rest }: ReflectionCall,
): AsyncGenerator<ReflectionReply> {
  const path = `/${service}/ServerReflectionInfo`;
  const { messages, end } = channel.stream({ path, requests: requests.map(encodeRequest), ...rest });
  let count = 0;
  for await (const message of messages) {
    // Stop a node that sends more replies than requests.
    if (count++ >= requests.length) break;
    yield readReply(message, channel.name);
  }
  const { code, message } = (await end).status;
  if (code === GRPC.unimplemented && !count) throw new NotOffered();
  if (code !== GRPC.ok && count < requests.length)
    throw reflectionError(channel, `the call ended with code ${code} (${message})`);
}

/** Tries each version; rejects with ERR_SERVICE, reason `not-offered`, when the node supports none. */
export async function tryVersions<T>(channel: Channel, work: (service: Version) => Promise<T>): Promise<T> {
  for (const service of VERSIONS)
    try {
      return await work(service);
    } catch (error) {
      if (!(error instanceof NotOffered)) throw error;
    }
  throw reflectionError(channel, 'it does not offer reflection', 'not-offered');
}

function reflectionError(channel: Channel, why: string, reason?: 'not-offered'): TwinlineError {
  return new TwinlineError(
    'ERR_SERVICE',
    `Cannot read the descriptors of the node ${channel.name}: ${why}. ` +
      'Enable server reflection on the node, or use a descriptor file.',
    reason && { reason },
  );
}

/** Describes an unexpected reply. */
function describeReply(reply: ReflectionReply): string {
  return reply.kind === 'error' ? `code ${reply.code}, ${reply.message}` : `it sent ${reply.kind}`;
}

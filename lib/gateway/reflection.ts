// Asks a node for the descriptors of its services (gRPC server reflection, v1 or v1alpha) and gives them as they are.

import { BinaryWriter } from '@bufbuild/protobuf/wire';
import { TwinlineError } from '../errors.ts';
import { LIMITS } from '../limits.ts';
import { type Channel, GRPC, type Status } from './channel.ts';
import { dependenciesFirst, type File, fileOf } from './reflection-files.ts';
import { type Asked, type Reply, readReply, requestFor } from './reflection-messages.ts';

export interface ReflectionOptions {
  /** Milliseconds for all of it. @default LIMITS.reflectionMs */
  readonly deadlineMs?: number;
  readonly signal?: AbortSignal;
  /** Files, and bytes of all files together. @default LIMITS.reflectionFiles, LIMITS.reflectionBytes */
  readonly maxFiles?: number;
  readonly maxBytes?: number;
}

export interface Reflected {
  /** A `google.protobuf.FileDescriptorSet`: the bytes of each file as the node sent them, what is imported first. */
  readonly descriptors: Uint8Array;
  /** The services that the node names, without those of reflection. */
  readonly services: readonly string[];
  /** Files that others import and the node does not have. */
  readonly missing: readonly string[];
}

// v1alpha is all that nodes of Cosmos SDK before 0.50 speak; the messages are the same.
const VERSIONS = ['grpc.reflection.v1.ServerReflection', 'grpc.reflection.v1alpha.ServerReflection'];

/**
 * Reads all services of a node with their files and what these import. Rejects with ERR_SERVICE when the node offers no
 * reflection (reason `not-offered`), breaks off or names a service that it cannot describe, and with ERR_INPUT when it
 * sends too much.
 */
export async function reflect(channel: Channel, options: ReflectionOptions = {}): Promise<Reflected> {
  const { deadlineMs = LIMITS.reflectionMs, maxFiles = LIMITS.reflectionFiles, signal } = options;
  const { maxBytes = LIMITS.reflectionBytes } = options;
  const endsAt = performance.now() + deadlineMs;
  const files = new Map<string, File>();
  const missing = new Set<string>();
  let bytes = 0;

  const left = () => ({ deadlineMs: endsAt - performance.now(), ...(signal && { signal }) });
  const { service, services } = await listServices(channel, left);
  await read(services.map((name) => ({ symbol: name })));
  for (;;) {
    const wanted = [...files.values()].flatMap(({ imports }) => imports);
    const next = [...new Set(wanted)].filter((name) => !files.has(name) && !missing.has(name));
    if (!next.length) break;
    if (files.size + missing.size + next.length > maxFiles) throw tooMuch();
    await read(next.map((name) => ({ file: name })));
    for (const name of next) if (!files.has(name)) missing.add(name);
  }
  return { descriptors: setOf(dependenciesFirst(files)), services, missing: [...missing].sort() };

  async function read(questions: readonly Asked[]): Promise<void> {
    if (!questions.length) return;
    let at = 0;
    const replies = ask(channel, { service, questions, ...left() });
    for await (const reply of replies) {
      const asked = questions[at++]!;
      if (reply.kind === 'files') for (const file of reply.files) add(file);
      else if (!(isFile(asked) && reply.kind === 'error' && reply.code === GRPC_NOT_FOUND))
        throw refused(channel, `it does not describe ${nameOf(asked)}: ${textOf(reply)}`);
    }
    if (at < questions.length) throw refused(channel, `it answered ${at} of ${questions.length} questions`);
  }

  function add(content: Uint8Array): void {
    const file = fileOf(content, channel.name);
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

const GRPC_NOT_FOUND = 5;

async function listServices(
  channel: Channel,
  left: () => { deadlineMs: number },
): Promise<{ service: string; services: readonly string[] }> {
  for (const service of VERSIONS)
    try {
      for await (const reply of ask(channel, { service, questions: ['services'], ...left() })) {
        if (reply.kind !== 'services') throw refused(channel, `it does not list its services: ${textOf(reply)}`);
        const named = reply.names.filter((name) => !name.startsWith('grpc.reflection.'));
        if (named.length <= LIMITS.reflectionFiles) return { service, services: [...new Set(named)] };
        throw refused(channel, `it lists ${named.length} services`);
      }
      throw refused(channel, 'it did not answer');
    } catch (error) {
      if (!(error instanceof NotOffered) || service === VERSIONS.at(-1)) throw asError(channel, error);
    }
  throw refused(channel, 'it offers no reflection');
}

class NotOffered {}

interface Question {
  readonly service: string;
  readonly questions: readonly Asked[];
  readonly deadlineMs: number;
}

/** The replies to all questions, in order; throws when the stream does not end well. */
async function* ask(channel: Channel, { service, questions, ...call }: Question): AsyncGenerator<Reply> {
  const requests = questions.map(requestFor);
  const { messages, end } = channel.stream({ path: `/${service}/ServerReflectionInfo`, requests, ...call });
  let count = 0;
  for await (const message of messages) {
    // More replies than questions: a node that never stops.
    if (count++ >= questions.length) break;
    yield readReply(message, channel.name);
  }
  const { status } = await end;
  if (status.code === GRPC.unimplemented && !count) throw new NotOffered();
  if (status.code !== GRPC.ok && count < questions.length) throw refused(channel, statusText(status));
}

function asError(channel: Channel, error: unknown): unknown {
  return error instanceof NotOffered ? refused(channel, 'it offers no reflection', 'not-offered') : error;
}

function refused(channel: Channel, why: string, reason?: 'not-offered'): TwinlineError {
  return new TwinlineError(
    'ERR_SERVICE',
    `Cannot read the descriptors of the node ${channel.name}: ${why}. ` +
      'Turn on server reflection at the node, or give a file of descriptors.',
    reason && { reason },
  );
}

function statusText({ code, message }: Status): string {
  return `the call ended with code ${code} (${message})`;
}

function textOf(reply: Reply): string {
  return reply.kind === 'error' ? `code ${reply.code}, ${reply.message}` : `it sent ${reply.kind}`;
}

function isFile(asked: Asked): boolean {
  return asked !== 'services' && 'file' in asked;
}

function nameOf(asked: Asked): string {
  if (asked === 'services') return 'its services';
  return 'symbol' in asked ? asked.symbol : asked.file;
}

function setOf(files: readonly File[]): Uint8Array {
  const writer = new BinaryWriter();
  for (const { content } of files) writer.tag(1, 2).bytes(content);
  return writer.finish();
}

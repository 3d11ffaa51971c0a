// Asks a node for the descriptors of its services (gRPC server reflection, v1 or v1alpha) and gives them as they are.

import { BinaryWriter } from '@bufbuild/protobuf/wire';
import type { Detail } from '../../errors.ts';
import type { Channel } from '../channel/channel.ts';
import { GATEWAY_LIMITS } from '../limits.ts';
import { ask, inAnyVersion, refused, textOf, type Version } from './reflection-ask.ts';
import { dependenciesFirst, type File } from './reflection-files.ts';
import { gatherFiles } from './reflection-gather.ts';

export interface ReflectionOptions {
  /** Milliseconds for all of it. @default GATEWAY_LIMITS.reflectionMs */
  readonly deadlineMs?: number;
  readonly signal?: AbortSignal;
  /** Files, and bytes of all files together. @default GATEWAY_LIMITS.reflectionFiles, GATEWAY_LIMITS.reflectionBytes */
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
  /** Services that the node names and does not describe, and why. */
  readonly left: readonly Detail[];
}

/**
 * Reads all services of a node with their files and what these import. Rejects with ERR_SERVICE when the node offers no
 * reflection (reason `not-offered`), breaks off or describes none of the services that it names, and with ERR_INPUT when
 * it sends too much.
 */
export async function reflect(channel: Channel, options: ReflectionOptions = {}): Promise<Reflected> {
  const { deadlineMs = GATEWAY_LIMITS.reflectionMs, maxFiles = GATEWAY_LIMITS.reflectionFiles, signal } = options;
  const { maxBytes = GATEWAY_LIMITS.reflectionBytes } = options;
  const endsAt = performance.now() + deadlineMs;
  const left = () => ({ deadlineMs: endsAt - performance.now(), ...(signal && { signal }) });
  const { service, services } = await inAnyVersion(channel, (version) => listServices(channel, version, left));
  const gathered = await gatherFiles(channel, { service, symbols: services, left, maxFiles, maxBytes });
  const [first] = gathered.left;
  if (first && gathered.left.length === services.length)
    throw refused(channel, `it does not describe ${first.field}: ${first.error}`);
  const missing = [...gathered.missing].sort();
  return { descriptors: setOf(dependenciesFirst(gathered.files)), services, missing, left: gathered.left };
}

async function listServices(
  channel: Channel,
  service: Version,
  left: () => { deadlineMs: number },
): Promise<{ service: Version; services: readonly string[] }> {
  for await (const reply of ask(channel, { service, questions: ['services'], ...left() })) {
    if (reply.kind !== 'services') throw refused(channel, `it does not list its services: ${textOf(reply)}`);
    const named = reply.names.filter((name) => !name.startsWith('grpc.reflection.'));
    if (named.length <= GATEWAY_LIMITS.reflectionFiles) return { service, services: [...new Set(named)] };
    throw refused(channel, `it lists ${named.length} services`);
  }
  throw refused(channel, 'it did not answer');
}

function setOf(files: readonly File[]): Uint8Array {
  const writer = new BinaryWriter();
  for (const { content } of files) writer.tag(1, 2).bytes(content);
  return writer.finish();
}

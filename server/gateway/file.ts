// Reads GATEWAY_FILE and the files it names, and opens the node: the channel, and descriptors from a file or by reflection.

import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { TwinlineError } from '../../lib/errors.ts';
import {
  type Channel,
  type ChannelOptions,
  type Descriptors,
  type GatewaySettings,
  http2Channel,
  parseGatewayFile,
  readDescriptorSet,
  reflect,
} from '../../lib/gateway/index.ts';
import { readSettingFile } from '../config/modules.ts';

export interface GatewayFile {
  readonly settings: GatewaySettings;
  /** The file's name for messages. */
  readonly source: string;
  readonly tls: NonNullable<ChannelOptions['tls']>;
  /** A FileDescriptorSet and its name for messages; undefined means server reflection. */
  readonly descriptors: { readonly bytes: Buffer; readonly source: string } | undefined;
}

/** Reads the file; paths in it are relative to its folder. Throws ERR_CONFIG with every problem, one per line. */
export function readGatewayFile(path: string): GatewayFile {
  const source = `GATEWAY_FILE ${path}`;
  const settings = parseGatewayFile(readSettingFile('GATEWAY_FILE', path), source);
  const problems: string[] = [];
  const open = (name: string, what: string): Buffer | undefined => {
    try {
      return readFileSync(resolve(dirname(path), name));
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      problems.push(`${source}: ${what} ${name} cannot be read (${code}). Paths are relative to the file's folder.`);
      return undefined;
    }
  };
  const ca = typeof settings.tls === 'object' ? open(settings.tls.ca, 'the certificate') : undefined;
  if (ca && !isCertificate(ca))
    problems.push(
      `${source}: the certificate in "tls" is not in PEM format, starting with -----BEGIN CERTIFICATE-----.`,
    );
  const { descriptors } = settings;
  const bytes = descriptors.kind === 'file' ? open(descriptors.path, 'the FileDescriptorSet') : undefined;
  if (problems.length) throw new TwinlineError('ERR_CONFIG', problems.join('\n'));
  const tls = ca ? { ca } : settings.tls === true;
  const set =
    descriptors.kind === 'file' && bytes ? { bytes, source: `The descriptor set ${descriptors.path}` } : undefined;
  return { settings, source, tls, descriptors: set };
}

function isCertificate(pem: Buffer): boolean {
  try {
    return new X509Certificate(pem).raw.length > 0;
  } catch {
    return false;
  }
}

/** Opens the configured channel, which connects on the first call. Throws ERR_CONFIG. */
export async function openChannel({ settings, tls }: GatewayFile): Promise<Channel> {
  const { upstream, deadlineMs, channel } = settings;
  if (channel === 'http2') return http2Channel({ upstream, tls, deadlineMs });
  const { grpcChannel } = await import('../../lib/gateway/channel/grpc-channel.ts');
  return grpcChannel({ upstream, tls, deadlineMs });
}

export interface NodeWait {
  /** How long to wait for an unreachable node. */
  readonly patienceMs: number;
  /** Called once, when waiting starts. */
  readonly onWait?: (reason: string) => void;
}

const RETRY_MS = 250;

/**
 * Reads descriptors from the file or the node, retrying an unreachable node until the time is up. Throws ERR_CONFIG for
 * unusable descriptors, ERR_SERVICE when the node does not provide any.
 */
export async function readDescriptors(file: GatewayFile, channel: Channel, wait: NodeWait): Promise<Descriptors> {
  if (file.descriptors) return readDescriptorSet(file.descriptors.bytes, file.descriptors.source);
  const { descriptors, left } = await reflectPatiently(channel, wait);
  const fromNode = readDescriptorSet(descriptors, `What the node ${channel.name} says about itself`);
  return { ...fromNode, left: [...left, ...fromNode.left] };
}

async function reflectPatiently(channel: Channel, { patienceMs, onWait }: NodeWait) {
  const endsAt = performance.now() + patienceMs;
  for (let isFirst = true; ; isFirst = false) {
    try {
      return await reflect(channel);
    } catch (error) {
      const { reason, code, message } = error as TwinlineError;
      const isHopeless = reason === 'not-offered' || code !== 'ERR_SERVICE';
      if (isHopeless || performance.now() + RETRY_MS > endsAt) throw error;
      if (isFirst) onWait?.(message);
      await pause(RETRY_MS);
    }
  }
}

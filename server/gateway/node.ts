// The way to the node of the query gateway: its channel, and its descriptors from a file or from the node itself.

import { setTimeout as pause } from 'node:timers/promises';
import type { TwinlineError } from '../../lib/errors.ts';
import { type Channel, type Descriptors, http2Channel, readDescriptorSet, reflect } from '../../lib/gateway/index.ts';
import type { GatewayFile } from './file.ts';

/** Opens the channel that the file asks for; connects with the first call. Throws ERR_CONFIG. */
export async function openChannel({ settings, tls }: GatewayFile): Promise<Channel> {
  const { upstream, deadlineMs, channel } = settings;
  if (channel === 'http2') return http2Channel({ upstream, tls, deadlineMs });
  const { grpcChannel } = await import('../../lib/gateway/channel/grpc-channel.ts');
  return grpcChannel({ upstream, tls, deadlineMs });
}

export interface NodeWait {
  /** How long a node that is away is waited for. */
  readonly patienceMs: number;
  /** Called once, when the wait has begun. */
  readonly onWait?: (reason: string) => void;
}

const RETRY_MS = 250;

/**
 * The descriptors of the file, or of the node. A node that does not answer is asked again until patience ends. Throws
 * ERR_CONFIG when they cannot be used, ERR_SERVICE when the node does not give them.
 */
export async function descriptorsOf(file: GatewayFile, channel: Channel, wait: NodeWait): Promise<Descriptors> {
  if (file.descriptors) return readDescriptorSet(file.descriptors.bytes, file.descriptors.source);
  const { descriptors, left } = await reflected(channel, wait);
  const read = readDescriptorSet(descriptors, `What the node ${channel.name} says about itself`);
  return { ...read, left: [...left, ...read.left] };
}

async function reflected(channel: Channel, { patienceMs, onWait }: NodeWait) {
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

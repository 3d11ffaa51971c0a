// One call of server reflection: questions to the node and its replies, in the version that it speaks.

import { TwinlineError } from '../../errors.ts';
import type { StopSignal } from '../cache/stop.ts';
import { type Channel, GRPC, type Status } from '../channel/channel.ts';
import { type Asked, type Reply, readReply, requestFor } from './reflection-messages.ts';

// v1alpha is all that nodes of Cosmos SDK before 0.50 speak; the messages are the same.
export const VERSIONS = ['grpc.reflection.v1.ServerReflection', 'grpc.reflection.v1alpha.ServerReflection'] as const;

export type Version = (typeof VERSIONS)[number];

/** Thrown when the node does not know this version. */
export class NotOffered {}

export interface Question {
  readonly service: Version;
  readonly questions: readonly Asked[];
  readonly deadlineMs: number;
  readonly signal?: StopSignal;
}

/** The replies to all questions, in order; throws ERR_SERVICE when the stream does not end well. */
export async function* ask(channel: Channel, { service, questions, ...call }: Question): AsyncGenerator<Reply> {
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

/** Tries one version after the other; rejects with ERR_SERVICE, reason `not-offered`, when the node knows none. */
export async function inAnyVersion<T>(channel: Channel, work: (service: Version) => Promise<T>): Promise<T> {
  for (const service of VERSIONS)
    try {
      return await work(service);
    } catch (error) {
      if (!(error instanceof NotOffered)) throw error;
    }
  throw refused(channel, 'it offers no reflection', 'not-offered');
}

export function refused(channel: Channel, why: string, reason?: 'not-offered'): TwinlineError {
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

/** What a reply says that is not what was asked for. */
export function textOf(reply: Reply): string {
  return reply.kind === 'error' ? `code ${reply.code}, ${reply.message}` : `it sent ${reply.kind}`;
}

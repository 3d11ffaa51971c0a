// Replies of the node as JSON: most at once, large ones in a thread, so that the event loop never stands still for one.

import type { TwinlineError } from '../../../lib/errors.ts';
import type { Effort, Made, UnknownTypes } from '../../../lib/gateway/index.ts';
import { SERVER_LIMITS } from '../../config/limits.ts';
import type { Plan } from '../catalog.ts';
import type { Service } from '../service.ts';
import type { LargeReplies, Waiting, Written } from './large-replies.ts';

/** A message of the node, and how it is written. */
export interface Reply {
  readonly plan: Plan;
  readonly bytes: Uint8Array;
}

export interface Renderer {
  /**
   * The JSON of a reply, at once unless it is large or becomes so. A thread takes its bytes away; {@link Written.bytes} are
   * given back when it met unknown types. Throws or rejects as a JsonWriter and {@link LargeReplies.write} do.
   */
  render(reply: Reply, unknown: UnknownTypes, waiting: Waiting): Buffer | Promise<Written>;
  close(): Promise<void>;
}

const BRIEF: Effort = {
  jsonBytes: SERVER_LIMITS.gatewayBriefJsonBytes,
  orderBytes: SERVER_LIMITS.gatewayBriefOrderBytes,
};

export function renderer(large: LargeReplies): Renderer {
  return {
    render: ({ plan: { write, route }, bytes }, unknown, waiting) => {
      if (bytes.length <= SERVER_LIMITS.gatewayBriefBytes)
        try {
          return write(bytes, { most: BRIEF, unknown });
        } catch (error) {
          if ((error as TwinlineError).reason !== 'too-large') throw error;
        }
      return large.write({ type: route.output.typeName, only: route.responseBody || undefined, bytes }, waiting);
    },
    close: large.close,
  };
}

/**
 * The JSON of a reply, written again when the node could be asked for types that are inside it. `tag` is there when a
 * thread has made it. Rejects as {@link Renderer.render} does.
 */
export function renderReply(
  reply: Reply,
  { types, renderer }: Pick<Service, 'types' | 'renderer'>,
  waiting: Waiting,
): Promise<Made<{ readonly json: Buffer; readonly tag?: string }>> {
  let { bytes } = reply;
  return types.make((unknown) => {
    const written = renderer.render({ plan: reply.plan, bytes }, unknown, waiting);
    if (Buffer.isBuffer(written)) return { json: written };
    return written.then((made) => {
      for (const name of made.unknown) unknown.add(name);
      bytes = made.bytes ?? bytes;
      return made;
    });
  }, waiting);
}

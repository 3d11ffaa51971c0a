// Replies of the node as JSON: most at once, large ones in a thread, so that the event loop never stands still for one.

import type { TwinlineError } from '../../lib/errors.ts';
import type { Effort } from '../../lib/gateway/index.ts';
import { LIMITS } from '../../lib/limits.ts';
import type { Plan } from './catalog.ts';
import type { LargeReplies, Waiting, Written } from './large-replies.ts';

export interface Renderer {
  /**
   * The JSON of a reply, at once unless it is large or becomes so; its bytes are not used after this. Throws or rejects as
   * a JsonWriter and {@link LargeReplies.write} do.
   */
  render(plan: Plan, bytes: Buffer, waiting: Waiting): Buffer | Promise<Written>;
  close(): Promise<void>;
}

const BRIEF: Effort = { jsonBytes: LIMITS.gatewayBriefJsonBytes, orderBytes: LIMITS.gatewayBriefOrderBytes };

export function renderer(large: LargeReplies): Renderer {
  return {
    render: ({ write, route }, bytes, waiting) => {
      if (bytes.length <= LIMITS.gatewayBriefBytes)
        try {
          return write(bytes, BRIEF);
        } catch (error) {
          if ((error as TwinlineError).reason !== 'too-large') throw error;
        }
      return large.write({ type: route.output.typeName, only: route.responseBody || undefined, bytes }, waiting);
    },
    close: large.close,
  };
}

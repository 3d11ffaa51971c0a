// The hubs of instances that share a channel: each is told whether somebody watches on another, and then sends its events there.

import type { Hub } from '../../../lib/inspection/hub.ts';
import type { TraceEvent } from '../../../lib/inspection/trace.ts';
import type { Channel } from '../../../lib/store/channel.ts';
import { PAGE_LIMITS } from '../limits.ts';

const PRESENCE = 'inspector/presence';
// Instances of earlier versions listen to this topic, too.
const EVENTS = 'inspector/moments';

export interface Instances {
  /** There are viewers here, or none any more. */
  presence(isWatched: boolean): void;
  /** To those who watch elsewhere. */
  tell(events: readonly TraceEvent[]): void;
  close(): Promise<void>;
}

export interface InstancesOptions {
  readonly channel: Channel;
  readonly hub: () => Hub;
  readonly onProblem: (error: unknown) => void;
}

/** Joins the instances that share the channel. What is lost on the way is not asked for again. */
export async function joinInstances({ channel, hub, onProblem }: InstancesOptions): Promise<Instances> {
  const self = crypto.randomUUID();
  let beat: NodeJS.Timeout | undefined;
  let isWanted = false;
  let stopListening: (() => void) | undefined;

  const onPresence = (from: string) => {
    if (from !== self) hub().noteWatchedElsewhere(PAGE_LIMITS.inspectorAbsenceMs);
  };
  const onEvents = (message: string) => {
    const { from, moments } = JSON.parse(message) as { from: string; moments: TraceEvent[] };
    if (from !== self) hub().receive(moments);
  };
  const stopPresence = await channel.subscribe(PRESENCE, { onMessage: onPresence });
  const publish = (topic: string, message: string) => channel.publish(topic, message).catch(onProblem);

  async function begin(): Promise<void> {
    const stop = await channel.subscribe(EVENTS, { onMessage: onEvents });
    if (isWanted && !stopListening) stopListening = stop;
    else stop();
    await publish(PRESENCE, self);
  }

  return {
    presence(isWatched) {
      isWanted = isWatched;
      clearInterval(beat);
      if (isWatched) {
        begin().catch(onProblem);
        beat = setInterval(() => void publish(PRESENCE, self), PAGE_LIMITS.inspectorPresenceMs);
      } else {
        stopListening?.();
        stopListening = undefined;
      }
    },
    // One message for each: a batch may be larger than a channel carries.
    tell(events) {
      for (const event of events) void publish(EVENTS, JSON.stringify({ from: self, moments: [event] }));
    },
    async close() {
      clearInterval(beat);
      stopListening?.();
      stopPresence();
      await channel.close();
    },
  };
}

// Watching all instances from one: who watches says so again and again, and the others tell what happens to them.

import type { Channel } from '../../../lib/store/channel.ts';
import { PAGE_LIMITS } from '../limits.ts';
import type { Hub } from './hub.ts';
import type { Moment } from './moment.ts';

const PRESENCE = 'inspector/presence';
const MOMENTS = 'inspector/moments';

export interface Instances {
  /** Somebody watches here, or nobody any more. */
  presence(isWatched: boolean): void;
  /** To those who watch elsewhere. */
  tell(moments: readonly Moment[]): void;
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
  let wanted = false;
  let stopListening: (() => void) | undefined;

  const onPresence = (from: string) => {
    if (from !== self) hub().watchedElsewhere(PAGE_LIMITS.inspectorAbsenceMs);
  };
  const onMoments = (message: string) => {
    const { from, moments } = JSON.parse(message) as { from: string; moments: Moment[] };
    if (from !== self) hub().receive(moments);
  };
  const stopPresence = await channel.subscribe(PRESENCE, { onMessage: onPresence });
  const publish = (topic: string, message: string) => channel.publish(topic, message).catch(onProblem);

  async function begin(): Promise<void> {
    const stop = await channel.subscribe(MOMENTS, { onMessage: onMoments });
    if (wanted && !stopListening) stopListening = stop;
    else stop();
    await publish(PRESENCE, self);
  }

  return {
    presence(isWatched) {
      wanted = isWatched;
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
    tell(moments) {
      for (const moment of moments) void publish(MOMENTS, JSON.stringify({ from: self, moments: [moment] }));
    },
    async close() {
      clearInterval(beat);
      stopListening?.();
      stopPresence();
      await channel.close();
    },
  };
}

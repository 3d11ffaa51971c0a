// The inspector of a server: its hub, which the engines are given, and what its page needs beside that.

import { systemClock } from '../../../lib/clock.ts';
import type { Engine } from '../../../lib/engine/engine.ts';
import type { CompiledFlow } from '../../../lib/flow/run/compile.ts';
import type { Keyring } from '../../../lib/keyring.ts';
import type { RedisConnection } from '../../../lib/store/redis/connection.ts';
import { eventStreams } from '../../http/event-streams.ts';
import { type Drawings, drawings } from '../diagram/drawings.ts';
import { PAGE_LIMITS } from '../limits.ts';
import { type FeedSource, feed } from './feed.ts';
import { createHub, type Hub } from './hub.ts';
import { type Instances, joinInstances } from './instances.ts';
import { inspectedMachines } from './machines.ts';
import type { InspectorDoor } from './routes.ts';
import { livingSessions } from './sessions.ts';
import { type StatelySocket, statelySocket } from './stately-socket.ts';

export interface Inspector {
  readonly hub: Hub;
  /** Once the engine is there that knows the flows and the sessions. */
  open(engine: Engine<CompiledFlow>): InspectorDoor;
  /** Watches the instances that share this Redis, too. */
  join(connection: RedisConnection): Promise<void>;
  /** Ends streams, so that the server can end. */
  drain(): void;
  close(): Promise<void>;
}

export interface InspectorOptions {
  readonly keyring: Keyring;
  readonly onProblem: (error: unknown) => void;
}

/** An inspector that nobody watches yet. */
export function createInspector({ keyring, onProblem }: InspectorOptions): Inspector {
  const secret = keyring.subkey('inspector/v1')!;
  let instances: Instances | undefined;
  let diagrams: Drawings | undefined;
  let socket: StatelySocket | undefined;
  const hub = createHub({
    secret,
    onPresence: (isWatched) => instances?.presence(isWatched),
    onForOthers: (moments) => instances?.tell(moments),
    onProblem,
  });
  const most = { all: PAGE_LIMITS.inspectorViewers, perOwner: PAGE_LIMITS.inspectorViewers };
  const streams = eventStreams({ most, onProblem });
  const drain = () => {
    streams.close();
    socket?.close();
  };
  return {
    hub,
    open(engine) {
      const machines = inspectedMachines(engine.library);
      diagrams = drawings({ flows: machines.flows });
      const living = (signal: AbortSignal) => livingSessions(engine, { secret, signal });
      const source: FeedSource = { hub, machines, living, now: systemClock.now };
      socket = statelySocket({ messages: (signal) => feed(source, { signal, definitions: 'always' }), onProblem });
      return { ...source, machines, drawings: diagrams, streams, socket };
    },
    async join(connection) {
      const { redisChannel } = await import('../../../lib/store/redis/index.ts');
      instances = await joinInstances({ channel: redisChannel({ connection }), hub: () => hub, onProblem });
    },
    drain,
    async close() {
      drain();
      hub.close();
      await Promise.all([instances?.close(), diagrams?.close()]);
    },
  };
}

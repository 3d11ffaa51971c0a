// Opens the inspector of a server: the hub for the engines, and the machines that the page shows.

import type { PinVault } from '../../../lib/account/pin.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { Engine } from '../../../lib/engine/engine.ts';
import { type FeedSource, feed } from '../../../lib/inspection/feed.ts';
import { createHub, type Hub } from '../../../lib/inspection/hub.ts';
import { listOpenSessions, sessionSecret } from '../../../lib/inspection/trace.ts';
import type { Keyring } from '../../../lib/keyring.ts';
import type { RedisConnection } from '../../../lib/store/redis/connection.ts';
import type { Audit } from '../../audit/audit.ts';
import { eventStreams } from '../../http/event-streams.ts';
import type { TroubledSession } from '../../telemetry/trouble.ts';
import { type Drawings, drawings } from '../diagram/drawings.ts';
import { PAGE_LIMITS } from '../limits.ts';
import { findCallers } from './callers.ts';
import { type Instances, joinInstances } from './instances.ts';
import { listMachines } from './machines.ts';
import { endCall, type SessionOptions, type SessionRequest, showPrivate } from './one-session.ts';
import type { InspectorDoor } from './routes.ts';
import { type StatelySocket, statelySocket } from './socket.ts';

export interface Inspector {
  readonly hub: Hub;
  /** Call it once the engine is created. */
  open(sources: InspectorSources): InspectorDoor;
  /** Also watches the instances that share this Redis. */
  join(connection: RedisConnection): Promise<void>;
  /** Ends streams, so that the server can stop. */
  drain(): void;
  close(): Promise<void>;
}

export interface InspectorSources {
  readonly engine: Engine;
  readonly audit: Audit;
  /** What a dial starts. */
  readonly dialled: { readonly flow: string };
  /** What the log calls a phone number, under each key. */
  readonly aliases: PinVault['aliases'];
  /** Sessions of this process in which something failed. */
  readonly trouble: () => readonly TroubledSession[];
}

export interface InspectorOptions {
  readonly keyring: Keyring;
  readonly clock: Clock;
  readonly onProblem: (error: unknown) => void;
}

/** Creates an inspector. */
export function createInspector({ keyring, clock, onProblem }: InspectorOptions): Inspector {
  const secret = sessionSecret(keyring);
  let instances: Instances | undefined;
  let diagrams: Drawings | undefined;
  let socket: StatelySocket | undefined;
  const hub = createHub({
    secret,
    onPresence: (isWatched) => instances?.presence(isWatched),
    onForOthers: (events) => instances?.tell(events),
    onProblem,
  });
  const most = { all: PAGE_LIMITS.inspectorViewers, perOwner: PAGE_LIMITS.inspectorViewers };
  const streams = eventStreams({ most, clock, onProblem });
  const drain = () => {
    streams.close();
    socket?.close();
  };
  return {
    hub,
    open({ engine, audit, dialled, aliases, trouble }) {
      const machines = listMachines(engine.library);
      diagrams = drawings(machines);
      const openSessions = (signal: AbortSignal) => listOpenSessions(engine, { secret, signal });
      const source: FeedSource = { hub, definition: machines.definition, openSessions, now: clock.now };
      socket = statelySocket({ messages: (signal) => feed(source, { signal, definitions: 'always' }), onProblem });
      const options: SessionOptions = { engine, audit, secret };
      const reveal = (request: SessionRequest) => showPrivate(options, request);
      const end = (request: SessionRequest) => endCall(options, request);
      const search = (digits: string) => findCallers({ engine, secret, aliases, trouble }, digits);
      return {
        ...source,
        machines,
        drawings: diagrams,
        streams,
        socket,
        dialled,
        trouble,
        showPrivate: reveal,
        endCall: end,
        findCallers: search,
      };
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

// Opens and closes the query gateway configured by GATEWAY_FILE.

import { type Clock, systemClock } from '../../lib/clock.ts';
import {
  type GuardedChannel,
  guardedChannel,
  openCache,
  type TypeSource,
  typeSource,
} from '../../lib/gateway/index.ts';
import { GATEWAY_LIMITS } from '../../lib/gateway/limits.ts';
import { SERVER_LIMITS } from '../config/limits.ts';
import type { RouteGroup, ServedRoute } from '../http/route-table.ts';
import type { Log } from '../telemetry/log.ts';
import { largeReplies } from './answers/large-replies.ts';
import { openStreams } from './answers/streams.ts';
import { CACHE_RULES, type CachedResponse, createRenderer, type Renderer, type Service } from './answers/unary.ts';
import { type Catalog, createCatalog } from './catalog.ts';
import { createCounts } from './counts.ts';
import { gatewayPart } from './documentation.ts';
import { type Front, type GatewayDoor, gatewayDoor } from './door.ts';
import { type GatewayFile, type NodeWait, openChannel, readDescriptors, readGatewayFile } from './file.ts';
import { listTaken, ownership, splitRoutes } from './places.ts';

export interface QueryGateway {
  /** Opens the door; other doors keep their paths. */
  door(others: readonly ServedRoute[], front: Front): GatewayDoor;
  /** Prometheus metrics. */
  metrics(): string[];
  /** Ends streams gracefully, so that the server can stop. */
  drain(): void;
  close(): Promise<void>;
}

export interface GatewayOptions {
  /** The GATEWAY_FILE. */
  readonly path: string;
  /** How long to wait for a node whose descriptors are read by reflection. */
  readonly patienceMs: number;
  readonly log: Log;
  readonly clock: Clock;
  readonly onProblem: () => void;
}

/**
 * Opens the gateway. If descriptors come by reflection, waits for the node as for a store. Throws ERR_CONFIG with every
 * problem, and ERR_SERVICE when the node provides no descriptors.
 */
export async function openGateway({ path, patienceMs, log, clock, onProblem }: GatewayOptions): Promise<QueryGateway> {
  const file = readGatewayFile(path);
  const onWait = (reason: string) => log.warn({ reason }, 'waiting for the node of the query gateway');
  const parts = await openCatalog(file, { patienceMs, onWait, clock });
  const { catalog, channel, types } = parts;
  for (const warning of catalog.warnings) log.warn({ warning }, 'the query gateway is not quite as its file says');
  const large = largeReplies({ base: types.base, lessons: types.lessons, form: file.settings.json });
  const service = makeService(parts, { renderer: createRenderer(large), clock });
  const streams = openStreams({ clock });
  return {
    door: (others, front) => {
      const door = gatewayDoor({
        service,
        streams,
        others,
        front,
        onFault: (error, requestId) => {
          onProblem();
          log.error({ err: error, requestId }, 'a request to the query gateway failed');
        },
      });
      log.info({ upstream: channel.name, routes: door.routes.length }, 'the query gateway is open');
      if (door.hidden.length)
        log.warn({ templates: door.hidden }, 'routes cannot be reached: other doors have their paths');
      return door;
    },
    metrics: service.counts.lines,
    drain: streams.close,
    close: async () => {
      await Promise.all([channel.close(), service.renderer.close()]);
    },
  };
}

export interface OpenedGateway {
  readonly catalog: Catalog;
  readonly channel: GuardedChannel;
  readonly types: TypeSource;
}

/** The routes that a file would add next to those of other doors, without a server. Throws like {@link openGateway}. */
export async function gatewayRouteGroup(
  file: GatewayFile,
  { others, patienceMs }: { readonly others: readonly ServedRoute[]; readonly patienceMs: number },
): Promise<RouteGroup> {
  const { catalog, channel } = await openCatalog(file, { patienceMs });
  await channel.close();
  const owns = ownership(catalog.settings, { routes: catalog.routes, taken: listTaken(others) });
  return gatewayPart(catalog, splitRoutes(catalog, owns).served);
}

const AT_ONCE = { http2: GATEWAY_LIMITS.grpcCallsAtOnce, 'grpc-js': SERVER_LIMITS.grpcJsCallsAtOnce };

/** The catalog of a file, and the channel to its node, which the caller must close. Throws like {@link openGateway}. */
export async function openCatalog(
  file: GatewayFile,
  { clock = systemClock, ...wait }: NodeWait & { readonly clock?: Clock },
): Promise<OpenedGateway> {
  const channel = await openChannel(file);
  try {
    const descriptors = await readDescriptors(file, channel, wait);
    const { deadlineMs, channel: kind } = file.settings;
    const guardedNode = guardedChannel(channel, { deadlineMs, atOnce: AT_ONCE[kind], clock });
    // With a descriptor file, do not query the node for types: it may lack reflection or not welcome it.
    const types = typeSource({
      base: descriptors.registry,
      channel: file.descriptors ? undefined : guardedNode,
      clock,
    });
    const catalog = createCatalog(file, { ...descriptors, registry: types.registry });
    return { catalog, channel: guardedNode, types };
  } catch (error) {
    await channel.close();
    throw error;
  }
}

interface ServiceTools {
  readonly renderer: Renderer;
  readonly clock: Clock;
}

function makeService({ catalog, channel, types }: OpenedGateway, { renderer, clock }: ServiceTools): Service {
  // Without a cache nothing is kept, but identical calls are still coalesced.
  const { ttlMs, maxBytes } = catalog.settings.cache ?? { ttlMs: 0, maxBytes: 1 };
  const cache = openCache<CachedResponse>({ ttlMs, maxBytes, clock, ...CACHE_RULES });
  const counts = createCounts({ channel, cache });
  return { catalog, channel, types, cache, renderer, counts };
}

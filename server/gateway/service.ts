// What the door of the gateway works with.

import type { AnswerCache, GuardedChannel, TypeSource } from '../../lib/gateway/index.ts';
import type { Streams } from './answers/streams.ts';
import type { CachedResponse, Renderer } from './answers/unary.ts';
import type { Catalog } from './catalog.ts';
import type { GatewayCounts } from './counts.ts';

export interface Service {
  readonly catalog: Catalog;
  readonly channel: GuardedChannel;
  readonly cache: AnswerCache<CachedResponse>;
  readonly renderer: Renderer;
  /** Types inside an Any that no descriptor declares. */
  readonly types: TypeSource;
  readonly streams: Streams;
  readonly counts: GatewayCounts;
}

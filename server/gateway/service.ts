// What the door of the gateway works with.

import type { AnswerCache, GuardedChannel, TypeSource } from '../../lib/gateway/index.ts';
import type { Catalog } from './catalog.ts';
import type { Counts } from './counts.ts';
import type { Renderer } from './renderer.ts';
import type { Streams } from './streams.ts';
import type { Rendered } from './unary.ts';

export interface Service {
  readonly catalog: Catalog;
  readonly channel: GuardedChannel;
  readonly cache: AnswerCache<Rendered>;
  readonly renderer: Renderer;
  /** Types inside an Any that no descriptor declares. */
  readonly types: TypeSource;
  readonly streams: Streams;
  readonly counts: Counts;
}

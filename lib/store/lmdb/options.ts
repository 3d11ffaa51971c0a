// The options of the LMDB stores, in a file without the types of `lmdb`, which not every compiler accepts.

import type { Clock } from '../../clock.ts';

/** Where an LMDB store is, and its clock. */
export interface LmdbOptions {
  /** The folder of the database; created when missing. */
  readonly path: string;
  /** Decides what has expired. @default the system's clock */
  readonly clock?: Pick<Clock, 'now'>;
}

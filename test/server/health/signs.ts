// What tells operators of trouble: a row for each kind, of which every cell is seen by the test of this folder and shown in the
// operators' guide.

/** How one kind of trouble is told. */
export interface Signs {
  readonly trouble: string;
  /** Where a page says it, and with which words; undefined where no page can. */
  readonly page?: { readonly path: '/' | '/inspector'; readonly says: string };
  /** A line of /metrics; undefined where there is nobody to ask. */
  readonly metric?: string;
  /** Of server/deploy/alerts.yaml. */
  readonly alert: string;
  /** Words of a line of the log. */
  readonly log: string;
}

export const SIGNS = {
  disk: {
    trouble: 'the disk is full (LMDB)',
    page: { path: '/', says: 'Sessions in LMDB: the store refuses writes' },
    metric: 'twinline_store_up{store="sessions",kind="lmdb"} 0',
    alert: 'TwinlineStoreAway',
    log: 'a store is away',
  },
  redis: {
    trouble: 'Redis is frozen',
    page: { path: '/', says: 'Sessions in Redis: the store does not answer' },
    metric: 'twinline_store_up{store="sessions",kind="redis"} 0',
    alert: 'TwinlineStoreAway',
    log: 'a store is away',
  },
  mongo: {
    trouble: 'MongoDB is gone',
    page: { path: '/', says: 'Documents in MongoDB: the store' },
    metric: 'twinline_store_up{store="documents",kind="mongo"} 0',
    alert: 'TwinlineStoreAway',
    log: 'a store is away',
  },
  key: {
    trouble: 'an instance has another PIN key than its stores',
    alert: 'TwinlineAway',
    log: 'PIN_ENCRYPTION_KEY',
  },
  edit: {
    trouble: 'an edit of a menu is refused',
    page: { path: '/', says: 'An edit is not served' },
    metric: 'twinline_menu_problems 1',
    alert: 'TwinlineMenuRefused',
    log: 'menus with errors stay as they were',
  },
  service: {
    trouble: 'a service that menus call fails',
    page: { path: '/inspector', says: 'a call failed' },
    metric: 'twinline_service_calls_total{service="shop.buy",outcome="failed"} 1',
    alert: 'TwinlineServiceFails',
    log: 'a service failed',
  },
} as const satisfies { readonly [trouble: string]: Signs };

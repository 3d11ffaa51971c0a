// What tells operators of trouble: a row for each incident, of which every cell is seen by the test of this folder and shown in the
// operators' guide.

/** How one kind of trouble is told. */
export interface Signs {
  readonly trouble: string;
  /** Where a page says it, and with which words; undefined where no page can. */
  readonly page?: { readonly path: '/' | '/inspector'; readonly says: string };
  /** What to run beside the server, and words of what it prints. */
  readonly command: { readonly run: string; readonly says: string };
  /** A line of /metrics, with a whole number; undefined where there is nobody to ask. */
  readonly metric?: string;
  /** Of server/deploy; undefined where nothing fires, as for one caller. */
  readonly alert?: string;
  /** Words of a line of the log. */
  readonly log: string;
}

const READY = 'curl -s http://127.0.0.1:3000/readyz';
const DOCTOR = 'npx twinline doctor';
const CALLER = 'npx twinline caller +260971230001';

export const SIGNS = {
  caller: {
    trouble: 'a caller complains',
    page: { path: '/inspector', says: 'main@1 go → sorry · end' },
    command: { run: CALLER, says: 'main@1 go → sorry, end' },
    metric: 'twinline_sessions_ended_total{flow="main",screen="sorry"} 1',
    log: '"from":"go","to":"sorry","outcome":"end"',
  },
  service: {
    trouble: 'a provider is down: a service that menus call fails',
    page: { path: '/inspector', says: 'service shop.buy ERR_SERVICE' },
    command: { run: CALLER, says: 'service shop.buy ERR_SERVICE' },
    metric: 'twinline_service_calls_total{service="shop.buy",outcome="failed"} 1',
    alert: 'TwinlineServiceFails',
    log: 'a service failed',
  },
  redis: {
    trouble: 'Redis fails over, or is frozen',
    page: { path: '/', says: 'Sessions in Redis: the store does not answer' },
    command: { run: DOCTOR, says: '✗ Redis redis://127.0.0.1' },
    metric: 'twinline_store_up{store="sessions",kind="redis"} 0',
    alert: 'TwinlineStoreAway',
    log: 'a store is away',
  },
  mongo: {
    trouble: 'MongoDB is away',
    page: { path: '/', says: 'Documents in MongoDB: the store' },
    command: { run: DOCTOR, says: '✗ MongoDB mongodb://127.0.0.1' },
    metric: 'twinline_store_up{store="documents",kind="mongo"} 0',
    alert: 'TwinlineStoreAway',
    log: 'a store is away',
  },
  disk: {
    trouble: 'the disk is full (LMDB)',
    page: { path: '/', says: 'Sessions in LMDB: the store refuses writes' },
    command: { run: READY, says: 'refuses-writes' },
    metric: 'twinline_store_up{store="sessions",kind="lmdb"} 0',
    alert: 'TwinlineStoreAway',
    log: 'a store is away',
  },
  key: {
    trouble: 'an instance has another PIN key than its stores',
    command: { run: DOCTOR, says: '✗ The stored PINs need the key' },
    alert: 'TwinlineAway',
    log: 'PIN_ENCRYPTION_KEY',
  },
  dropped: {
    trouble: 'a PIN key was dropped that accounts still need',
    page: { path: '/inspector', says: 'service account.verifyPin ERR_PIN' },
    command: { run: DOCTOR, says: '✗ The key "old" is not configured, and only it opens some data' },
    metric: 'twinline_errors_total{where="account"} 1',
    alert: 'TwinlineAccountUnopened',
    log: 'a stored PIN cannot be opened',
  },
  edit: {
    trouble: 'an edit of a menu is refused',
    page: { path: '/', says: 'An edit is not served' },
    command: { run: 'npx twinline lint', says: '1 error' },
    metric: 'twinline_menu_problems 1',
    alert: 'TwinlineMenuRefused',
    log: 'menus with errors stay as they were',
  },
  clock: {
    trouble: 'the clock of a machine is ahead',
    page: { path: '/', says: 'The clock of Redis is 300 s behind that of this machine' },
    command: { run: DOCTOR, says: '✗ the clock of Redis is' },
    metric: 'twinline_clock_offset_seconds{store="sessions",kind="redis"} -300',
    alert: 'TwinlineClockWrong',
    log: 'run NTP',
  },
  attack: {
    trouble: 'a stranger speaks for callers',
    command: { run: 'curl -s http://127.0.0.1:3000/metrics', says: 'reason="address"} 1' },
    metric: 'twinline_ussd_refused_total{dialect="africastalking",reason="address"} 1',
    alert: 'TwinlineGatewayRefused',
    log: 'refused a USSD request',
  },
} as const satisfies { readonly [incident: string]: Signs };

// When each alert fires and when it does not: series as promtool writes them, one value a minute.

export interface AlertCase {
  readonly when: string;
  /** Values by series: `0+60x10` begins at 0 and adds 60 ten times. */
  readonly series: { readonly [series: string]: string };
  /** When it is looked at. */
  readonly at: string;
  /** How many alerts of this name fire then. */
  readonly firing: number;
}

const up = (instance: string) => `up{job="twinline",instance="${instance}"}`;
const turns = (outcome: string) => `twinline_ussd_turns_total{instance="a",outcome="${outcome}"}`;
const slowTurns = (metric: string, le: string) => `${metric}_bucket{instance="a",le="${le}"}`;
const refused = (why: string) => `twinline_refused_total{instance="a",why="${why}"}`;

export const ALERT_CASES: { readonly [alert: string]: readonly AlertCase[] } = {
  TwinlineAway: [
    { when: 'one of two is away', series: { [up('a')]: '0x5', [up('b')]: '1x5' }, at: '3m', firing: 1 },
    { when: 'it was away for one look', series: { [up('a')]: '1 0 1 1 1 1' }, at: '3m', firing: 0 },
  ],
  TwinlineAllAway: [
    { when: 'none answers', series: { [up('a')]: '0x5', [up('b')]: '0x5' }, at: '3m', firing: 1 },
    { when: 'none is known', series: { 'up{job="other"}': '1x5' }, at: '3m', firing: 1 },
    { when: 'one of two answers', series: { [up('a')]: '0x5', [up('b')]: '1x5' }, at: '3m', firing: 0 },
  ],
  TwinlineStoreAway: [
    {
      when: 'one of two is away',
      series: { 'twinline_store_up{store="sessions"}': '0x5', 'twinline_store_up{store="documents"}': '1x5' },
      at: '3m',
      firing: 1,
    },
    {
      when: 'it was away for one look',
      series: { 'twinline_store_up{store="sessions"}': '1 0 1 1 1' },
      at: '3m',
      firing: 0,
    },
  ],
  TwinlineTurnsUnavailable: [
    {
      when: 'two of a hundred',
      series: { [turns('continue')]: '0+98x20', [turns('unavailable')]: '0+2x20' },
      at: '15m',
      firing: 1,
    },
    {
      when: 'one of a thousand',
      series: { [turns('continue')]: '0+999x20', [turns('unavailable')]: '0+1x20' },
      at: '15m',
      firing: 0,
    },
  ],
  TwinlineTurnsSlow: [
    {
      when: 'two of a hundred take more than five seconds',
      series: {
        [slowTurns('twinline_ussd_turn_seconds', '2.5')]: '0+98x30',
        [slowTurns('twinline_ussd_turn_seconds', '5')]: '0+98x30',
        [slowTurns('twinline_ussd_turn_seconds', '10')]: '0+100x30',
        [slowTurns('twinline_ussd_turn_seconds', '+Inf')]: '0+100x30',
      },
      at: '25m',
      firing: 1,
    },
    {
      when: 'all take less than one',
      series: {
        [slowTurns('twinline_ussd_turn_seconds', '1')]: '0+100x30',
        [slowTurns('twinline_ussd_turn_seconds', '+Inf')]: '0+100x30',
      },
      at: '25m',
      firing: 0,
    },
  ],
  TwinlineCallersGone: [
    { when: 'a day of turns, then none', series: { [turns('continue')]: '0+60x1500 90000x60' }, at: '26h', firing: 1 },
    {
      when: 'turns, and then instances without any',
      series: { [turns('continue')]: '0+60x1500 stale' },
      at: '25h40m',
      firing: 1,
    },
    { when: 'nobody dialled yesterday either', series: { [turns('continue')]: '5x1600' }, at: '26h', firing: 0 },
    { when: 'turns go on', series: { [turns('continue')]: '0+60x1600' }, at: '26h', firing: 0 },
  ],
  TwinlineGatewayRefused: [
    {
      when: 'two a minute',
      series: { 'twinline_ussd_refused_total{dialect="hubtel",reason="secret"}': '0+2x20' },
      at: '16m',
      firing: 1,
    },
    {
      when: 'a stranger tries now and then',
      series: { 'twinline_ussd_refused_total{dialect="hubtel",reason="secret"}': '3x10 4x10' },
      at: '16m',
      firing: 0,
    },
  ],
  TwinlineErrors: [
    {
      when: 'one a minute, in two places',
      series: { 'twinline_errors_total{where="ussd"}': '0+1x20', 'twinline_errors_total{where="sweep"}': '0+1x20' },
      at: '16m',
      firing: 2,
    },
    { when: 'one', series: { 'twinline_errors_total{where="ussd"}': '0x5 1x20' }, at: '16m', firing: 0 },
  ],
  TwinlineRequestsFail: [
    {
      when: 'one of ten',
      series: {
        'twinline_http_requests_total{status="200"}': '0+9x20',
        'twinline_http_requests_total{status="503"}': '0+1x20',
      },
      at: '15m',
      firing: 1,
    },
    {
      when: 'clients make mistakes',
      series: {
        'twinline_http_requests_total{status="200"}': '0+5x20',
        'twinline_http_requests_total{status="404"}': '0+5x20',
        'twinline_http_requests_total{status="500"}': '0x20',
      },
      at: '15m',
      firing: 0,
    },
  ],
  TwinlineOverloaded: [
    { when: 'ten a second', series: { [refused('overload')]: '0+600x20' }, at: '12m', firing: 1 },
    {
      when: 'only clients are limited',
      series: { [refused('address')]: '0+600x20', [refused('overload')]: '0x20' },
      at: '12m',
      firing: 0,
    },
  ],
  TwinlineClientsLimited: [
    { when: 'two a second for half an hour', series: { [refused('address')]: '0+120x40' }, at: '30m', firing: 1 },
    {
      when: 'two a second for ten minutes',
      series: { [refused('address')]: '0+120x10 1200x30' },
      at: '30m',
      firing: 0,
    },
  ],
  TwinlineEventLoopLate: [
    {
      when: 'half a second',
      series: { 'twinline_event_loop_delay_seconds{instance="a"}': '0.5x20' },
      at: '12m',
      firing: 1,
    },
    {
      when: '21 milliseconds',
      series: { 'twinline_event_loop_delay_seconds{instance="a"}': '0.021x20' },
      at: '12m',
      firing: 0,
    },
  ],
  TwinlineMemoryHigh: [
    {
      when: '500 MB',
      series: { 'process_resident_memory_bytes{job="twinline",instance="a"}': '500000000x30' },
      at: '20m',
      firing: 1,
    },
    {
      when: 'another program',
      series: { 'process_resident_memory_bytes{job="other",instance="a"}': '500000000x30' },
      at: '20m',
      firing: 0,
    },
    {
      when: '200 MB',
      series: { 'process_resident_memory_bytes{job="twinline",instance="a"}': '200000000x30' },
      at: '20m',
      firing: 0,
    },
  ],
  TwinlineRestarts: [
    {
      when: 'four times',
      series: { 'process_cpu_seconds_total{job="twinline",instance="a"}': '9 1 9 1 9 1 9 1 9' },
      at: '10m',
      firing: 1,
    },
    {
      when: 'an update',
      series: { 'process_cpu_seconds_total{job="twinline",instance="a"}': '9 10 11 1 2 3 4 5 6' },
      at: '10m',
      firing: 0,
    },
  ],
  TwinlineDiskFull: [
    {
      when: '100 MiB are left',
      series: { 'twinline_disk_free_bytes{instance="a"}': '104857600x20' },
      at: '10m',
      firing: 1,
    },
    {
      when: '5 GiB are left',
      series: { 'twinline_disk_free_bytes{instance="a"}': '5368709120x20' },
      at: '10m',
      firing: 0,
    },
  ],
  TwinlineServiceFails: [
    {
      when: 'half of the tries fail',
      series: {
        'twinline_service_calls_total{service="bills.find",outcome="answered"}': '0+30x40',
        'twinline_service_calls_total{service="bills.find",outcome="failed"}': '0+30x40',
      },
      at: '30m',
      firing: 1,
    },
    {
      when: 'one of a hundred is late',
      series: {
        'twinline_service_calls_total{service="bills.find",outcome="answered"}': '0+99x40',
        'twinline_service_calls_total{service="bills.find",outcome="late"}': '0+1x40',
      },
      at: '30m',
      firing: 0,
    },
  ],
  TwinlineMenuRefused: [
    { when: 'a problem stays', series: { 'twinline_menu_problems{instance="a"}': '2x40' }, at: '30m', firing: 1 },
    {
      when: 'it is mended in time',
      series: { 'twinline_menu_problems{instance="a"}': '2x5 0x30' },
      at: '30m',
      firing: 0,
    },
  ],
  TwinlineWebhooksDead: [
    { when: 'letters stay', series: { 'twinline_webhook_dead_letters{instance="a"}': '3x40' }, at: '30m', firing: 1 },
    { when: 'there are none', series: { 'twinline_webhook_dead_letters{instance="a"}': '0x40' }, at: '30m', firing: 0 },
  ],
  TwinlineTokensRefused: [
    {
      when: 'two a second',
      series: { 'twinline_tokens_refused_total{reason="expired"}': '0+120x40' },
      at: '30m',
      firing: 1,
    },
    {
      when: 'one a minute',
      series: { 'twinline_tokens_refused_total{reason="expired"}': '0+1x40' },
      at: '30m',
      firing: 0,
    },
  ],
  TwinlineNodeAway: [
    {
      when: 'the breaker is open',
      series: { 'twinline_gateway_breaker_state{instance="a",state="open"}': '1x10' },
      at: '5m',
      firing: 1,
    },
    {
      when: 'the connection fails',
      series: {
        'twinline_gateway_breaker_state{instance="a",state="open"}': '0x10',
        'twinline_gateway_upstream_state{instance="a",state="failing"}': '1x10',
      },
      at: '5m',
      firing: 1,
    },
    {
      when: 'all is well',
      series: {
        'twinline_gateway_breaker_state{instance="a",state="open"}': '0x10',
        'twinline_gateway_breaker_state{instance="a",state="closed"}': '1x10',
        'twinline_gateway_upstream_state{instance="a",state="failing"}': '0x10',
      },
      at: '5m',
      firing: 0,
    },
  ],
  TwinlineNodeSlow: [
    {
      when: 'two of a hundred take more than five seconds',
      series: {
        [slowTurns('twinline_gateway_upstream_seconds', '5')]: '0+98x30',
        [slowTurns('twinline_gateway_upstream_seconds', '10')]: '0+100x30',
        [slowTurns('twinline_gateway_upstream_seconds', '+Inf')]: '0+100x30',
      },
      at: '25m',
      firing: 1,
    },
    {
      when: 'all take less than one',
      series: {
        [slowTurns('twinline_gateway_upstream_seconds', '1')]: '0+100x30',
        [slowTurns('twinline_gateway_upstream_seconds', '+Inf')]: '0+100x30',
      },
      at: '25m',
      firing: 0,
    },
  ],
  TwinlineNodeBehind: [
    {
      when: 'readers see one height',
      series: {
        'twinline_gateway_block_height{instance="a"}': '700x30',
        'twinline_gateway_reads_total{instance="a",from="node"}': '0+60x30',
      },
      at: '20m',
      firing: 1,
    },
    {
      when: 'the chain goes on',
      series: {
        'twinline_gateway_block_height{instance="a"}': '700+1x30',
        'twinline_gateway_reads_total{instance="a",from="node"}': '0+60x30',
      },
      at: '20m',
      firing: 0,
    },
    {
      when: 'nobody reads',
      series: {
        'twinline_gateway_block_height{instance="a"}': '700x30',
        'twinline_gateway_reads_total{instance="a",from="node"}': '5x30',
      },
      at: '20m',
      firing: 0,
    },
    {
      when: 'no height was ever seen',
      series: {
        'twinline_gateway_block_height{instance="a"}': '0x30',
        'twinline_gateway_reads_total{instance="a",from="node"}': '0+60x30',
      },
      at: '20m',
      firing: 0,
    },
  ],
};

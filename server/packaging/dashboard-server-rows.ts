// The rows of the Grafana dashboard on what all doors share, and on the query gateway.

import { type PanelRow, quantiles, rate } from './dashboard-panels.ts';

export const SERVER_ROWS: readonly PanelRow[] = [
  {
    title: 'HTTP: twins, agent, pages',
    panels: [
      {
        title: 'Answers by status',
        about: 'All routes but those of USSD and of the query gateway.',
        unit: 'reqps',
        lines: { '{{status}}': rate('twinline_http_requests_total', 'status') },
      },
      {
        title: 'Routes with most requests',
        about: 'The ten busiest.',
        unit: 'reqps',
        lines: { '{{method}} {{route}}': `topk(10, ${rate('twinline_http_requests_total', 'method, route')})` },
      },
      {
        title: 'Routes that fail',
        about: 'Answers of 5xx.',
        unit: 'reqps',
        lines: { '{{method}} {{route}}': rate('twinline_http_requests_total', 'method, route', 'status=~"5.."') },
      },
      {
        title: 'Tokens',
        about: 'Of users of the agent service: accepted by kind, refused by reason; delegations that were revoked.',
        unit: 'reqps',
        lines: {
          '{{token}}': rate('twinline_tokens_accepted_total', 'token'),
          'refused: {{reason}}': rate('twinline_tokens_refused_total', 'reason'),
          revoked: 'sum(rate(twinline_revocations_total{$of}[$__rate_interval]))',
        },
      },
    ],
  },
  {
    title: 'Trouble and limits',
    panels: [
      {
        title: 'Errors',
        about: 'What went wrong inside, by where; each has a line in the log.',
        unit: 'ops',
        lines: { '{{where}}': rate('twinline_errors_total', 'where') },
      },
      {
        title: 'Time of requests',
        about: '95 of 100 take no longer, by the first part of the route; USSD turns have a panel of their own.',
        unit: 's',
        lines: {
          '{{door}}':
            'histogram_quantile(0.95, sum by (le, door) (rate(twinline_http_request_seconds_bucket{$of}[$__rate_interval])))',
        },
      },
      {
        title: 'Files and connections',
        about: 'Open ones, and how many the system allows; at the limit new connections are refused.',
        unit: 'none',
        lines: { 'open, {{instance}}': 'process_open_fds{$of}', 'allowed, {{instance}}': 'process_max_fds{$of}' },
      },
      {
        title: 'Lines of the log that were lost',
        about: 'Its disk is full, or nobody reads it.',
        unit: 'ops',
        lines: { '{{instance}}': rate('twinline_log_lines_lost_total', 'instance') },
      },
      {
        title: 'Turned away',
        about: 'By what there was too much of.',
        unit: 'reqps',
        lines: { '{{why}}': rate('twinline_refused_total', 'why') },
      },
      {
        title: 'Connections cut',
        about: 'Clients that did not read their answers.',
        unit: 'ops',
        lines: { '{{reason}}': rate('twinline_connections_cut_total', 'reason') },
      },
      {
        title: 'Answers that wait to be read',
        about: 'Of 256 MiB; beyond them large answers get 503.',
        unit: 'bytes',
        lines: { '{{instance}}': 'twinline_unsent_bytes{$of}' },
      },
      {
        title: 'Streams and sockets',
        about: 'That are open.',
        unit: 'none',
        lines: { '{{instance}}': 'twinline_live_streams{$of}' },
      },
    ],
  },
  {
    title: 'Instances',
    panels: [
      {
        title: 'Stores',
        about: '1 while a store answers and takes writes.',
        unit: 'none',
        lines: { '{{instance}} {{store}} ({{kind}})': 'twinline_store_up{$of}' },
      },
      {
        title: 'Stores that are damaged',
        about: '1 once damage was met, until a start on sound files.',
        unit: 'none',
        lines: { '{{instance}} {{store}} ({{kind}})': 'twinline_store_damaged{$of}' },
      },
      {
        title: 'Clocks of stores',
        about:
          'Their time minus that of the instance. Sessions in Redis go by the clock of Redis, all else by that of the instance.',
        unit: 's',
        lines: { '{{instance}} {{store}} ({{kind}})': 'twinline_clock_offset_seconds{$of}' },
      },
      {
        title: 'Requests being worked on',
        about: 'At this moment.',
        unit: 'short',
        lines: { '{{instance}}': 'twinline_requests_in_flight{$of}' },
      },
      {
        title: 'Delay of the event loop',
        about: '99th percentile: how late an instance comes to everything.',
        unit: 's',
        lines: { '{{instance}}': 'twinline_event_loop_delay_seconds{$of}' },
      },
      {
        title: 'CPU',
        about: 'Cores in use.',
        unit: 'short',
        lines: { '{{instance}}': rate('process_cpu_seconds_total', 'instance') },
      },
      {
        title: 'Memory',
        about: 'Resident; mapped pages of LMDB count.',
        unit: 'bytes',
        lines: { '{{instance}}': 'process_resident_memory_bytes{$of}' },
      },
      {
        title: 'Heap',
        about: 'Of JavaScript, and what it holds outside.',
        unit: 'bytes',
        lines: {
          '{{instance}} used': 'nodejs_heap_size_used_bytes{$of}',
          '{{instance}} whole': 'nodejs_heap_size_total_bytes{$of}',
          '{{instance}} outside': 'nodejs_external_memory_bytes{$of}',
        },
      },
      {
        title: 'Free disk',
        about: 'For DATA_DIR.',
        unit: 'bytes',
        lines: { '{{instance}}': 'twinline_disk_free_bytes{$of}' },
      },
      {
        title: 'What runs',
        about: 'Versions, and the Node that they run on: more than one during a roll-out.',
        unit: 'short',
        lines: { '{{version}} on Node {{node}}': 'sum by (version, node) (twinline_build_info{$of})' },
      },
      {
        title: 'Time since the start',
        about: 'A line that falls to 0 is a restart.',
        unit: 's',
        lines: { '{{instance}}': 'time() - process_start_time_seconds{$of}' },
      },
    ],
  },
  {
    title: 'Query gateway',
    panels: [
      {
        title: 'Requests by status',
        about: 'Only where GATEWAY_FILE is set.',
        unit: 'reqps',
        lines: { '{{status}}': rate('twinline_gateway_requests_total', 'status') },
      },
      {
        title: 'Where answers come from',
        about: 'The node, the cache, or a call that several readers share.',
        unit: 'reqps',
        lines: { '{{from}}': rate('twinline_gateway_reads_total', 'from') },
      },
      {
        title: 'Time of the node',
        about: 'For one call.',
        unit: 's',
        lines: quantiles('twinline_gateway_upstream_seconds'),
      },
      {
        title: 'State of the node',
        about: 'The breaker is open while the node is left alone.',
        unit: 'none',
        lines: {
          '{{instance}} breaker {{state}}': 'twinline_gateway_breaker_state{$of} == 1',
          '{{instance}} connection {{state}}': 'twinline_gateway_upstream_state{$of} == 1',
        },
      },
      {
        title: 'Calls',
        about: 'Running, and not made.',
        unit: 'short',
        lines: {
          '{{instance}} running': 'twinline_gateway_calls_running{$of}',
          'refused a second, {{reason}}': rate('twinline_gateway_calls_refused_total', 'reason'),
        },
      },
      {
        title: 'Calls by code',
        about: 'How calls of the node ended: gRPC codes that the node gave, or the channel to it.',
        unit: 'reqps',
        lines: { '{{from}} {{code}}': rate('twinline_gateway_calls_ended_total', 'from, code') },
      },
      {
        title: 'Cache',
        about: 'Bytes of the answers that are kept.',
        unit: 'bytes',
        lines: { '{{instance}}': 'twinline_gateway_cache_bytes{$of}' },
      },
      {
        title: 'Answers in the cache',
        about: 'How many are kept.',
        unit: 'short',
        lines: { '{{instance}}': 'twinline_gateway_cache_entries{$of}' },
      },
      {
        title: 'Height',
        about: 'The largest that was seen: a line that does not rise is a chain that stands still.',
        unit: 'none',
        lines: { '{{instance}}': 'twinline_gateway_block_height{$of}' },
      },
    ],
  },
];

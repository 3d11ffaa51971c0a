// What the Grafana dashboard shows, row by row. To show more, add a panel or a row here: `npm run guides` writes the file.

import { type PanelRow, quantiles, rate, share } from './dashboard-panels.ts';
import { SERVER_ROWS } from './dashboard-server-rows.ts';

/** In their order. */
export const DASHBOARD_ROWS: readonly PanelRow[] = [
  {
    title: 'At a glance',
    panels: [
      {
        title: 'Instances',
        about: 'Those that answer Prometheus.',
        unit: 'short',
        as: 'number',
        lines: { up: 'sum(up{$of})' },
      },
      {
        title: 'Stores away',
        about: 'Above 0 callers hear that the service is unavailable, or calls of menus fail.',
        unit: 'short',
        as: 'number',
        lines: { away: 'count(twinline_store_up{$of} == 0) or vector(0)' },
      },
      {
        title: 'Turns that failed',
        about: 'Share of USSD requests that were answered with "temporarily unavailable".',
        unit: 'percentunit',
        as: 'number',
        lines: {
          failed: share(
            `(${rate('twinline_ussd_turns_total', '', 'outcome="unavailable"')} or vector(0))`,
            rate('twinline_ussd_turns_total'),
          ),
        },
      },
    ],
  },
  {
    title: 'USSD',
    panels: [
      {
        title: 'Turns by outcome',
        about: 'continue and end are served callers; invalid, limited and forbidden were not let in.',
        unit: 'reqps',
        lines: { '{{outcome}}': rate('twinline_ussd_turns_total', 'outcome') },
      },
      {
        title: 'Dials by dialect',
        about: 'First requests of a session.',
        unit: 'reqps',
        lines: { '{{dialect}}': rate('twinline_ussd_sessions_started_total', 'dialect') },
      },
      {
        title: 'Time of a turn',
        about: 'From request to answer; gateways wait for USSD_TURN_DEADLINE_MS at most.',
        unit: 's',
        lines: quantiles('twinline_ussd_turn_seconds'),
      },
      {
        title: 'Gateways that are not listed',
        about: 'Requests that USSD_GATEWAYS does not let in.',
        unit: 'reqps',
        lines: { '{{dialect}} {{reason}}': rate('twinline_ussd_refused_total', 'dialect, reason') },
      },
    ],
  },
  {
    title: 'Menus',
    panels: [
      {
        title: 'Living sessions',
        about: 'Of all phones, as one instance counts them, up to 10,000.',
        unit: 'short',
        lines: { sessions: 'max(twinline_ussd_sessions{$of})' },
      },
      {
        title: 'Where callers leave',
        about: 'Screens that were shown and not answered, a second: the ten with the most.',
        unit: 'reqps',
        lines: {
          '{{flow}} {{screen}}': `topk(10, ${rate('twinline_screens_shown_total', 'flow, screen')} - (${rate('twinline_screens_answered_total', 'flow, screen')} or 0 * ${rate('twinline_screens_shown_total', 'flow, screen')}))`,
        },
      },
      {
        title: 'Where sessions end',
        about: 'Last screens: the ten with the most.',
        unit: 'reqps',
        lines: { '{{flow}} {{screen}}': `topk(10, ${rate('twinline_sessions_ended_total', 'flow, screen')})` },
      },
      {
        title: 'Calls of services',
        about: 'Tries by service and outcome; late ones ended after the caller had stopped waiting.',
        unit: 'reqps',
        lines: { '{{service}} {{outcome}}': rate('twinline_service_calls_total', 'service, outcome') },
      },
      {
        title: 'Time of services',
        about: '95 of 100 tries take no longer.',
        unit: 's',
        lines: {
          '{{service}}': `histogram_quantile(0.95, sum by (le, service) (rate(twinline_service_call_seconds_bucket{$of}[$__rate_interval])))`,
        },
      },
      {
        title: 'Edits of menus',
        about: 'Problems keep an edited menu from being served; callers get the version before it.',
        unit: 'short',
        lines: {
          'problems, {{instance}}': 'twinline_menu_problems{$of}',
          '{{outcome}} in 5 minutes': 'sum by (outcome) (increase(twinline_menu_edits_total{$of}[5m]))',
        },
      },
    ],
  },
  {
    title: 'Waiting work',
    panels: [
      {
        title: 'Proposals and runs',
        about: 'Proposals that are not decided; messages to the agent that are answered or stand in line.',
        unit: 'short',
        lines: { proposals: 'max(twinline_proposals_open{$of})', runs: 'max(twinline_agent_runs{$of})' },
      },
      {
        title: 'Webhooks',
        about: 'Those that deliver or try again, and events that could not be delivered.',
        unit: 'short',
        lines: {
          waiting: 'max(twinline_webhooks_waiting{$of})',
          'dead letters': 'max(twinline_webhook_dead_letters{$of})',
        },
      },
      {
        title: 'Votes and decisions',
        about: 'Ballots that were cast, and proposals by the state that they have come to, in 5 minutes.',
        unit: 'short',
        lines: {
          ballots: 'sum(increase(twinline_votes_total{$of}[5m]))',
          '{{state}}': 'sum by (state) (increase(twinline_proposals_total{$of}[5m]))',
        },
      },
      {
        title: 'Deliveries to webhooks',
        about: 'Tries by how they ended; a dead one is not tried again.',
        unit: 'reqps',
        lines: { '{{result}}': rate('twinline_webhook_tries_total', 'result') },
      },
      {
        title: 'Answers of the agent',
        about: 'That have ended, by how; frames that were written for them.',
        unit: 'reqps',
        lines: {
          '{{status}}': rate('twinline_agent_runs_ended_total', 'status'),
          frames: 'sum(rate(twinline_agent_frames_total{$of}[$__rate_interval]))',
        },
      },
      {
        title: 'Tokens of the model',
        about: 'As the model counts them.',
        unit: 'short',
        lines: { '{{direction}}': rate('twinline_model_tokens_total', 'direction') },
      },
    ],
  },
  ...SERVER_ROWS,
];

// The Grafana dashboard as Grafana imports it, from the rows of dashboard-rows.ts: places, ids, data source, variables.

import type { Panel, PanelRow } from './dashboard-panels.ts';
import { DASHBOARD_ROWS } from './dashboard-rows.ts';

/** Of Grafana's grid. */
const WIDTH = 24;
const HEIGHT = { number: 4, lines: 8 } as const;
const CHOSEN = 'job=~"$job",instance=~"$instance"';
const SOURCE = { type: 'prometheus', uid: '$datasource' } as const;
/** Panels of a row stand beside each other, three to a line. */
const PER_LINE = 3;

/** The dashboard as JSON. */
export function grafanaDashboard(rows: readonly PanelRow[] = DASHBOARD_ROWS): string {
  const dashboard = {
    uid: 'twinline',
    title: 'Twinline',
    description:
      'Made by npm run guides from server/packaging/dashboard-rows.ts. Import it and choose your Prometheus.',
    tags: ['twinline'],
    schemaVersion: 39,
    version: 1,
    editable: true,
    graphTooltip: 1,
    refresh: '30s',
    time: { from: 'now-6h', to: 'now' },
    timezone: 'browser',
    annotations: { list: [] },
    templating: {
      list: [
        { name: 'datasource', label: 'Prometheus', type: 'datasource', query: 'prometheus' },
        variable('job', 'label_values(twinline_requests_in_flight, job)'),
        variable('instance', 'label_values(twinline_requests_in_flight{job=~"$job"}, instance)'),
      ],
    },
    panels: placePanels(rows),
  };
  return `${JSON.stringify(dashboard, null, 2)}\n`;
}

function variable(name: string, query: string) {
  const all = { includeAll: true, multi: true, allValue: '.*', current: { text: 'All', value: '$__all' } };
  return { name, label: name, type: 'query', datasource: SOURCE, query, refresh: 2, sort: 1, ...all };
}

function placePanels(rows: readonly PanelRow[]): object[] {
  const panels: object[] = [];
  let y = 0;
  for (const { title, panels: own } of rows) {
    panels.push({
      id: panels.length + 1,
      type: 'row',
      title,
      collapsed: false,
      panels: [],
      gridPos: { x: 0, y, w: WIDTH, h: 1 },
    });
    y++;
    for (let at = 0; at < own.length; at += PER_LINE) {
      const line = own.slice(at, at + PER_LINE);
      const w = WIDTH / PER_LINE;
      const h = Math.max(...line.map(({ as = 'lines' }) => HEIGHT[as]));
      for (const [column, panel] of line.entries())
        panels.push({ id: panels.length + 1, ...drawn(panel), gridPos: { x: column * w, y, w, h } });
      y += h;
    }
  }
  return panels;
}

function drawn({ title, about, unit, lines, as = 'lines' }: Panel): object {
  return {
    type: as === 'number' ? 'stat' : 'timeseries',
    title,
    description: about,
    datasource: SOURCE,
    fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
    options:
      as === 'number'
        ? { reduceOptions: { calcs: ['lastNotNull'] }, colorMode: 'none' }
        : { legend: { displayMode: 'list', placement: 'bottom' }, tooltip: { mode: 'multi', sort: 'desc' } },
    targets: Object.entries(lines).map(([legendFormat, expr], at) => ({
      refId: String.fromCharCode('A'.charCodeAt(0) + at),
      datasource: SOURCE,
      expr: expr.replaceAll('$of', CHOSEN),
      legendFormat,
    })),
  };
}

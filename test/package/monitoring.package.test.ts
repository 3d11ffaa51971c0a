// The dashboard and the alerts read only metrics and labels that a server gives, and link to sections that there are.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { systemClock } from '../../lib/clock.ts';
import { makeAnchor } from '../../server/docs/markdown.ts';
import { watchClocks } from '../../server/health/clock-watch.ts';
import { createMetrics } from '../../server/telemetry/metrics.ts';
import { processMetrics } from '../../server/telemetry/process-metrics.ts';
import { serviceCalls } from '../../server/telemetry/turn-watch.ts';
import { declaredMetrics, shippedAlerts } from '../guides/metrics.ts';
import { withGateway } from '../server/gateway/place.ts';
import { DIAL } from '../server/support/serve.ts';
import { ROOT } from './manifest.ts';
import { parsePromql } from './promql.ts';

const test = suite('monitoring');

interface DrawnPanel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly gridPos: Readonly<Record<'x' | 'y' | 'w' | 'h', number>>;
  readonly targets?: readonly { readonly expr: string; readonly refId: string; readonly legendFormat: string }[];
}
const dashboard = JSON.parse(readFileSync(join(ROOT, 'server/deploy/grafana-dashboard.json'), 'utf8')) as {
  readonly panels: readonly DrawnPanel[];
  readonly templating: { readonly list: readonly { readonly name: string; readonly query: string }[] };
};
const alerts = shippedAlerts();

/** What Prometheus adds to every series. */
const ADDED = ['job', 'instance'];
/** In the place of what Grafana knows. */
const inGrafana = (expr: string) => expr.replaceAll('$__rate_interval', '5m');

/** What a server with all its doors says of itself once each of them was used. */
async function renderedMetrics(): Promise<string> {
  const told = createMetrics();
  // What is hard to bring about from outside.
  told.forbidden('hubtel', 'secret');
  told.problem('sweep');
  told.cut('unread' as never);
  const calls = serviceCalls();
  await calls.watch({ 'bills.find': async () => null })['bills.find']!({}, {
    signal: new AbortController().signal,
  } as never);
  const stored = { sessions: 0, proposals: 0, deliveries: 0, deadLetters: 0, runs: 0 };
  const offset = { offsetMs: () => 0, measure: async () => {} };
  const clocks = watchClocks([{ keeps: 'sessions', kind: 'remote', clock: offset as never }], {
    clock: systemClock,
    log: { warn() {}, info() {} } as never,
  });
  clocks.stop();
  const own = processMetrics({ version: '1', dataDir: '.', clock: systemClock, countStored: async () => stored });
  own.metrics();
  return withGateway({}, async ({ server }) => {
    for (const sessionId of ['a', 'b', 'c', 'd']) await server.ussd({ ...DIAL, sessionId });
    await server.ask('/sessions', { headers: { authorization: 'Bearer x', 'x-auth-type': 'ucan' } });
    await server.ask('/grove/v1/none');
    await server.ask('/health');
    // A session that ends, a call of a service, and the counts that are renewed behind an answer.
    for (const text of ['', '*']) await server.ussd({ ...DIAL, sessionId: 'e', text });
    await server.ask('/metrics');
    await new Promise((resolve) => setTimeout(resolve, 300));
    return `${(await server.ask('/metrics')).text}\n${await told.render()}\n${[...calls.metrics(), ...own.metrics(), ...clocks.metrics()].join('\n')}`;
  });
}

const typesIn = (text: string) =>
  new Map([...text.matchAll(/^# TYPE (\w+) (\w+)$/gm)].map(([, name, type]) => [name!, type!]));

/** Labels of the samples, by the name of the series. */
function labelsIn(text: string): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>();
  for (const [, name, labels = ''] of text.matchAll(/^(\w+)(?:\{(.*)\})? \S+$/gm)) {
    const names = found.get(name!) ?? new Set<string>();
    for (const [, label] of labels.matchAll(/(\w+)="/g)) names.add(label!);
    found.set(name!, names);
  }
  return found;
}

const text = await renderedMetrics();
const types = typesIn(text);
const labels = labelsIn(text);
const metricOf = (series: string) => {
  const cut = series.replace(/_(bucket|sum|count)$/, '');
  return types.get(cut) === 'histogram' ? cut : series;
};

test('the source declares every metric that a server renders, and no other, with their types', () =>
  assert.equal(
    Object.fromEntries(declaredMetrics().map(({ name, type }) => [name, type])),
    Object.fromEntries([...types].sort()),
  ));

/** What is wrong with an expression, in words. */
function problemsOf(expr: string): string[] {
  const { selectors, grouping } = parsePromql(expr);
  const known = (metric: string) =>
    metric === 'up' ||
    (types.has(metricOf(metric)) && (metric === metricOf(metric)) === (types.get(metricOf(metric)) !== 'histogram'));
  const labelsOf = (metric: string) => [...ADDED, ...(labels.get(metric) ?? [])];
  const all = selectors.flatMap(({ metric }) => labelsOf(metric));
  return [
    ...selectors.filter(({ metric }) => !known(metric)).map(({ metric }) => `no metric ${metric}`),
    ...selectors.flatMap(({ metric, labels: own }) =>
      own.filter((label) => !labelsOf(metric).includes(label)).map((label) => `no sample of ${metric} with ${label}`),
    ),
    ...grouping.filter((label) => !all.includes(label)).map((label) => `nothing has the label ${label}`),
  ];
}

test('alerts read metrics and labels that there are', () => {
  for (const { alert, expr } of alerts) assert.equal(problemsOf(expr), [], alert);
});

/** The labels that the result of an expression has. */
function labelsLeft(expr: string): string[] {
  const { selectors, grouping } = parsePromql(expr);
  if (grouping.length) return grouping.filter((label) => label !== 'le');
  return [...ADDED, ...selectors.flatMap(({ metric }) => [...(labels.get(metric) ?? [])])];
}

test('alerts describe themselves by labels that are left', () => {
  for (const { alert, expr, annotations } of alerts)
    for (const [, label] of annotations.description.matchAll(/\$labels\.(\w+)/g))
      assert.ok(labelsLeft(expr).includes(label!), `${alert}: ${label}`);
});

test('panels read metrics and labels that there are, and name in legends only labels that are left', () => {
  for (const { title, targets = [] } of dashboard.panels)
    for (const { expr, legendFormat } of targets) {
      assert.equal(problemsOf(inGrafana(expr)), [], title);
      const left = labelsLeft(inGrafana(expr));
      for (const [, label] of legendFormat.matchAll(/\{\{(\w+)\}\}/g))
        assert.ok(left.includes(label!), `${title}: ${label}`);
    }
  for (const { query } of dashboard.templating.list)
    for (const [metric] of query.matchAll(/twinline_\w+/g)) assert.ok(types.has(metric), metric);
});

test('every metric is on the dashboard', () => {
  const expressions = dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => inGrafana(expr)));
  const shown = expressions.flatMap((expr) => parsePromql(expr).selectors.map(({ metric }) => metricOf(metric)));
  const missing = declaredMetrics().filter(({ name }) => !shown.includes(name));
  assert.equal(missing, []);
});

test('each alert says what it is, what to do, and where the operators’ guide has more', () => {
  const guide = readFileSync(join(ROOT, 'server/docs/guides/operators.md'), 'utf8');
  const anchors = [...guide.matchAll(/^#+ (.+)$/gm)].map(([, heading]) => makeAnchor(heading!));
  assert.is(new Set(alerts.map(({ alert }) => alert)).size, alerts.length);
  for (const { alert, labels: own, annotations } of alerts) {
    assert.ok(['critical', 'warning', 'info'].includes(own.severity), alert);
    for (const name of ['summary', 'description', 'action'] as const)
      assert.ok(annotations[name].length > 10, `${alert} ${name}`);
    assert.not.match(annotations.summary + annotations.action, /\{\{/, 'the guide has them as they are');
    const [page, anchor] = annotations.runbook_url.split('#');
    assert.is(page, '{{ $externalLabels.twinline_url }}/docs/guides/operators', alert);
    assert.ok(anchors.includes(anchor!), `${alert}: #${anchor}`);
  }
});

test.run();

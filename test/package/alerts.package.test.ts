// The alerts as Prometheus itself reads them: its own checks, and for each alert when it fires and when it does not.

import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { parse, stringify } from 'yaml';
import { ALERTS_FILE, shippedAlerts } from '../guides/metrics.ts';
import { skipWithout } from '../support/on-path.ts';
import { withFolder } from '../support/process.ts';
import { ROOT } from './manifest.ts';

const test = suite('alerts');

interface AlertCase {
  readonly when: string;
  readonly series: { readonly [series: string]: string };
  readonly at: string;
  readonly firing: number;
}

const ALERT_CASES = parse(readFileSync(join(ROOT, 'test/fixtures/package/alert-cases.yaml'), 'utf8')) as {
  readonly [alert: string]: readonly AlertCase[];
};
const RULES = join(ROOT, ALERTS_FILE);
const LINKED = 'https://ussd.example.com';

test.before(() => skipWithout(['promtool']));

function promtool(...args: readonly string[]): { readonly status: number | null; readonly said: string } {
  const { status, stdout, stderr } = spawnSync('promtool', args, { encoding: 'utf8' });
  return { status, said: stdout + stderr };
}

test('Prometheus takes the rules and the configuration that is shipped', () => {
  const rules = promtool('check', 'rules', RULES);
  assert.is(rules.status, 0, rules.said);
  assert.match(rules.said, new RegExp(`SUCCESS: ${shippedAlerts().length} rules found`));
  const config = promtool('check', 'config', join(ROOT, 'server/deploy/prometheus.yaml'));
  assert.is(config.status, 0, config.said);
  assert.match(config.said, /SUCCESS: 1 rule files found/);
});

/** Whether the alert fires in this case, as promtool is asked it. */
function unitTest(alert: string, { series, at, firing }: AlertCase) {
  return {
    interval: '1m',
    input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
    promql_expr_test: [
      {
        expr: `count(ALERTS{alertname="${alert}",alertstate="firing"})`,
        eval_time: at,
        exp_samples: firing === 0 ? [] : [{ labels: '{}', value: firing }],
      },
    ],
  };
}

test('each alert has a case in which it fires and one in which it does not', () => {
  for (const { alert } of shippedAlerts()) {
    const cases = ALERT_CASES[alert] ?? [];
    assert.ok(cases.some(({ firing }) => firing > 0) && cases.some(({ firing }) => firing === 0), alert);
  }
  assert.equal(
    Object.keys(ALERT_CASES).sort(),
    shippedAlerts()
      .map(({ alert }) => alert)
      .sort(),
  );
});

// Each alert alone: with all of them, promtool evaluates every rule for each minute of a day.
test('each alert fires in its cases, and only then', () =>
  withFolder(async (folder) => {
    const files = shippedAlerts().map((rule) => {
      const rules = join(folder, `${rule.alert}.rules.yaml`);
      writeFileSync(rules, stringify({ groups: [{ name: 'one', rules: [rule] }] }));
      const file = join(folder, `${rule.alert}.test.yaml`);
      const tests = ALERT_CASES[rule.alert]!.map((one) => unitTest(rule.alert, one));
      writeFileSync(file, stringify({ rule_files: [rules], tests }));
      return file;
    });
    const { status, said } = promtool('test', 'rules', ...files);
    assert.is(status, 0, said);
  }));

test('an alert is told with its values, and with a link to the guide on the server', () =>
  withFolder(async (folder) => {
    const { annotations, labels } = shippedAlerts().find(({ alert }) => alert === 'TwinlineStoreAway')!;
    const file = join(folder, 'test.yaml');
    const expected = {
      exp_labels: { ...labels, instance: 'a:9464', store: 'sessions', kind: 'redis' },
      exp_annotations: {
        ...annotations,
        description: 'a:9464 cannot use redis, which stores sessions.',
        runbook_url: `${LINKED}/docs/guides/operators#when-something-is-away`,
      },
    };
    const told = {
      interval: '1m',
      external_labels: { twinline_url: LINKED },
      input_series: [{ series: 'twinline_store_up{instance="a:9464",store="sessions",kind="redis"}', values: '0x5' }],
      alert_rule_test: [{ alertname: 'TwinlineStoreAway', eval_time: '4m', exp_alerts: [expected] }],
    };
    writeFileSync(file, stringify({ rule_files: [RULES], tests: [told] }));
    const { status, said } = promtool('test', 'rules', file);
    assert.is(status, 0, said);
  }));

test.run();

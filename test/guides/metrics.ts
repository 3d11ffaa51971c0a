// The metrics that the source declares, and the alerts that are shipped, as the tables of the operators' guide.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { ROOT } from '../package/manifest.ts';
import { SIGNS, type Signs } from '../server/health/signs.ts';
import { markdownTable } from '../support/markdown-table.ts';

export interface DeclaredMetric {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
}

/** A call that makes the lines of a metric; name and words are texts without variables. */
const DECLARATION = /\b(counter|gauge|histogram)\(\s*'(\w+)',\s*(?:'([^']*)'|"([^"]*)"|`([^`$]*)`)/g;

/** Every metric that the code of the server and of the library renders, sorted. */
export function declaredMetrics(): DeclaredMetric[] {
  return ['lib', 'server']
    .flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((name) => join(ROOT, folder, name)),
    )
    .filter((path) => path.endsWith('.ts'))
    .flatMap((path) => [...readFileSync(path, 'utf8').matchAll(DECLARATION)])
    .map(([, type, name, ...help]) => ({
      name: name!,
      type: type as DeclaredMetric['type'],
      help: help.find((words) => words !== undefined)!,
    }))
    .sort((one, other) => (one.name < other.name ? -1 : 1));
}

export interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly [name in 'summary' | 'description' | 'action' | 'runbook_url']: string };
}

export const ALERTS_FILE = 'server/deploy/helm/alerts.yaml';

/** The alerts of server/deploy. */
export function shippedAlerts(): Alert[] {
  const { groups } = parse(readFileSync(join(ROOT, ALERTS_FILE), 'utf8')) as { groups: { rules: Alert[] }[] };
  return groups.flatMap(({ rules }) => rules);
}

const TABLES: { readonly [name: string]: () => string[] } = {
  metrics: () =>
    markdownTable(
      ['metric', 'type', 'what it says'],
      declaredMetrics().map(({ name, type, help }) => [`\`${name}\``, type, help]),
    ),
  signs: () =>
    markdownTable(
      ['incident', 'a page says', 'a command prints', 'metric', 'alert', 'a line of the log'],
      Object.values<Signs>(SIGNS).map(signRow),
    ),
  alerts: () =>
    markdownTable(
      ['alert', 'severity', 'says', 'what to do'],
      shippedAlerts().map(({ alert, labels, annotations }) => [
        `\`${alert}\``,
        labels.severity,
        annotations.summary,
        annotations.action,
      ]),
    ),
};

function signRow({ trouble, page, command, metric, alert, log }: Signs): string[] {
  const isAlone = metric === undefined;
  const shown = page === undefined ? `none${isAlone ? ': it does not start' : ''}` : `\`${page.path}\`: ${page.says}`;
  return [
    trouble,
    shown,
    `\`${command.run}\`: \`${command.says}\``,
    isAlone ? 'none: `up` is 0' : `\`${metric}\``,
    alert === undefined ? 'none' : `\`${alert}\``,
    `\`${log}\``,
  ];
}

const MADE = /(<!-- npm run guides -- (\w+) -->\n\n)((?:\|.*(?:\n|$))*)/g;

/** The operators' guide with its made tables as they are now. */
export function operatorsGuide(page: string): string {
  return page.replace(MADE, (_whole, comment: string, name: string) => `${comment}${TABLES[name]!().join('\n')}\n`);
}

/** The names of the made tables that a page has. */
export const madeTables = (page: string): string[] => [...page.matchAll(MADE)].map(([, , name]) => name!);

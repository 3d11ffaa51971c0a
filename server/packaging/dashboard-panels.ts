// The panels of the Grafana dashboard: their form, and the PromQL that most of them are made of.

/** How Grafana writes the numbers of a panel. */
export type Unit = 'reqps' | 'ops' | 's' | 'bytes' | 'percentunit' | 'short' | 'none';

export interface Panel {
  readonly title: string;
  /** What a person should see in it. */
  readonly about: string;
  readonly unit: Unit;
  /** PromQL by legend; `{{label}}` in a legend is the value of the label. `$of` stands for the chosen instances. */
  readonly lines: { readonly [legend: string]: string };
  /** One number, or lines over time. @default 'lines' */
  readonly as?: 'number' | 'lines';
}

export interface PanelRow {
  readonly title: string;
  readonly panels: readonly Panel[];
}

/** A second, by these labels. */
export const rate = (metric: string, by = '', matchers = '') =>
  `sum${by && ` by (${by})`} (rate(${metric}{$of${matchers && `,${matchers}`}}[$__rate_interval]))`;
const quantile = (share: number, metric: string) =>
  `histogram_quantile(${share}, sum by (le) (rate(${metric}_bucket{$of}[$__rate_interval])))`;
/** Three lines of a histogram. */
export const quantiles = (metric: string) => ({
  'half of all': quantile(0.5, metric),
  '95 of 100': quantile(0.95, metric),
  '99 of 100': quantile(0.99, metric),
});
/** A part of a whole; nothing where there is no whole. */
export const share = (part: string, whole: string) => `${part} / (${whole} > 0)`;

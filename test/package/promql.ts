// Expressions of PromQL as far as tests look at them: which metrics they read, with which labels.

import { parser } from '@prometheus-io/lezer-promql';

export interface Selector {
  readonly metric: string;
  /** Names of the labels that its matchers compare. */
  readonly labels: readonly string[];
}

export interface Expression {
  readonly selectors: readonly Selector[];
  /** Labels by which something is grouped or joined. */
  readonly grouping: readonly string[];
}

/** Throws for what is no PromQL. */
export function parsePromql(text: string): Expression {
  const selectors: { metric: string; labels: string[] }[] = [];
  const grouping: string[] = [];
  let isGrouping = false;
  parser.parse(text).iterate({
    enter: ({ name, type, from, to }) => {
      const words = text.slice(from, to);
      if (type.isError) throw new Error(`no PromQL at ${from}: ${text}`);
      if (name === 'GroupingLabels') isGrouping = true;
      if (name === 'Identifier') selectors.push({ metric: words, labels: [] });
      if (name === 'LabelName') (isGrouping ? grouping : selectors.at(-1)!.labels).push(words);
    },
    leave: ({ name }) => {
      if (name === 'GroupingLabels') isGrouping = false;
    },
  });
  return { selectors, grouping };
}

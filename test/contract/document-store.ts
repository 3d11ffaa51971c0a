// What every DocumentStore promises; run it with a function that opens the store.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { skipped } from '../support/skip.ts';
import { type OpenDocuments, withDocuments } from './document-bench.ts';
import { DOCUMENT_LIFE } from './document-life.ts';
import { documentModel } from './document-model.ts';
import { DOCUMENT_QUERIES } from './document-queries.ts';
import { DOCUMENT_WRITES } from './document-writes.ts';

const PROMISES = { ...DOCUMENT_WRITES, ...DOCUMENT_QUERIES, ...DOCUMENT_LIFE };

/** Runs the suite. `skip` leaves out promises by their exact sentence, each with a reason. */
export function documentStoreContract(
  name: string,
  open: OpenDocuments,
  { skip = {} }: { skip?: { readonly [promise: string]: string } } = {},
): void {
  const test = suite(`document store ${name}`);

  for (const [sentence, keep] of Object.entries(PROMISES))
    test(sentence, () => {
      if (skip[sentence] !== undefined) skipped(skip[sentence]);
      return withDocuments(open, keep);
    });

  test('any order of calls ends as it does in a plain map', () =>
    documentModel((keep) => withDocuments(open, ({ store }) => keep(store))));

  test('every promise that is skipped exists', () => {
    for (const sentence of Object.keys(skip)) assert.ok(sentence in PROMISES, sentence);
  });

  test.run();
}

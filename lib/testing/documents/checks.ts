// What every DocumentStore promises, as checks for any test runner.

import { type Check, listChecks, type SkipOptions, skipChecks } from '../checks.ts';
import { type OpenDocuments, withDocuments } from './bench.ts';
import { DOCUMENT_LIFE } from './life.ts';
import { DOCUMENT_QUERIES } from './queries.ts';
import { DOCUMENT_WRITES } from './writes.ts';

/**
 * The checks of a DocumentStore. `open` is called for each check, with a new empty folder and a clock that stands still: the same
 * folder again means the same data, another folder other data. Each store that was opened is closed by the check. The last check makes
 * random calls, for which the package `fast-check` must be installed.
 */
export function documentStoreChecks(open: OpenDocuments, options: SkipOptions = {}): Check[] {
  const random: Check = {
    name: 'any order of calls ends as it does in a plain map',
    run: async () => {
      const { documentModel } = await import('../models/documents.ts');
      await documentModel((keep) => withDocuments(open, ({ store }) => keep(store)));
    },
  };
  const promises = { ...DOCUMENT_LIFE, ...DOCUMENT_QUERIES, ...DOCUMENT_WRITES };
  return skipChecks([...listChecks(promises, (keep) => withDocuments(open, keep)), random], options);
}

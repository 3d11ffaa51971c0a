// The tables of the page on performance: each stands below a comment that names its benchmarks.

import { markdownTable } from '../support/markdown-table.ts';

const TABLE = /(<!-- npm run bench -- ([a-z ]+?) -->\n\n)((?:\|.*(?:\n|$))+)/g;

export interface Measured {
  readonly head: readonly string[];
  /** The rows of each benchmark that was measured, by its name. */
  readonly rows: ReadonlyMap<string, readonly (readonly string[])[]>;
}

/** The page with each table replaced whose benchmarks were all measured. */
export function writtenTables(page: string, { head, rows }: Measured): string {
  return page.replace(TABLE, (whole, comment: string, words: string) => {
    const names = words.split(' ');
    if (!names.every((name) => rows.has(name))) return whole;
    return `${comment}${filledTable(
      head,
      names.flatMap((name) => rows.get(name)!),
    ).join('\n')}\n`;
  });
}

/** The lines of a table without the columns that are empty in every row. */
export function filledTable(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const filled = head.map((_, column) => column === 0 || rows.some((row) => row[column] !== ''));
  const keep = (row: readonly string[]) => row.filter((_, column) => filled[column]);
  return markdownTable(keep(head), rows.map(keep));
}

/** The names of the benchmarks of each table. */
export function benchWords(page: string): string[][] {
  return [...page.matchAll(TABLE)].map(([, , words]) => words!.split(' '));
}

// How large the large tests are: a size for every day, and the whole one with WHOLE=true, which `npm run promises` asks for.

/** Whether every case and the largest size is wanted. */
export const isWhole = process.env.WHOLE === 'true';

export function chooseSize(everyDay: number, whole: number): number {
  return isWhole ? whole : everyDay;
}

/**
 * Of two lists the pairs to try: with WHOLE=true each with each; else each of `rows` with one of `columns`, in turn, which in the
 * long run meets every one of them.
 */
export function choosePairs<A, B>(rows: readonly A[], columns: readonly B[]): [A, B][] {
  if (isWhole) return rows.flatMap((row) => columns.map((column): [A, B] => [row, column]));
  return rows.map((row, nth) => [row, columns[nth % columns.length]!]);
}

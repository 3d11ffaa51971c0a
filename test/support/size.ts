// How large the large tests are. The runner chooses: `short` for `npm test`, `day` for the named suites (`npm run test:long`), and
// `npm run promises` asks for `whole`.

export type Size = 'short' | 'day' | 'whole';

const SIZES: readonly Size[] = ['short', 'day', 'whole'];

/** The size of this run. */
export const size: Size = SIZES.find((one) => one === process.env.TEST_SIZE) ?? 'short';
/** Whether every case and the largest size is wanted. */
export const isWhole = size === 'whole';
/** Whether this is `npm test`: one example of each kind is enough. */
export const isShort = size === 'short';

/** The number for the size of this run. */
export function chooseSize(numbers: Readonly<Record<Size, number>>): number {
  return numbers[size];
}

/**
 * Of two lists the pairs to try: in the whole size each with each; else each of `rows` with one of `columns`, in turn, which in the
 * long run meets every one of them.
 */
export function choosePairs<A, B>(rows: readonly A[], columns: readonly B[]): [A, B][] {
  if (isWhole) return rows.flatMap((row) => columns.map((column): [A, B] => [row, column]));
  return rows.map((row, nth) => [row, columns[nth % columns.length]!]);
}

/** In `npm test` every `nth` of the cases, from the first on; in the larger sizes all of them. */
export function sample<T>(cases: readonly T[], nth: number): readonly T[] {
  return isShort ? cases.filter((_, at) => at % nth === 0) : cases;
}

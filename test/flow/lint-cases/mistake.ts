// What a row of the tables of mistakes says.

import type { BaseName } from './bases.ts';

/** What is replaced by what. */
export type Edit = readonly [from: string, to: string];

/**
 * One mistake, put into a flow that has none. Where `‸` stands in `to`, lint must see it, and the first `from` only is replaced; else
 * every one is. Lint must call it an error, or what stands before the code, and name all of `says` in its message or its fix.
 */
export type Mistake = readonly [code: string, ...edit: Edit, says: string | readonly string[], more?: More];

interface More {
  /** The problem stands where this begins for the first time behind the edit, or anywhere. */
  readonly at?: string;
  /** Further edits, everywhere. */
  readonly and?: readonly Edit[];
  /** Codes of what else is wrong then. */
  readonly also?: readonly string[];
  /** What a fix makes of the edit. @default what stood there */
  readonly mended?: string;
}

export type Mistakes = { readonly [base in BaseName]?: readonly Mistake[] };

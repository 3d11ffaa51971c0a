// From what became of the mutants of a group to its verdict: how many were noticed, which were not, and what is said of those.

/** What became of one mutant. */
export interface Mutant {
  readonly file: string;
  readonly line: number;
  /** The line of the source where the mutant begins. */
  readonly at: string;
  /** What stands there, and what the mutant makes of it: `a > b → a >= b`. */
  readonly change: string;
  readonly fate: 'noticed' | 'survived';
}

/** A change that no test can notice, for the code does the same with it. */
export interface Equivalent {
  readonly file: string;
  /** As {@link Mutant.at}; undefined: wherever the change is. */
  readonly at?: string;
  readonly change: string;
  /** Why nothing differs. */
  readonly why: string;
}

export interface Verdict {
  readonly mutants: number;
  readonly noticed: number;
  readonly equivalent: number;
  /** Neither noticed nor declared. */
  readonly survivors: readonly Mutant[];
  /** Declared, but no mutant of these survived. */
  readonly stale: readonly Equivalent[];
  /** Noticed among those that could be, from 0 to 1. */
  readonly share: number;
  readonly passes: boolean;
}

/** The least share of mutants that the tests of a group must notice. */
export const LEAST_SHARE = 0.9;

/** Judges the mutants of a group; `declared` are those of its files. */
export function judge(mutants: readonly Mutant[], declared: readonly Equivalent[]): Verdict {
  const survived = mutants.filter(({ fate }) => fate === 'survived');
  const survivors = survived.filter((mutant) => !declared.some((one) => isSame(one, mutant)));
  const equivalent = survived.length - survivors.length;
  const stale = declared.filter((one) => !survived.some((mutant) => isSame(one, mutant)));
  const noticed = mutants.length - survived.length;
  const able = mutants.length - equivalent;
  const share = able === 0 ? 0 : noticed / able;
  const passes = share >= LEAST_SHARE && stale.length === 0;
  return { mutants: mutants.length, noticed, equivalent, survivors, stale, share, passes };
}

function isSame({ file, at, change }: Equivalent, mutant: Mutant): boolean {
  return file === mutant.file && change === mutant.change && (at === undefined || at === mutant.at);
}

const CHANGE_CHARS = 60;

/** The words of {@link Mutant.change}. */
export function describeChange(original: string, replacement: string): string {
  return [original, replacement].map((code) => shorten(code.replace(/\s+/g, ' ').trim())).join(' → ');
}

function shorten(code: string): string {
  return code.length > CHANGE_CHARS ? `${code.slice(0, CHANGE_CHARS - 1)}…` : code;
}

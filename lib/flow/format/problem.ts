// What is wrong with a flow file: where, what, and what would fix it.

export interface Problem {
  readonly file: string;
  /** 1-based. */
  readonly line: number;
  /** 1-based. */
  readonly column: number;
  /** JSON pointer into the file, such as `/screens/pin/to`. */
  readonly pointer: string;
  /** Stable, such as `dangling-target`. */
  readonly code: string;
  /** An error keeps the flow from being loaded; a warning does not. */
  readonly severity: 'error' | 'warning';
  readonly message: string;
  readonly fix: string;
}

/** `menus/main.flow.json:12:5 error dangling-target: … Fix: …` */
export function problemLine(problem: Problem): string {
  const { file, line, column, severity, code, message, fix } = problem;
  return `${file}:${line}:${column} ${severity} ${code}: ${message} Fix: ${fix}`;
}

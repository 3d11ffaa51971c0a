// What a verb of the command line is.

export interface Verb {
  /** One sentence without a full stop. */
  readonly summary: string;
  /** What follows the verb. */
  readonly usage: string;
  /** Flags and what they do. */
  readonly options: Readonly<Record<string, string>>;
  /** The exit code, or undefined when the process runs on. Throws {@link Usage}, TwinlineError and what parseArgs does. */
  run(args: readonly string[], env: NodeJS.ProcessEnv, invoked?: Invoked): Promise<number | undefined>;
}

/** How a verb was invoked, beside its arguments. */
export interface Invoked {
  /** Files that variables of the environment were read from. */
  readonly envFiles?: readonly string[];
}

/** Thrown for arguments that make no sense together; the help of the verb is shown with it. */
export class Usage extends Error {
  override readonly name = 'Usage' as const;
}

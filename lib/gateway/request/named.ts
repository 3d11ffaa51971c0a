// Errors of a part, with the name of the part before what they say.

/** Gives what `work` gives; an Error that it throws is told again as `name: message`. */
export function named<Result>(name: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw new Error(`${name}: ${(error as Error).message}`);
  }
}

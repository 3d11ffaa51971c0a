// "Did you mean": finds the nearest of a list of known names.

/** ` Did you mean "x"?` for the nearest known name, or '' if none is close. */
export function suggest(name: string, names: Iterable<string>): string {
  const nearest = findNearest(name, names);
  return nearest ? ` Did you mean "${nearest.name}"?` : '';
}

/**
 * The known name with the smallest edit distance, at most a third of the letters; with that distance, and whether it is
 * unique. Undefined if none is close.
 */
export function findNearest(
  name: string,
  names: Iterable<string>,
): { readonly name: string; readonly edits: number; readonly isAlone: boolean } | undefined {
  let best: string | undefined;
  let isAlone = true;
  let fewest = Math.max(1, Math.floor(name.length / 3)) + 0.5;
  if (name.length > 64) return undefined;
  for (const candidate of names) {
    const edits = distance(name.toLowerCase(), candidate.toLowerCase());
    if (edits === fewest) isAlone = false;
    if (edits >= fewest) continue;
    best = candidate;
    isAlone = true;
    fewest = edits;
  }
  return best === undefined ? undefined : { name: best, edits: fewest, isAlone };
}

// Edit distance: insertions, deletions, replacements, and swaps of neighbours.
function distance(from: string, to: string): number {
  let before: number[] = [];
  let previous = Array.from({ length: to.length + 1 }, (_, at) => at);
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    for (let column = 1; column <= to.length; column++) {
      const same = from[row - 1] === to[column - 1] ? 0 : 1;
      let edits = Math.min(previous[column]! + 1, current[column - 1]! + 1, previous[column - 1]! + same);
      const swapped = row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      if (swapped) edits = Math.min(edits, before[column - 2]! + 1);
      current.push(edits);
    }
    before = previous;
    previous = current;
  }
  return previous[to.length]!;
}

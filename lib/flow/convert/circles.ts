// Flows of other programs may enter each other in a circle, ours may not: finds the entries to leave out.

/**
 * For each flow the others that it may not enter, because they lead back to it: of every circle one entry, the one that closes it
 * when all are walked from the first flow on.
 */
export function findCircles(entries: ReadonlyMap<string, readonly string[]>): Map<string, Set<string>> {
  const refused = new Map<string, Set<string>>();
  const done = new Set<string>();
  for (const first of entries.keys()) {
    // Depth first without recursion: each entry of the trail keeps the position of its next way.
    const trail: { id: string; at: number }[] = [];
    const open = new Set<string>();
    const enter = (id: string): void => {
      done.add(id);
      open.add(id);
      trail.push({ id, at: 0 });
    };
    if (!done.has(first)) enter(first);
    for (let top = trail.at(-1); top; top = trail.at(-1)) {
      const next = entries.get(top.id)![top.at++];
      if (next === undefined) {
        open.delete(top.id);
        trail.pop();
      } else if (open.has(next)) {
        const list = refused.get(top.id) ?? new Set();
        refused.set(top.id, list.add(next));
      } else if (!done.has(next) && entries.has(next)) enter(next);
    }
  }
  return refused;
}

// Flows of other programs may call each other in cycles; flows here may not. Finds the calls to remove.

/**
 * For each flow, the flows that it must not call because they lead back to it: the back edges of a depth-first search from the first
 * flow on.
 */
export function findCircles(entries: ReadonlyMap<string, readonly string[]>): Map<string, Set<string>> {
  const refused = new Map<string, Set<string>>();
  const done = new Set<string>();
  for (const first of entries.keys()) {
    // Iterative depth-first search: each entry of the trail remembers its next edge.
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

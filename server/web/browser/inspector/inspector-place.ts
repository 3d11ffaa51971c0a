// Where one is in the inspector; kept in the address, so that a reload or a link leads to the same place.

export interface Place {
  machine?: string | undefined;
  /** The session. */
  actor?: string | undefined;
  /** The id of a moment: time stands still there. Without it the page is live. */
  at?: string | undefined;
  heat: boolean;
}

/** What the address says. `session` names a session as people do; the page looks for it. */
export function readPlace(): Place & { readonly session?: string } {
  const words = new URLSearchParams(location.hash.slice(1));
  const text = (name: string) => words.get(name) ?? undefined;
  const session = text('session');
  return {
    machine: text('machine'),
    actor: text('actor'),
    at: text('at'),
    heat: words.has('heat'),
    ...(session !== undefined && { session }),
  };
}

/** Puts it into the address without a step in the browser's history. */
export function keepPlace({ machine, actor, at, heat }: Place): void {
  const words = new URLSearchParams();
  for (const [name, value] of Object.entries({ machine, actor, at, heat: heat ? '1' : undefined }))
    if (value !== undefined) words.set(name, value);
  const hash = `#${words}`;
  if (hash !== location.hash) history.replaceState(null, '', hash);
}

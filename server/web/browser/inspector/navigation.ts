// Keys of the inspector, and what is looked at, kept in the address: a reload or a link leads to the same.

export type Keys = { readonly [key: string]: () => void };

/** Does what belongs to a key. */
export function keys(actions: Keys): void {
  addEventListener('keydown', (event) => {
    const { key, target, ctrlKey, altKey, metaKey } = event;
    const place = target as HTMLElement;
    if (key === 'Escape' && place instanceof HTMLInputElement) {
      // Browsers would empty it.
      event.preventDefault();
      place.blur();
    }
    if (ctrlKey || altKey || metaKey || isOwn(place, key)) return;
    const action = Object.hasOwn(actions, key) ? actions[key] : undefined;
    if (!action) return;
    event.preventDefault();
    action();
  });
}

function isOwn(place: HTMLElement, key: string): boolean {
  if (place instanceof HTMLInputElement) return place.type !== 'range' || key.startsWith('Arrow');
  if (place instanceof HTMLButtonElement || place instanceof HTMLAnchorElement) return key === ' ' || key === 'Enter';
  // What scrolls keeps the keys that scroll it.
  return place.tabIndex >= 0 && place !== document.body && (key.startsWith('Arrow') || key === ' ');
}

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

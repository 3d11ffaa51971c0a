// Keys of the inspector, and what is looked at, kept in the address: a reload or a link leads to the same.

/** Does what belongs to a key. */
export function listenForKeys(actions: { readonly [key: string]: () => void }): void {
  addEventListener('keydown', (event) => {
    const { key, target, ctrlKey, altKey, metaKey } = event;
    const element = target as HTMLElement;
    if (key === 'Escape' && element instanceof HTMLInputElement) {
      // Browsers would empty it.
      event.preventDefault();
      element.blur();
    }
    if (ctrlKey || altKey || metaKey || needsKey(element, key)) return;
    const action = Object.hasOwn(actions, key) ? actions[key] : undefined;
    if (!action) return;
    event.preventDefault();
    action();
  });
}

function needsKey(element: HTMLElement, key: string): boolean {
  if (element instanceof HTMLInputElement) return element.type !== 'range' || key.startsWith('Arrow');
  if (element instanceof HTMLButtonElement || element instanceof HTMLAnchorElement)
    return key === ' ' || key === 'Enter';
  // What scrolls keeps the keys that scroll it.
  return element.tabIndex >= 0 && element !== document.body && (key.startsWith('Arrow') || key === ' ');
}

export interface ViewState {
  machine?: string | undefined;
  /** The session. */
  actor?: string | undefined;
  /** The id of an event, at which the page stands still. Without it the page is live. */
  at?: string | undefined;
  heat: boolean;
}

/** What the address says. `session` names a session as people do; the page looks for it. */
export function readView(): ViewState & { readonly session?: string } {
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
export function writeView({ machine, actor, at, heat }: ViewState): void {
  const words = new URLSearchParams();
  for (const [name, value] of Object.entries({ machine, actor, at, heat: heat ? '1' : undefined }))
    if (value !== undefined) words.set(name, value);
  const hash = `#${words}`;
  if (hash !== location.hash) history.replaceState(null, '', hash);
}

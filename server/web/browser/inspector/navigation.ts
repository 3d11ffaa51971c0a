// Keyboard shortcuts, and the selection in the address, for reloads and links.

/** Handles a shortcut. */
export function listenForKeys(actions: { readonly [key: string]: () => void }): void {
  addEventListener('keydown', (event) => {
    const { key, target, ctrlKey, altKey, metaKey } = event;
    const element = target as HTMLElement;
    if (key === 'Escape' && element instanceof HTMLInputElement) {
      // Browsers would clear the input.
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
  // Scrollable elements keep the keys that scroll.
  return element.tabIndex >= 0 && element !== document.body && (key.startsWith('Arrow') || key === ' ');
}

export interface ViewState {
  machine?: string | undefined;
  actor?: string | undefined;
  /** Id of the selected event. @default the page is live */
  at?: string | undefined;
  heat: boolean;
}

/** Reads the address. `session` is the id of a phone session, resolved by the page. */
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

/** Writes the address without an entry in the browser's history. */
export function writeView({ machine, actor, at, heat }: ViewState): void {
  const words = new URLSearchParams();
  for (const [name, value] of Object.entries({ machine, actor, at, heat: heat ? '1' : undefined }))
    if (value !== undefined) words.set(name, value);
  const hash = `#${words}`;
  if (hash !== location.hash) history.replaceState(null, '', hash);
}

// Keys of the inspector: they do nothing while somebody types, and take none that an element of the page needs.

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

// Stores unsaved texts of this tab, so that they survive a reload.

export interface KeptTexts {
  readonly flow: string;
  readonly tests: string;
}

export interface KeptDrafts {
  /** Stores the unsaved texts after a pause in typing, or before the page is left. */
  keepSoon(): void;
  /** Stores pending texts now. */
  keepNow(): void;
  forget(flow: string): void;
  find(flow: string): KeptTexts | undefined;
}

export interface KeptDraftsOptions {
  /** The name of the flow. */
  readonly flow: () => string;
  /** Unsaved texts; undefined if all is saved. */
  readonly unsaved: () => KeptTexts | undefined;
}

const KEEP_MS = 500;
const storageKey = (flow: string) => `twinline-studio-${flow}`;

export function storeDrafts({ flow, unsaved }: KeptDraftsOptions): KeptDrafts {
  let timer: ReturnType<typeof setTimeout> | undefined;

  // Storing a large flow would delay typing, so it waits for a pause.
  function keepNow(): void {
    if (timer === undefined) return;
    clearTimeout(timer);
    timer = undefined;
    const texts = unsaved();
    try {
      if (texts) sessionStorage.setItem(storageKey(flow()), JSON.stringify(texts));
      else sessionStorage.removeItem(storageKey(flow()));
    } catch {
      // Too large for sessionStorage; closing the tab still asks first.
    }
  }

  addEventListener('pagehide', keepNow);
  return {
    keepSoon() {
      clearTimeout(timer);
      timer = setTimeout(keepNow, KEEP_MS);
    },
    keepNow,
    forget(name) {
      clearTimeout(timer);
      timer = undefined;
      sessionStorage.removeItem(storageKey(name));
    },
    find(name) {
      const found = sessionStorage.getItem(storageKey(name));
      return found === null ? undefined : (JSON.parse(found) as KeptTexts);
    },
  };
}

// What is not saved yet, kept over a reload of the page; of this tab only.

export interface KeptTexts {
  readonly flow: string;
  readonly tests: string;
}

export interface KeptDrafts {
  /** Keeps what is not saved, a moment after the last change, or before the page is left. */
  keepSoon(): void;
  /** Keeps what waits to be kept. */
  keepNow(): void;
  forget(flow: string): void;
  find(flow: string): KeptTexts | undefined;
}

export interface KeptDraftsOptions {
  /** The name of the flow. */
  readonly flow: () => string;
  /** What of it is not saved; undefined when everything is. */
  readonly unsaved: () => KeptTexts | undefined;
}

const KEEP_MS = 500;
const storageKey = (flow: string) => `twinline-studio-${flow}`;

export function storeDrafts({ flow, unsaved }: KeptDraftsOptions): KeptDrafts {
  let timer: ReturnType<typeof setTimeout> | undefined;

  // Copying a large flow takes longer than a key may, so it waits for a pause.
  function keepNow(): void {
    if (timer === undefined) return;
    clearTimeout(timer);
    timer = undefined;
    const texts = unsaved();
    try {
      if (texts) sessionStorage.setItem(storageKey(flow()), JSON.stringify(texts));
      else sessionStorage.removeItem(storageKey(flow()));
    } catch {
      // It is too large for the browser: closing the tab asks first.
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

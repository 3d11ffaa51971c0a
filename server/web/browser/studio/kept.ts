// What is not saved yet, kept over a reload of the page; of this tab only.

export interface KeptTexts {
  readonly flow: string;
  readonly tests: string;
}

const storageKey = (flow: string) => `twinline-studio-${flow}`;

export function keptDrafts() {
  return {
    keep(flow: string, texts: KeptTexts): void {
      try {
        sessionStorage.setItem(storageKey(flow), JSON.stringify(texts));
      } catch {
        // It is too large for the browser: closing the tab asks first.
      }
    },
    forget: (flow: string) => sessionStorage.removeItem(storageKey(flow)),
    find(flow: string): KeptTexts | undefined {
      const found = sessionStorage.getItem(storageKey(flow));
      return found === null ? undefined : (JSON.parse(found) as KeptTexts);
    },
  };
}

// Which flow is open: the list of flows, the dialogue that begins a new one, and texts that are not saved yet, kept over a reload of
// this tab.

import { element, findElement } from '../element.ts';
import { get, post } from './requests.ts';

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

interface Listed {
  readonly flows: readonly { readonly flow: string; readonly version: number }[];
  readonly starters: readonly { readonly name: string; readonly summary: string }[];
}

interface FlowList {
  /** Lists the flows anew, with this one chosen. */
  refresh(chosen: string): Promise<Listed>;
}

export function beginning({ onBegun }: { readonly onBegun: (flow: string) => Promise<void> }): FlowList {
  const flows = findElement<HTMLSelectElement>('flows');
  const dialog = findElement<HTMLDialogElement>('new-flow');
  const name = findElement<HTMLInputElement>('new-name');
  const starters = findElement('starters');
  const notice = findElement('new-notice');

  async function refresh(chosen: string): Promise<Listed> {
    const listed = await get<Listed>('/flows');
    flows.replaceChildren(
      ...listed.flows.map(({ flow, version }) =>
        element('option', { text: `${flow} · version ${version}`, is: { value: flow } }),
      ),
    );
    flows.value = chosen;
    return listed;
  }

  async function open(): Promise<void> {
    const listed = await refresh(flows.value);
    for (const old of starters.querySelectorAll('label')) old.remove();
    starters.append(
      ...listed.starters.map((starter, at) =>
        element('label', {}, [
          element('input', { is: { type: 'radio', name: 'starter', value: starter.name, checked: at === 0 } }),
          ` ${starter.name}: ${starter.summary}`,
        ]),
      ),
    );
    notice.textContent = '';
    dialog.showModal();
  }

  async function create(): Promise<void> {
    if (!name.reportValidity()) return;
    const starter = dialog.querySelector<HTMLInputElement>('input[name="starter"]:checked')?.value ?? '';
    try {
      await post('/new', { flow: name.value, starter });
      dialog.close();
      await onBegun(name.value);
    } catch (error) {
      notice.textContent = (error as Error).message;
    }
  }

  findElement('begin').addEventListener('click', () => void open());
  findElement('create').addEventListener('click', (event) => {
    event.preventDefault();
    void create();
  });
  return { refresh };
}

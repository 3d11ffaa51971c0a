// The versions that were saved here: each as it differs from the text in the editor, and back into it.

import type { VersionEntry } from '../../studio/versions.ts';
import { button, element, findElement } from '../element.ts';
import { showDifference } from './look.ts';
import { get } from './requests.ts';

export interface VersionsOptions {
  readonly draft: () => { readonly flow: string; readonly text: string };
  readonly onRestore: (text: string) => void;
}

export function versionsPart({ draft, onRestore }: VersionsOptions): { refresh(): Promise<void> } {
  const list = findElement('versions');
  const restore = findElement<HTMLButtonElement>('restore');
  const box = findElement('version-diff');
  let chosen = '';

  async function refresh(): Promise<void> {
    const { flow } = draft();
    const { versions } = await get<{ versions: VersionEntry[] }>(`/flows/${flow}/versions`).catch(() => ({
      versions: [],
    }));
    restore.hidden = true;
    box.hidden = true;
    list.replaceChildren(...versions.map((one) => element('li', {}, [button(describe(one), () => void open(one))])));
    if (!versions.length) list.append(element('li', { class: 'quiet', text: 'Nothing was saved here yet.' }));
  }

  async function open({ id }: VersionEntry): Promise<void> {
    const { flow, text } = draft();
    const found = await get<{ text: string }>(`/flows/${flow}/versions/${id}`).catch(() => undefined);
    if (!found) return;
    chosen = found.text;
    restore.hidden = false;
    box.hidden = false;
    showDifference(box, chosen, text);
  }

  restore.addEventListener('click', () => onRestore(chosen));
  return { refresh };
}

function describe({ at, by }: VersionEntry): string {
  return by === 'disk' ? 'Before the first save' : `${new Date(at).toLocaleString()} · ${by}`;
}

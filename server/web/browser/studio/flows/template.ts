// What a starter of a new flow looks like: its first screens, and its drawing.

import { element, findElement } from '../../element.ts';
import { parseSvg } from '../../inspector/drawing.ts';
import { get, post } from '../requests.ts';

interface ShownTemplate {
  readonly text: string;
  readonly screens: readonly string[];
}

/** Returns what shows a template; a name that is none shows nothing. */
export function templateShow(): { show(name: string): Promise<void> } {
  const box = findElement('template');
  let wanted = '';
  return {
    async show(name) {
      wanted = name;
      const found = await get<ShownTemplate>(`/templates/${encodeURIComponent(name)}`).catch(() => undefined);
      if (wanted !== name) return;
      box.hidden = !found;
      if (!found) return;
      const screens = found.screens.map((text) => element('pre', { class: 'screen', text }));
      box.replaceChildren(
        element(
          'div',
          { class: 'screens row', is: { tabindex: 0, role: 'group', 'aria-label': 'Its first screens' } },
          screens,
        ),
      );
      box.dataset.shown = name;
      const drawn = await post<{ svg: string }>('/drawing', { flow: name, text: found.text }).catch(() => undefined);
      const svg = drawn && parseSvg(drawn.svg);
      if (wanted !== name || !svg) return;
      box.append(
        element('div', { class: 'drawn', is: { tabindex: 0, role: 'img', 'aria-label': 'Its drawing' } }, [svg]),
      );
    },
  };
}

// The texts of the draft in all its languages, side by side, with their lengths. Edits go to the editor.

import type { TranslatedText } from '../../studio/wordings.ts';
import { button, element, findElement } from '../element.ts';
import { post } from './requests.ts';

export interface WordsOptions {
  readonly draft: () => { readonly flow: string; readonly text: string };
  /** Writes a JSON value at a pointer of the draft. */
  readonly write: (pointer: string, value: string) => void;
  readonly onPick: (pointer: string) => void;
}

/** Rows drawn at once. */
const ROWS = 150;
const SCREEN_SEPTETS = 182;

export function wordsPart({ draft, write, onPick }: WordsOptions): { refresh(): Promise<void> } {
  const box = findElement('wordings');
  const filter = findElement<HTMLInputElement>('find-words');
  let langs: readonly string[] = [];
  let all: readonly TranslatedText[] = [];
  let rows = ROWS;

  async function refresh(): Promise<void> {
    const found = await post<{ langs: string[]; wordings: TranslatedText[] }>('/texts', draft()).catch(() => undefined);
    if (!found) return;
    ({ langs, wordings: all } = found);
    // Not while the user types in a field.
    if (!box.contains(document.activeElement) || document.activeElement === box) show();
  }

  function show(): void {
    const wanted = filter.value.toLowerCase();
    const fits = ({ pointer, values }: TranslatedText) =>
      wanted === '' ||
      pointer.toLowerCase().includes(wanted) ||
      values.some((one) => one?.text.toLowerCase().includes(wanted));
    const found = all.filter(fits);
    box.style.setProperty('--langs', String(langs.length));
    const head = element('div', { class: 'wording head quiet' }, [
      element('span', { text: 'Where' }),
      ...langs.map((lang) => element('span', { text: lang })),
    ]);
    const more =
      found.length > rows &&
      button(`Show ${found.length - rows} more`, () => {
        rows += ROWS;
        show();
      });
    box.replaceChildren(head, ...found.slice(0, rows).map(drawRow), ...(more ? [more] : []));
    if (!found.length) box.append(element('p', { class: 'quiet', text: 'No matches.' }));
  }

  function drawRow({ pointer, values }: TranslatedText): HTMLElement {
    const place = button(formatPlace(pointer), () => onPick(pointer), { class: 'place' });
    return element('div', { class: 'wording' }, [
      place,
      ...langs.map((lang, at) => drawCell({ pointer, values }, lang, at)),
    ]);
  }

  function drawCell({ pointer, values }: TranslatedText, lang: string, at: number): HTMLElement {
    const value = values[at] ?? null;
    const label = `${formatPlace(pointer)}, ${lang}`;
    const field = element('textarea', {
      is: { 'aria-label': label, rows: value ? Math.min(6, value.text.split('\n').length) : 1 },
    });
    field.value = value?.text ?? '';
    if (!value) field.placeholder = 'missing';
    field.addEventListener('change', () => {
      // A text for all languages is split as soon as two languages differ.
      const texts = langs.map((_, index) => (index === at ? field.value : (values[index]?.text ?? '')));
      const isOne = langs.length === 1 || texts.every((text) => text === texts[0]);
      const byLang = Object.fromEntries(
        langs.map((one, index) => [one, texts[index]!] as const).filter(([, text]) => text !== ''),
      );
      write(pointer, JSON.stringify(isOne ? texts[0] : byLang));
    });
    const isTooLong = (value?.used ?? 0) > SCREEN_SEPTETS || value?.isGsm === false;
    const size = value ? `${value.used}${value.isGsm ? '' : ' · UCS-2'}` : '';
    return element('div', { class: value ? '' : 'missing', is: { 'data-lang': lang } }, [
      field,
      element('small', { class: isTooLong ? 'bad' : '', text: size }),
    ]);
  }

  filter.addEventListener('input', () => {
    rows = ROWS;
    show();
  });
  return { refresh };
}

function formatPlace(pointer: string): string {
  return pointer
    .replace(/^\/(screens\/)?/, '')
    .replace(/\boptions\/(\d+)\/text$/, (_, at: string) => `option ${Number(at) + 1}`)
    .replaceAll('/', ' › ');
}

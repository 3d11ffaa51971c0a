// Makes a link to a preview of the draft, for phones of others.

import { copyButton, element, findElement } from '../../element.ts';
import { post } from '../requests.ts';

export interface PreviewOptions {
  readonly draft: () => { readonly flow: string; readonly text: string; readonly tests: string };
}

export function startPreviews({ draft }: PreviewOptions): void {
  const made = findElement('preview-made');
  const hours = findElement<HTMLSelectElement>('preview-hours');
  findElement('preview-link').addEventListener('click', () => {
    made.textContent = 'Making a link …';
    post<{ link: string; until: string }>('/preview', { ...draft(), hours: Number(hours.value) }).then(
      ({ link, until }) => {
        made.replaceChildren(
          element('a', { text: link, is: { href: link, target: '_blank', rel: 'noreferrer' } }),
          ' ',
          copyButton(() => link, 'small'),
          element('span', {
            text: ` Whoever has it dials this draft as it is now, with samples in the place of services, until ${new Date(until).toLocaleString()}.`,
          }),
        );
      },
      (error: Error) => {
        made.textContent = `No link was made: ${error.message}`;
      },
    );
  });
}

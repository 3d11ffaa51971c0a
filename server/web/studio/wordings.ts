// The texts of a draft in all its languages, with the length of each on a screen.

import type { Flow } from '../../../lib/flow/format/flow.ts';
import { collectParts } from '../../../lib/flow/lint/parts.ts';
import { room } from '../../../lib/flow/run/render.ts';

/** A text of a flow in all its languages. */
export interface TranslatedText {
  /** JSON pointer to the text in the flow. */
  readonly pointer: string;
  /** In the order of the flow's languages; null if missing. */
  readonly values: readonly ({ readonly text: string; readonly used: number; readonly isGsm: boolean } | null)[];
}

export interface Wordings {
  readonly langs: readonly string[];
  readonly wordings: readonly TranslatedText[];
}

/** All texts of a flow with their lengths, before values are inserted. */
export function listWordings(flow: Flow): Wordings {
  const langs = flow.langs?.length ? flow.langs : ['en'];
  const wordings = collectParts(flow).texts.map(
    ({ pointer, text }): TranslatedText => ({
      pointer,
      values: langs.map((lang) => {
        const words = typeof text === 'string' ? text : text[lang];
        if (words === undefined) return null;
        const { used, encoding } = room(words);
        return { text: words, used, isGsm: encoding === 'gsm7' };
      }),
    }),
  );
  return { langs, wordings };
}

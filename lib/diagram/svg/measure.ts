// How wide words are, without a browser: by the widest of the fonts that systems use, so that none runs out of its card.

const NARROW = /[iljI|!.,:;'`’]/;
const SLIM = /[ftr()[\]{}/\\" -]/;
const WIDE = /[mwMW@%—…⚙⌂↩⚠⏱⋯]/;
const UPPER = /[A-Z0-9_=+<>#$&?~*]/;

/** Pixels that a line takes at a font size in pixels; bold letters are wider. */
export function textWidth(text: string, size: number, weight: 'normal' | 'bold' = 'normal'): number {
  let em = 0;
  for (const character of text) em += emOf(character);
  return Math.ceil(em * size * (weight === 'bold' ? 1.12 : 1));
}

function emOf(character: string): number {
  if (NARROW.test(character)) return 0.33;
  if (SLIM.test(character)) return 0.42;
  if (WIDE.test(character)) return 0.98;
  if (UPPER.test(character)) return 0.68;
  return character.codePointAt(0)! < 0x2e80 ? 0.62 : 1.05;
}

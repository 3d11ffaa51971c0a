// Patterns of `like`: `*` is any text, `?` is one character, `\` before one of these or itself stands for it. All states of a pattern are followed at the same time, as bits of
// a few words, so a text is read once: what a comparison costs is its length by the words, whatever stands in the two.

/** Tells how much one comparison costs before it is made; it may throw. A unit is about two nanoseconds. */
export type Spend = (work: number) => void;

/** Whether a text fits a pattern. */
export type Like = (text: string, spend: Spend) => boolean;

/** What one character costs besides the words. */
const CHARACTER_WORK = 5;
const WORD_BITS = 32;

/** Bit n stands for the first n characters of the pattern without its stars. */
type Bits = Int32Array;

/**
 * The pattern, ready for many texts.
 * @example
 * compileLike('t*a?')('teas', () => {}); // → true
 */
export function compileLike(pattern: string): Like {
  const { end, stars, anything, ofCharacter } = readPattern(pattern);
  const words = stars.length;
  return (text, spend) => {
    spend(text.length * (CHARACTER_WORK + words));
    const state = new Int32Array(words);
    state[0] = 1;
    for (let at = 0; at < text.length; ) {
      const code = text.codePointAt(at)!;
      at += code > 0xffff ? 2 : 1;
      const fitting = ofCharacter.get(code) ?? anything;
      let carry = 0;
      for (let word = 0; word < words; word++) {
        const before = state[word]!;
        state[word] = (((before << 1) | carry) & fitting[word]!) | (before & stars[word]!);
        carry = before >>> (WORD_BITS - 1);
      }
    }
    return hasBit(state, end);
  };
}

interface Pattern {
  /** The bit of the whole pattern. */
  readonly end: number;
  /** The bits after which a star stands: they stay whatever comes. */
  readonly stars: Bits;
  /** The bits that any character leads to, by a `?`, and those that this one leads to. */
  readonly anything: Bits;
  readonly ofCharacter: ReadonlyMap<number, Bits>;
}

function readPattern(pattern: string): Pattern {
  const characters = pattern.match(/\\[*?\\]|[\s\S]/gu) ?? [];
  const words = Math.ceil((characters.length + 1) / WORD_BITS);
  const stars: Bits = new Int32Array(words);
  const anything: Bits = new Int32Array(words);
  const places: [code: number, bit: number][] = [];
  let end = 0;
  for (const character of characters) {
    if (character === '*') addBit(stars, end);
    else if (character === '?') addBit(anything, ++end);
    else places.push([character.codePointAt(/^\\./.test(character) ? 1 : 0)!, ++end]);
  }
  const ofCharacter = new Map<number, Bits>();
  for (const [code, bit] of places) {
    const bits = ofCharacter.get(code) ?? anything.slice();
    addBit(bits, bit);
    ofCharacter.set(code, bits);
  }
  return { end, stars, anything, ofCharacter };
}

function addBit(bits: Bits, bit: number): void {
  bits[Math.floor(bit / WORD_BITS)]! |= 1 << (bit % WORD_BITS);
}

function hasBit(bits: Bits, bit: number): boolean {
  return ((bits[Math.floor(bit / WORD_BITS)]! >>> (bit % WORD_BITS)) & 1) === 1;
}

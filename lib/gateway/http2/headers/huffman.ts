// The Huffman code of HPACK (RFC 7541, appendix B), for reading: what this side sends is not coded.

// Bits of the codes of the bytes 0 to 255, each a digit in base 36. Codes grow with their length, and then with the byte.
const LENGTHS =
  'dnsssssssoussussssssssusssssssss6aacd68baa8b8666555666666678f6ca' +
  'd67777777777777777777777878djde6f56565666577666567655677777fbeds' +
  'kmkkmmmnmnnnnnonoomnonnnnlmnmnnomlkmmnnlnmmolmnnllmlnmnnkmmmnmmn' +
  'qqkjmnmpqqqrrqopjlqrrqrollqqsrrrkoklmllnmmppooqnqrqqrrrrrsrrrrrq';

const LONGEST = 30;
const PADDING_MAX = 7;

// For each length: the first code, how many there are, and where their bytes begin in SYMBOLS.
const first = new Uint32Array(LONGEST + 1);
const count = new Uint32Array(LONGEST + 1);
const places = new Uint32Array(LONGEST + 1);
const SYMBOLS = new Uint8Array(256);
fill();

function fill(): void {
  let code = 0;
  let next = 0;
  for (let length = 1; length <= LONGEST; length++) {
    code *= 2;
    first[length] = code;
    places[length] = next;
    for (let byte = 0; byte < 256; byte++) if (Number.parseInt(LENGTHS[byte]!, 36) === length) SYMBOLS[next++] = byte;
    count[length] = next - places[length]!;
    code += count[length]!;
  }
}

/** The text in `bytes`, a character for each byte of it, or undefined when that is no code or not padded as it must be. */
export function huffmanText(bytes: Uint8Array): string | undefined {
  // The shortest code has five bits.
  const out = Buffer.allocUnsafe((bytes.length * 8) / 5 + 1);
  let end = 0;
  let code = 0;
  let length = 0;
  for (const byte of bytes)
    for (let bit = 7; bit >= 0; bit--) {
      code = code * 2 + ((byte >> bit) & 1);
      const nth = code - first[++length]!;
      if (nth < count[length]!) {
        out[end++] = SYMBOLS[places[length]! + nth]!;
        code = 0;
        length = 0;
      } else if (length === LONGEST) return undefined;
    }
  const isPadding = length <= PADDING_MAX && code === 2 ** length - 1;
  return isPadding ? out.toString('latin1', 0, end) : undefined;
}

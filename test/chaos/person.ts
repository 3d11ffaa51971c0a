// People who call: each with a phone number, a name and a PIN, and every dial with a session id, that no other has.

import { randomBytes } from 'node:crypto';

/** What a caller has of his own. */
export interface Person {
  readonly phone: string;
  readonly name: string;
  readonly pin: string;
}

const NUMBERS = 900_000_000;
const run = randomBytes(4).readUInt32LE();
let people = 0;
let dials = 0;

/** Numbers and names are of equal length, so that screens break their lines alike. */
export function newPerson(): Person {
  const at = people++;
  return { phone: `+26${100_000_000 + ((run + at) % NUMBERS)}`, name: `Ada ${letters(at)}`, pin: '83519' };
}

export const newSession = (): string => `chaos-${run}-${dials++}`;

/** Four letters that count. */
function letters(number: number): string {
  const letterAt = (at: number) => String.fromCharCode(97 + (Math.floor(number / 26 ** (3 - at)) % 26));
  return [0, 1, 2, 3].map(letterAt).join('');
}

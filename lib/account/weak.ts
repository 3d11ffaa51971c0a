// Which PINs are too easy to guess to be set.

/** Why a PIN is weak. */
export type Weakness = 'same-digits' | 'run' | 'year' | 'phone' | 'common';

/**
 * Why `pin` (4 to 6 digits) is weak for the owner of `phone`, or undefined: one digit only; a run up or down, also
 * through 9–0; a year 19xx or 20xx; ends with the last four digits of the phone; or is among the most used PINs.
 */
export function weakPin(pin: string, phone: string): Weakness | undefined {
  return RULES.find(([, weak]) => weak(pin, phone))?.[0];
}

const RULES: readonly (readonly [Weakness, (pin: string, phone: string) => boolean])[] = [
  ['same-digits', (pin) => isRun(pin, 0)],
  ['run', (pin) => isRun(pin, 1) || isRun(pin, 9)],
  ['year', (pin) => /^(19|20)\d\d$/.test(pin)],
  ['phone', (pin, phone) => /\d{4}$/.test(phone) && pin.endsWith(phone.slice(-4))],
  ['common', (pin) => COMMON.has(pin)],
];

/** Whether every digit is the one before it plus `step`, modulo ten. */
function isRun(pin: string, step: number): boolean {
  for (let at = 1; at < pin.length; at++) if (Number(pin[at]) !== (Number(pin[at - 1]) + step) % 10) return false;
  return true;
}

// The twenty most used of each length in published collections of leaked PINs.
const COMMON = new Set(
  `1234 1111 0000 1212 7777 1004 2000 4444 2222 6969 9999 3333 5555 6666 1122 1313 8888 4321 2001 1010
   12345 11111 55555 00000 54321 13579 77777 22222 12321 99999 33333 00700 90210 88888 38317 09876 44444 98765 01234 42069
   123456 123123 111111 121212 123321 666666 000000 654321 696969 112233 159753 292513 131313 123654 222222 789456 999999
   101010 777777 007007`.split(/\s+/),
);

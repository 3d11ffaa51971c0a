// Numbers with a check digit or structure: cards, accounts, national ids. Input is normalized, or refused.
//
// Ignores spaces, dots, dashes and case, which are hard to type on a keypad.

/** A kind of number. */
export interface IdCheck {
  /** What it is, and where it is specified. */
  readonly about: string;
  /** A valid one, normalized. */
  readonly example: string;
  /** Validates and normalizes input that is already without spaces, dots and dashes, and in capitals; undefined if invalid. */
  read(input: string): string | undefined;
}

/** All checks, by their name in `accept`. */
export const ID_CHECKS: { readonly [name: string]: IdCheck } = {
  luhn: {
    about: 'digits of which the last checks the others by ISO/IEC 7812-1, as of bank cards and IMEIs',
    example: '79927398713',
    read: (input) => keepIf(input, /^\d{2,40}$/.test(input) && luhnRest(input) === 0),
  },
  verhoeff: {
    about: 'digits of which the last checks the others by the scheme of Verhoeff (1969)',
    example: '2363',
    read: (input) => keepIf(input, /^\d{2,40}$/.test(input) && verhoeffRest(input) === 0),
  },
  mod97: {
    about: 'digits or letters of which the last two digits check the others by ISO 7064 MOD 97-10',
    example: '79444',
    read: (input) => keepIf(input, /^[0-9A-Z]{3,40}$/.test(input) && mod97Rest(input) === 1),
  },
  iban: {
    about: 'an international bank account number, ISO 13616',
    example: 'GB82WEST12345698765432',
    read: (input) => {
      const fits = /^[A-Z]{2}\d{2}[0-9A-Z]{10,30}$/.test(input);
      return keepIf(input, fits && mod97Rest(input.slice(4) + input.slice(0, 4)) === 1);
    },
  },
  'br-cpf': {
    about: 'Brazil: CPF, 11 digits with two check digits (Receita Federal)',
    example: '52998224725',
    read: (input) =>
      keepIf(input, /^(?!(\d)\1+$)\d{11}$/.test(input) && cpfDigits(input.slice(0, 9)) === input.slice(9)),
  },
  'es-dni': {
    about: 'Spain: DNI, 8 digits and a letter of check (Ministerio del Interior)',
    example: '12345678Z',
    read: (input) =>
      keepIf(input, /^\d{8}[A-Z]$/.test(input) && DNI_LETTERS[Number(input.slice(0, 8)) % 23] === input[8]),
  },
  'gh-card': {
    about: 'Ghana: personal id number of the Ghana Card, GHA and 10 digits (National Identification Authority)',
    example: 'GHA-123456789-0',
    read: (input) => {
      const [, number, check] = /^(?:GHA)?(\d{9})(\d)$/.exec(input) ?? [];
      return number && `GHA-${number}-${check}`;
    },
  },
  'in-aadhaar': {
    about: 'India: Aadhaar, 12 digits that begin with 2 to 9, checked by Verhoeff (UIDAI)',
    example: '999941057058',
    read: (input) => keepIf(input, /^[2-9]\d{11}$/.test(input) && verhoeffRest(input) === 0),
  },
  'ke-id': {
    about: 'Kenya: number of the national identity card, 7 to 9 digits',
    example: '12345678',
    read: (input) => keepIf(input, /^[1-9]\d{6,8}$/.test(input)),
  },
  'ng-nin': {
    about: 'Nigeria: national identification number, 11 digits (NIMC)',
    example: '12345678901',
    read: (input) => keepIf(input, /^\d{11}$/.test(input)),
  },
  'tz-nida': {
    about: 'Tanzania: national identification number, 20 digits that begin with the day of birth (NIDA)',
    example: '19901231111210000125',
    read: (input) => keepIf(input, /^\d{20}$/.test(input) && isDay(input.slice(0, 8))),
  },
  'za-id': {
    about: 'South Africa: identity number, 13 digits with the day of birth, checked by Luhn (Home Affairs)',
    example: '8001015009087',
    read: (input) => {
      const fits = /^\d{10}[012]\d{2}$/.test(input) && luhnRest(input) === 0;
      return keepIf(input, fits && (isDay(`19${input.slice(0, 6)}`) || isDay(`20${input.slice(0, 6)}`)));
    },
  },
  'zm-nrc': {
    about:
      'Zambia: national registration card, 6 digits / 2 of the district / 1 of the citizenship; typed with or without /',
    example: '123456/10/1',
    read: (input) => {
      const [, number, district, kind] = /^(\d{6})\/?(\d{2})\/?([123])$/.exec(input) ?? [];
      return number && `${number}/${district}/${kind}`;
    },
  },
};

/** Reads a caller's input; undefined if invalid. */
export function readId({ read }: IdCheck, text: string): string | undefined {
  return read(text.replace(/[\s.-]/g, '').toUpperCase());
}

const keepIf = (input: string, fits: boolean) => (fits ? input : undefined);

// From the right, doubles every second digit and adds the digits of all.
function luhnRest(digits: string): number {
  let sum = 0;
  for (let at = 0; at < digits.length; at++) {
    const digit = Number(digits[digits.length - 1 - at]);
    const double = at % 2 ? digit * 2 : digit;
    sum += double > 9 ? double - 9 : double;
  }
  return sum % 10;
}

// The multiplication table of the group D5, and the permutation applied once more per position.
const D5 = [
  '0123456789',
  '1234067895',
  '2340178956',
  '3401289567',
  '4012395678',
  '5987604321',
  '6598710432',
  '7659821043',
  '8765932104',
  '9876543210',
];
const PERMUTATIONS = [
  '0123456789',
  '1576283094',
  '5803796142',
  '8916043527',
  '9453126870',
  '4286573901',
  '2793806415',
  '7046913258',
];

function verhoeffRest(digits: string): number {
  let check = 0;
  for (let at = 0; at < digits.length; at++) {
    const digit = Number(PERMUTATIONS[at % 8]![Number(digits[digits.length - 1 - at])]);
    check = Number(D5[check]![digit]);
  }
  return check;
}

// Letters count 10 to 35.
function mod97Rest(text: string): number {
  let rest = 0;
  for (const character of text)
    for (const digit of String(Number.parseInt(character, 36))) rest = (rest * 10 + Number(digit)) % 97;
  return rest;
}

function cpfDigits(base: string): string {
  let digits = base;
  for (let step = 0; step < 2; step++) {
    let sum = 0;
    for (let at = 0; at < digits.length; at++) sum += Number(digits[at]) * (digits.length + 1 - at);
    const rest = (sum * 10) % 11;
    digits += rest === 10 ? '0' : String(rest);
  }
  return digits.slice(9);
}

const DNI_LETTERS = 'TRWAGMYFPDXBNJZSQVHLCKE';

/** Whether YYYYMMDD is a calendar day. */
function isDay(text: string): boolean {
  const [year, month, day] = [text.slice(0, 4), text.slice(4, 6), text.slice(6, 8)].map(Number) as [
    number,
    number,
    number,
  ];
  const date = new Date(Date.UTC(year, month - 1, day));
  return date.getUTCFullYear() === year && date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}

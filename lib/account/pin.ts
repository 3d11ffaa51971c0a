// PINs: which ones are too easy to guess, and how they are stored: slow-hashed, then sealed with a key that is not in the
// database and bound to the phone number.

import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { TwinlineError } from '../errors.ts';
import { type Keyring, shortMac } from '../keyring.ts';
import { boundedQueue } from '../queue.ts';
import { decode, IV_BYTES, openBytes, pinKey, sealBytes, TAG_BYTES } from '../sealing.ts';
import { ACCOUNT_LIMITS } from './limits.ts';

const VERSION = 'v1';
/** scrypt with N = 2^14, r = 8, p = 1: 16 MiB and about 30 ms per guess, even for an attacker with database and key. */
const KDF = 's14.8.1';
const SALT_BYTES = 16;
const DIGEST_BYTES = 32;

export interface PinMatch {
  readonly match: boolean;
  /** The PIN resealed with the active key; present when the record was sealed with an older one. Store it. */
  readonly reseal?: string;
}

export interface PinVault {
  /** `v1$<kid>$s14.8.1$<salt>$<iv>$<ciphertext and tag>`. Rejects with ERR_PIN unless the PIN is 4 to 6 digits. */
  seal(pin: string | Buffer, phone: string): Promise<string>;
  /**
   * Compares a PIN with its record. Without a record (unknown phone) it does the same work and does not match. Rejects with
   * ERR_PIN when the record is damaged, belongs to another phone, or needs a key that is not configured; with ERR_BUSY under
   * load.
   */
  check(pin: string | Buffer, phone: string, record: string | undefined): Promise<PinMatch>;
  /** A keyed 16-character pseudonym, for places where the phone number must not be written. */
  alias(phone: string): string;
  /** The pseudonyms under every key of the keyring, the active one first: [id of the key, pseudonym]. */
  aliases(phone: string): readonly (readonly [kid: string, alias: string])[];
}

export interface PinVaultOptions {
  readonly keyring: Keyring;
  /** Concurrent slow hashes. @default the number of processors minus one, at least 1 */
  readonly workers?: number;
  /** Slow hashes that may queue. @default ACCOUNT_LIMITS.pinQueue */
  readonly queue?: number;
  /** Called with the reason when a stored PIN cannot be opened; must not throw. */
  readonly onUnopened?: (error: TwinlineError) => void;
  /** The slow hash: derives 32 bytes from PIN and salt. @default scryptDigest */
  readonly derive?: (pin: Buffer, salt: Buffer) => Promise<Buffer>;
}

/** scrypt with the parameters of the record format, on the thread pool, so that it does not block the event loop. */
export function scryptDigest(pin: Buffer, salt: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const done = (error: Error | null, digest: Buffer) => (error ? reject(error) : resolve(digest));
    scrypt(pin, salt, DIGEST_BYTES, { N: 2 ** 14, r: 8, p: 1 }, done);
  });
}

export function pinVault(options: PinVaultOptions): PinVault {
  const { keyring, onUnopened, derive = scryptDigest } = options;
  const workers = options.workers ?? Math.max(1, availableParallelism() - 1);
  const inTurn = boundedQueue({ workers, waiting: options.queue ?? ACCOUNT_LIMITS.pinQueue, what: 'PIN checks' });
  const phoneKey = keyring.subkey('phone-index/v1')!;

  const slowDigest = async (pin: string | Buffer, salt: Buffer) => {
    const own = Buffer.from(pin);
    try {
      return await inTurn(() => derive(own, salt));
    } finally {
      own.fill(0);
    }
  };
  const write = (digest: Buffer, salt: Buffer, phone: string) => writeRecord(keyring, phone, { digest, salt });
  // Unknown phones are checked against this: it matches no PIN and costs as much as a real check.
  const dummy = write(randomBytes(DIGEST_BYTES), randomBytes(SALT_BYTES), '');

  return {
    seal: async (pin, phone) => {
      if (!isPin(pin)) throw new TwinlineError('ERR_PIN', `A PIN must be ${DIGITS} digits. Ask for another one.`);
      const salt = randomBytes(SALT_BYTES);
      const digest = await slowDigest(pin, salt);
      const record = write(digest, salt, phone);
      digest.fill(0);
      return record;
    },
    check: async (pin, phone, record) => {
      const opened = openRecord(keyring, record === undefined ? '' : phone, record ?? dummy);
      if (opened instanceof TwinlineError) {
        onUnopened?.(opened);
        throw opened;
      }
      const { kid, salt, digest } = opened;
      try {
        const candidate = await slowDigest(pin, salt);
        const match = timingSafeEqual(candidate, digest) && record !== undefined;
        candidate.fill(0);
        return match && kid !== keyring.active ? { match, reseal: write(digest, salt, phone) } : { match };
      } finally {
        digest.fill(0);
      }
    },
    alias: (phone) => shortMac(phoneKey, [phone]),
    aliases: (phone) => keyring.ids.map((kid) => [kid, shortMac(keyring.subkey('phone-index/v1', kid)!, [phone])]),
  };
}

const DIGITS = `${ACCOUNT_LIMITS.pinDigitsMin} to ${ACCOUNT_LIMITS.pinDigitsMax}`;
const PIN = new RegExp(`^[0-9]{${ACCOUNT_LIMITS.pinDigitsMin},${ACCOUNT_LIMITS.pinDigitsMax}}$`);

/** Whether this is 4 to 6 digits 0–9. */
export function isPin(pin: string | Buffer): boolean {
  return PIN.test(typeof pin === 'string' ? pin : pin.toString('latin1'));
}

const KID = /^[\w.-]{1,32}$/;
const label = (kid: string, phone: string) => ['pin', VERSION, kid, KDF, phone];

interface OpenedPin {
  readonly kid: string;
  readonly salt: Buffer;
  readonly digest: Buffer;
}

function writeRecord(keyring: Keyring, phone: string, { salt, digest }: Omit<OpenedPin, 'kid'>): string {
  const kid = keyring.active;
  const { iv, body } = sealBytes(pinKey(keyring, kid)!, label(kid, phone), digest);
  return [VERSION, kid, KDF, ...[salt, iv, body].map((bytes) => bytes.toString('base64url'))].join('$');
}

/** The digest of a record, or ERR_PIN that says why it cannot be opened. */
function openRecord(keyring: Keyring, phone: string, record: string): OpenedPin | TwinlineError {
  const [version, kid = '', kdf, salt = '', iv = '', body = '', ...rest] = record.split('$');
  const saltBytes = decode(salt, SALT_BYTES);
  const ivBytes = decode(iv, IV_BYTES);
  const bodyBytes = decode(body, DIGEST_BYTES + TAG_BYTES);
  if (version !== VERSION || kdf !== KDF || rest.length > 0 || !KID.test(kid)) return damageError(keyring, kid);
  if (!saltBytes || !ivBytes || !bodyBytes) return damageError(keyring, kid);
  const key = pinKey(keyring, kid);
  if (!key)
    return new TwinlineError(
      'ERR_PIN',
      `A stored PIN was sealed with the key "${kid}", which is not configured. Add that key after the active one.`,
    );
  const digest = openBytes(key, label(kid, phone), { iv: ivBytes, body: bodyBytes });
  return digest ? { kid, salt: saltBytes, digest } : damageError(keyring, kid);
}

/** The record of the same PIN sealed with the active key; undefined when it cannot be opened for this phone number. */
export function resealPin(keyring: Keyring, phone: string, record: string): string | undefined {
  const opened = openRecord(keyring, phone, record);
  if (opened instanceof TwinlineError) return undefined;
  const resealed = writeRecord(keyring, phone, opened);
  opened.digest.fill(0);
  return resealed;
}

// Name the id only when it is ours: in a damaged record it could be anything.
function damageError(keyring: Keyring, kid: string): TwinlineError {
  const key = keyring.ids.includes(kid) ? `under the key "${kid}"` : 'under an unknown key';
  return new TwinlineError(
    'ERR_PIN',
    `A stored PIN (sealed ${key}) is damaged or belongs to another phone number. Restore the account or set a new PIN.`,
  );
}

/** Why a PIN is weak. */
export type Weakness = 'same-digits' | 'run' | 'year' | 'phone' | 'common';

/**
 * Why `pin` (4 to 6 digits) is weak for the owner of `phone`, or undefined: a single repeated digit; an ascending or
 * descending run, also through 9–0; a year 19xx or 20xx; the last four digits of the phone at its end; or one of the most
 * common PINs.
 */
export function weakPin(pin: string, phone: string): Weakness | undefined {
  return WEAK.find(([, weak]) => weak(pin, phone))?.[0];
}

const WEAK: readonly (readonly [Weakness, (pin: string, phone: string) => boolean])[] = [
  ['same-digits', (pin) => isRun(pin, 0)],
  ['run', (pin) => isRun(pin, 1) || isRun(pin, 9)],
  ['year', (pin) => /^(19|20)\d\d$/.test(pin)],
  ['phone', (pin, phone) => /\d{4}$/.test(phone) && pin.endsWith(phone.slice(-4))],
  ['common', (pin) => COMMON_PINS.has(pin)],
];

/** Whether every digit is its predecessor plus `step`, modulo ten. */
function isRun(pin: string, step: number): boolean {
  for (let at = 1; at < pin.length; at++) if (Number(pin[at]) !== (Number(pin[at - 1]) + step) % 10) return false;
  return true;
}

// The twenty most common of each length in published collections of leaked PINs.
const COMMON_PINS = new Set(
  `1234 1111 0000 1212 7777 1004 2000 4444 2222 6969 9999 3333 5555 6666 1122 1313 8888 4321 2001 1010
   12345 11111 55555 00000 54321 13579 77777 22222 12321 99999 33333 00700 90210 88888 38317 09876 44444 98765 01234 42069
   123456 123123 111111 121212 123321 666666 000000 654321 696969 112233 159753 292513 131313 123654 222222 789456 999999
   101010 777777 007007`.split(/\s+/),
);

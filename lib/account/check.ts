// One check of a PIN: counted in the store before it is made, and slowed while guesses are spread over many phone numbers.

import type { Clock } from '../clock.ts';
import { TwinlineError } from '../errors.ts';
import { fail, failuresBefore, type LoginRefusal, refusal, release, reserve } from './attempts.ts';
import type { PinVault } from './pin.ts';
import type { Account, AccountRecords } from './records.ts';
import { type Pace, type SprayOptions, sprayBrake } from './spray.ts';

/** What every call with a PIN says. */
export interface PinCall {
  /** E.164 with `+`. */
  readonly phone: string;
  readonly pin: string;
  /** The same for every try of one call; a repeat neither acts nor counts twice. */
  readonly idempotencyKey?: string;
  /** Keyed hashes of the SIM card, where the telecom gateway names it. */
  readonly sim?: string | undefined;
}

export type Checked =
  | { readonly match: true; readonly at: number; readonly account: Account; readonly reseal?: string }
  | { readonly match: false; readonly refusal: LoginRefusal };

interface CheckOptions {
  readonly mark: string | null;
  readonly pace: Pace;
  /** Called with the result of the comparison. */
  readonly onResult: (match: boolean) => void;
}

export interface PinCheckDeps extends SprayOptions {
  readonly records: AccountRecords;
  readonly vault: PinVault;
  readonly clock: Clock;
}

/** Counts a try, checks it, and notes a failure. A match is for the caller to settle. */
export type PinCheck = (call: PinCall, mark: string | null) => Promise<Checked>;

export function pinCheck({ records, vault, clock, ...spray }: PinCheckDeps): PinCheck {
  const brake = sprayBrake(clock, spray);

  const check: PinCheck = async (call, mark) => {
    const pace = brake.begin();
    if (pace === 'refused') throw busyError();
    let outcome: 'right' | 'wrong' | 'unchecked' = 'unchecked';
    try {
      const checked = await checkPin(call, { mark, pace, onResult: (match) => (outcome = match ? 'right' : 'wrong') });
      const isGuess = pace === 'slowed' && !checked.match && checked.refusal.reason === 'wrong';
      if (isGuess) throw busyError();
      return checked;
    } finally {
      brake.end(pace, outcome);
    }
  };

  const checkPin = async ({ phone, pin }: PinCall, { mark, pace, onResult }: CheckOptions): Promise<Checked> => {
    const { found, reservation } = await records.update(phone, (found) => {
      const reservation = reserve(found.attempts, clock.now(), mark);
      const answer = { found, reservation };
      if (reservation.kind === 'refused') return { answer };
      if (pace === 'slowed' && failuresBefore(reservation) > 0) throw busyError();
      return { changes: { attempts: reservation.attempts }, answer };
    });
    if (reservation.kind === 'refused') return { match: false, refusal: reservation.refusal };
    const { at, attempts } = reservation;
    const account = found.kind === 'account' ? found.stored.body : undefined;
    const result = await vault.check(pin, phone, account?.pin).catch(async (error: unknown) => {
      // When taking back fails too, the try stays counted: closed rather than open.
      await records.revise(phone, (attempts) => release(attempts, at, mark)).catch(() => undefined);
      throw error;
    });
    onResult(result.match);
    if (result.match && account) return { ...result, match: true, at, account };
    await records.revise(phone, (attempts) => fail(attempts, mark));
    return { match: false, refusal: refusal(attempts, clock.now()) };
  };

  return check;
}

// The same words for a number with failures, for a wrong PIN, and for a check that is not made: a guess learns nothing.
function busyError(): TwinlineError {
  return new TwinlineError('ERR_BUSY', 'Too many PIN checks fail at the moment. Try again in some minutes.');
}

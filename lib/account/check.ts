// A PIN check: counted in the store first, and throttled while guesses are spread over many phone numbers.

import type { Clock } from '../clock.ts';
import { TwinlineError } from '../errors.ts';
import { fail, failuresBefore, type LoginRefusal, refusal, release, reserve } from './attempts.ts';
import type { PinVault } from './pin.ts';
import type { Account, AccountRecords } from './records.ts';
import { type Pace, type SprayOptions, sprayBrake } from './spray.ts';

/** The input of every call with a PIN. */
export interface PinCall {
  /** E.164 with `+`. */
  readonly phone: string;
  readonly pin: string;
  /** Identical for all retries of one call; a retry neither acts nor counts twice. */
  readonly idempotencyKey?: string;
  /** Keyed hashes of the SIM card, when the telecom gateway identifies it. */
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

/** Counts an attempt, checks it and records a failure. The caller records a match. */
export type PinCheck = (call: PinCall, mark: string | null) => Promise<Checked>;

export function pinCheck({ records, vault, clock, ...spray }: PinCheckDeps): PinCheck {
  const brake = sprayBrake(clock, spray);

  const check: PinCheck = async (call, mark) => {
    const pace = brake.begin();
    if (pace === 'refused') throw busyError();
    let outcome: 'right' | 'wrong' | 'unchecked' = 'unchecked';
    try {
      const verdict = await checkPin(call, { mark, pace, onResult: (match) => (outcome = match ? 'right' : 'wrong') });
      const isGuess = pace === 'slowed' && !verdict.match && verdict.refusal.reason === 'wrong';
      if (isGuess) throw busyError();
      return verdict;
    } finally {
      brake.end(pace, outcome);
    }
  };

  const checkPin = async ({ phone, pin }: PinCall, { mark, pace, onResult }: CheckOptions): Promise<Checked> => {
    const { found: record, reservation } = await records.update(phone, (record) => {
      const reservation = reserve(record.attempts, clock.now(), mark);
      const answer = { found: record, reservation };
      if (reservation.kind === 'refused') return { answer };
      if (pace === 'slowed' && failuresBefore(reservation) > 0) throw busyError();
      return { changes: { attempts: reservation.attempts }, answer };
    });
    if (reservation.kind === 'refused') return { match: false, refusal: reservation.refusal };
    const { at, attempts } = reservation;
    const account = record.kind === 'account' ? record.stored.body : undefined;
    const result = await vault.check(pin, phone, account?.pin).catch(async (error: unknown) => {
      // If releasing fails too, the attempt stays counted: fail closed.
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

// One message for a number with failures, a wrong PIN and a skipped check, so that a guess reveals nothing.
function busyError(): TwinlineError {
  return new TwinlineError('ERR_BUSY', 'Too many PIN checks are failing right now. Try again in a few minutes.');
}

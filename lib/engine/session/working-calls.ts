// The calls in the working copy of a session: their keys and leases, and what of their inputs is stored.

import { createHash } from 'node:crypto';
import type { Json, JsonObject } from '../../json/json.ts';
import { listRequestSecrets } from '../../redact.ts';
import { openText, type Seal, sealText } from '../../sealing.ts';
import { type CallOutcome, longestMs } from '../calls.ts';
import type { Conversation } from '../conversation.ts';
import type { Engine } from '../engine.ts';
import { ENGINE_LIMITS } from '../limits.ts';
import type { NewCall } from '../machine/step.ts';
import type { ServiceSession } from '../service.ts';
import type { SessionCall } from './record.ts';

/** The turn that a call belongs to. */
export interface CallingTurn {
  readonly key: string;
  readonly conversation: Conversation;
  readonly turn: number;
  readonly startedAt: number;
  readonly steps: number;
  readonly door: JsonObject;
}

/** A call in the working copy of a session. */
export interface WorkingCall {
  /** The invoke's id in the machine. */
  readonly id: string;
  readonly call: SessionCall;
  /** Kept here even when it may not be stored; absent when the call was found in the record without it. */
  readonly input?: Json;
  /** Once this process works on it, or knows how it ended. */
  readonly answer?: Promise<CallOutcome>;
  /** The record says that it has begun, under this lease. */
  readonly stored: boolean;
}

/** A call that a step asks for. */
export function workingCall(engine: Engine, work: CallingTurn, { id, service, input, hops }: NewCall): WorkingCall {
  const { secret } = work.conversation.callPolicy(id);
  const until = leaseUntil(engine, work, id);
  const key = callKey(work, id);
  const call: SessionCall = {
    id,
    service,
    key,
    until,
    ...(hops > 0 && { hops }),
    ...(!secret && storeInput(engine, key, input)),
  };
  return { id, call, input, stored: false };
}

const callSeal = (key: string): Seal => ({ purpose: 'call-input/v1', label: [key] });

/** What of an input is stored. Credentials are the same in every session, so a call that holds some can be made again: its input is sealed. */
export function storeInput({ keyring }: Engine, key: string, input: Json): Pick<SessionCall, 'input' | 'sealed'> {
  if (listRequestSecrets(input).length === 0) return { input };
  return keyring ? { sealed: sealText(keyring, callSeal(key), JSON.stringify(input)) } : {};
}

/** What the record says of the call's input: nothing when it may not be stored, or was sealed by a key that is gone. */
export function readInput({ keyring }: Engine, { key, input, sealed }: SessionCall): Pick<WorkingCall, 'input'> {
  if (sealed === undefined) return input === undefined ? {} : { input };
  const text = keyring && openText(keyring, callSeal(key), sealed);
  return text === undefined ? {} : { input: JSON.parse(text) as Json };
}

/** When the lease of a call ends that is made from now on: after all its tries. */
export function leaseUntil(engine: Engine, work: CallingTurn, id: string): number {
  return engine.clock.now() + longestMs(work.conversation.callPolicy(id)) + ENGINE_LIMITS.turnReserveMs;
}

/**
 * The idempotency key of a call. The same turn computed again gives the same one; another turn, dial or pass through the state gives
 * another.
 */
export function callKey(work: CallingTurn, id: string): string {
  const parts: Json = [work.key, work.startedAt, work.turn, work.steps, id];
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 22);
}

/** The caller, as services get it. */
export function serviceSession(work: CallingTurn): ServiceSession {
  const { sessionId, phoneNumber, serviceCode, sim, simulated } = work.door;
  return {
    id: typeof sessionId === 'string' ? sessionId : work.key,
    ...(typeof phoneNumber === 'string' && { phoneNumber }),
    ...(typeof serviceCode === 'string' && { serviceCode }),
    conversation: work.conversation.id,
    ...(typeof sim === 'string' && { sim }),
    ...(simulated === true && { simulated }),
  };
}

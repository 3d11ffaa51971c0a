// Sessions that hold private values: their variables, the inputs of their calls and their last reply are sealed before they
// are stored. What tells nothing about the caller, such as the state and the timers, stays readable.
//
// Without a keyring nothing can be sealed; then a record holds private values as it holds all others.

import { openText, type Seal, sealText } from '../../sealing.ts';
import { isListWhere, isObject, isText } from '../../shape.ts';
import type { JsonObject, StoredSession } from '../../store/store.ts';
import type { Engine } from '../engine.ts';
import { isRest } from '../machine/step.ts';
import {
  decodeRecord,
  isCall,
  type RecordProblem,
  type SessionCall,
  type SessionRecord,
  undefinedNames,
  withUndefined,
} from './record.ts';

const seal = (key: string, what: 'record' | 'reply'): Seal => ({ purpose: 'session-private/v1', label: [key, what] });

/** The record with its variables and calls in `sealed`; as it is without a keyring. */
export function sealRecord({ keyring }: Engine, key: string, record: SessionRecord): SessionRecord {
  if (!keyring) return record;
  const { rest, calls } = record;
  const content = JSON.stringify({ c: rest.context, u: undefinedNames(rest.context), k: calls });
  const sealed = sealText(keyring, seal(key, 'record'), content);
  return { ...record, rest: { ...rest, context: {} }, calls: [], sealed };
}

/** The record as it was before it was sealed; one that never was is given back. */
export function openRecord(
  { keyring }: Pick<Engine, 'keyring'>,
  key: string,
  record: SessionRecord,
): SessionRecord | RecordProblem {
  const { sealed, ...open } = record;
  if (sealed === undefined) return record;
  const text = keyring && openText(keyring, seal(key, 'record'), sealed);
  if (text === undefined) return 'other-key';
  const { c, u, k } = JSON.parse(text) as { c: JsonObject; u?: string[]; k: SessionCall[] };
  const isSound = isObject(c) && (u === undefined || isListWhere(u, isText)) && isListWhere(k, isCall);
  if (!isSound || !isRest(record.rest.state, c, record.rest.history)) return 'malformed';
  return { ...open, rest: { ...record.rest, context: u ? withUndefined(c, u) : c }, calls: k };
}

/** What is stored of a reply that may show private values. */
export function sealReply({ keyring }: Engine, key: string, text: string): string {
  return keyring ? sealText(keyring, seal(key, 'reply'), text) : text;
}

// How every sealed text begins. A reply of a menu may begin so, too: its record tells them apart.
const SEALED = 'v1$';

/** The reply of a stored session as the caller read it. */
export function openReply(
  { keyring, seals }: Engine,
  key: string,
  { reply, record }: Pick<StoredSession, 'reply' | 'record'>,
): { readonly text: string } | RecordProblem {
  if (!keyring || !reply.startsWith(SEALED)) return { text: reply };
  const decoded = decodeRecord(key, record, seals);
  if (typeof decoded === 'string') return decoded;
  if (decoded.sealed === undefined) return { text: reply };
  const text = openText(keyring, seal(key, 'reply'), reply);
  return text === undefined ? 'other-key' : { text };
}

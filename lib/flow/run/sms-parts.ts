// How many parts a text takes as an SMS: each is sent, and paid for, by itself.

import { FLOW_LIMITS } from '../limits.ts';
import { room, septets } from './render.ts';

/** What a text takes as an SMS. */
export interface SmsSize {
  readonly encoding: 'gsm7' | 'ucs2';
  readonly parts: number;
}

/**
 * The encoding that a text needs, and its parts. No character is split between two parts.
 * @example
 * measureSms('a'.repeat(161)); // → { encoding: 'gsm7', parts: 2 }
 * measureSms('茶'.repeat(70)); // → { encoding: 'ucs2', parts: 1 }
 */
export function measureSms(text: string): SmsSize {
  const { encoding, used } = room(text);
  const [whole, part] =
    encoding === 'gsm7'
      ? [FLOW_LIMITS.smsSeptets, FLOW_LIMITS.smsPartSeptets]
      : [FLOW_LIMITS.smsUcs2Units, FLOW_LIMITS.smsPartUcs2Units];
  if (used <= whole) return { encoding, parts: 1 };
  let parts = 1;
  let left: number = part;
  for (const character of text) {
    const size = encoding === 'gsm7' ? septets(character)! : character.length;
    if (size > left) {
      parts++;
      left = part;
    }
    left -= size;
  }
  return { encoding, parts };
}

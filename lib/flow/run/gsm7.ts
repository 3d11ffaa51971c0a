// How much room a text takes on a phone: the GSM 7-bit default alphabet, and UCS-2 for everything outside it.
import { FLOW_LIMITS } from '../limits.ts';

/** Where a text stands on one USSD screen; `used` and `limit` are septets for gsm7, UTF-16 code units for ucs2. */
export type Room = { encoding: 'gsm7' | 'ucs2'; used: number; limit: number };

// 3GPP TS 23.038: 6.2.1 (basic table, without the escape at 0x1B) and 6.2.1.1 (its extension table).
const BASIC =
  '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà';
const EXTENSION = '\f^{}\\[~]|€';

// One byte per code unit up to the highest one in the alphabet (U+20AC): 0 outside, else the septets it takes.
const COST = new Uint8Array(0x20ad);
for (const character of BASIC) COST[character.charCodeAt(0)] = 1;
for (const character of EXTENSION) COST[character.charCodeAt(0)] = 2;

const CONTROL = /\p{Cc}/u;
const CONTROL_BUT_NEWLINE = /(?!\n)\p{Cc}/gu;

/** Septets that `text` takes in GSM 7-bit (extension characters count 2); undefined when a character is not in it. */
export function septets(text: string): number | undefined {
  let used = 0;
  for (let at = 0; at < text.length; at++) {
    const cost = COST[text.charCodeAt(at)];
    if (!cost) return undefined;
    used += cost;
  }
  return used;
}

/** The encoding that `text` needs, what it uses of a screen and how much a screen holds in that encoding. */
export function room(text: string): Room {
  const used = septets(text);
  return used === undefined
    ? { encoding: 'ucs2', used: text.length, limit: FLOW_LIMITS.screenUcs2Units }
    : { encoding: 'gsm7', used, limit: FLOW_LIMITS.screenSeptets };
}

/** Whether `text` fits one screen in the encoding that it needs. */
export function fits(text: string): boolean {
  const used = septets(text);
  return used === undefined ? text.length <= FLOW_LIMITS.screenUcs2Units : used <= FLOW_LIMITS.screenSeptets;
}

/** The distinct characters of `text` outside GSM 7-bit, in order of appearance: those that force UCS-2. */
export function nonGsm7(text: string): string[] {
  const found = new Set<string>();
  for (const character of text) if (septets(character) === undefined) found.add(character);
  return [...found];
}

/** `text` without control characters (C0, DEL, C1); newlines stay. */
export function clean(text: string): string {
  return CONTROL.test(text) ? text.replace(CONTROL_BUT_NEWLINE, '') : text;
}

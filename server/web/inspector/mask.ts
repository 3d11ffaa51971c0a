// What the inspector hides of what it is shown: phone numbers, what people write to the agent, and sealed things.

import type { Json, JsonObject } from '../../../lib/store/store.ts';

/** Stands for a character that is not shown. */
export const DOT = '•';

const NUMBER = /(?<![\d.])\+?\d{9,15}(?![\d.])/g;
const SHOWN_BEFORE = 5;
const SHOWN_BEHIND = 2;

/** Shortens every phone number in a text: `+2607•••••45`. Any other run of 9 to 15 digits looks like one, too. */
export function shortened(text: string): string {
  return text.replace(NUMBER, (number) => {
    const hidden = number.length - SHOWN_BEFORE - SHOWN_BEHIND;
    return number.slice(0, SHOWN_BEFORE) + DOT.repeat(hidden) + number.slice(-SHOWN_BEHIND);
  });
}

/** A value with all phone numbers shortened, in names, texts and numbers. */
export function withoutNumbers(value: Json): Json {
  return mapped(value, shortened);
}

/** A value without any of its texts: how much of what there is, and nothing that somebody wrote. */
export function withoutTexts(value: Json): Json {
  return mapped(value, (text) => DOT.repeat(Math.min(text.length, 8)));
}

function mapped(value: Json, text: (text: string) => string): Json {
  if (typeof value === 'string') return text(value);
  // A phone number that a service gave as a number.
  if (typeof value === 'number') return Math.abs(value) < 1e8 ? value : text(String(value));
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map((item) => mapped(item, text));
  return Object.fromEntries(
    Object.entries(value as JsonObject).map(([name, item]) => [shortened(name), mapped(item, text)]),
  );
}

/** Of the lifecycles that keep sealed tokens or what users say: the fields that may be seen. Others are shown whole. */
const SEEN: { readonly [machine: string]: readonly string[] } = {
  delegation: ['expiresAt', 'storedAt'],
  'agent-stream': ['session', 'turn', 'inLine', 'fence', 'leaseUntil', 'claims', 'abortRequested', 'endedAt', 'sealed'],
};

/** The context of a lifecycle as it may be shown. */
export function lifecycleContext(machine: string, context: JsonObject): JsonObject {
  const seen = Object.hasOwn(SEEN, machine) ? SEEN[machine] : undefined;
  return seen ? Object.fromEntries(Object.entries(context).filter(([name]) => seen.includes(name))) : context;
}

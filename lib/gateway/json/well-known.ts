// The well-known types that JSON writes as one string: Timestamp, Duration and FieldMask.

import { protoCamelCase, protoSnakeCase } from '@bufbuild/protobuf/reflect';
import { byte } from './out.ts';
import { ascii, digits, padded, quotedText } from './text.ts';
import { type Job, noJson, skip, tagOf, textOf, unreadable, varint, WIRE } from './wire.ts';

/** Writes the message that lies between `job.at` and `end` as a JSON value. */
export type MessageWriter = (job: Job, end: number) => void;

const FIRST_SECOND = -62_135_596_800;
const LAST_SECOND = 253_402_300_799;
const DURATION_SECONDS = 315_576_000_000;
const NANOS = 1_000_000_000;

/** RFC 3339 in UTC with 0, 3, 6 or 9 digits of a second. */
export const timestamp: MessageWriter = (job, end) => {
  const { seconds, nanos } = secondsAndNanos(job, end);
  if (seconds < FIRST_SECOND || seconds > LAST_SECOND || nanos < 0 || nanos >= NANOS)
    throw noJson('a time lies before the year 1 or after the year 9999');
  const days = Math.floor(seconds / 86_400);
  const time = seconds - days * 86_400;
  byte(job, 0x22);
  date(job, days);
  byte(job, 0x54);
  padded(job, Math.floor(time / 3_600), 2);
  byte(job, 0x3a);
  padded(job, Math.floor(time / 60) % 60, 2);
  byte(job, 0x3a);
  padded(job, time % 60, 2);
  fraction(job, nanos);
  ascii(job, 'Z"');
};

/** Seconds with 0, 3, 6 or 9 decimals and an s: `"1.500s"`. */
export const duration: MessageWriter = (job, end) => {
  const { seconds, nanos } = secondsAndNanos(job, end);
  if (Math.abs(seconds) > DURATION_SECONDS || Math.abs(nanos) >= NANOS || seconds * nanos < 0)
    throw noJson('a duration is longer than 10,000 years, or its seconds and nanoseconds differ in sign');
  ascii(job, seconds < 0 || nanos < 0 ? '"-' : '"');
  digits(job, Math.abs(seconds));
  fraction(job, Math.abs(nanos));
  ascii(job, 's"');
};

/** Paths in lowerCamelCase with commas between. */
export const fieldMask: MessageWriter = (job, end) => {
  const paths: string[] = [];
  while (job.at < end) {
    const tag = tagOf(job);
    if (tag !== ((1 << 3) | WIRE.bytes)) {
      skip(job, tag, end);
      continue;
    }
    const path = textOf(job, end, true);
    if (protoSnakeCase(protoCamelCase(path)) !== path)
      throw noJson('a path of a FieldMask cannot be told in lowerCamelCase');
    paths.push(protoCamelCase(path));
  }
  quotedText(job, paths.join(','));
};

function secondsAndNanos(job: Job, end: number): { seconds: number; nanos: number } {
  let seconds = 0;
  let nanos = 0;
  while (job.at < end) {
    const tag = tagOf(job);
    if (tag === 1 << 3) {
      const low = varint(job) >>> 0;
      seconds = job.hi * 4_294_967_296 + low;
    } else if (tag === 2 << 3) nanos = varint(job);
    else skip(job, tag, end);
  }
  if (job.at > end) throw unreadable('a time reaches beyond its message');
  return { seconds, nanos };
}

function fraction(job: Job, nanos: number): void {
  if (nanos === 0) return;
  byte(job, 0x2e);
  if (nanos % 1_000_000 === 0) padded(job, nanos / 1_000_000, 3);
  else if (nanos % 1_000 === 0) padded(job, nanos / 1_000, 6);
  else padded(job, nanos, 9);
}

// Days since 1970 to a date of the Gregorian calendar, by eras of 400 years that begin in March.
function date(job: Job, days: number): void {
  const shifted = days + 719_468;
  const era = Math.floor(shifted / 146_097);
  const inEra = shifted - era * 146_097;
  const years = Math.floor(
    (inEra - Math.floor(inEra / 1_460) + Math.floor(inEra / 36_524) - Math.floor(inEra / 146_096)) / 365,
  );
  const inYear = inEra - (365 * years + Math.floor(years / 4) - Math.floor(years / 100));
  const fromMarch = Math.floor((5 * inYear + 2) / 153);
  const month = fromMarch < 10 ? fromMarch + 3 : fromMarch - 9;
  padded(job, years + era * 400 + (month <= 2 ? 1 : 0), 4);
  byte(job, 0x2d);
  padded(job, month, 2);
  byte(job, 0x2d);
  padded(job, inYear - Math.floor((153 * fromMarch + 2) / 5) + 1, 2);
}

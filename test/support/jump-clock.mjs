// Loaded before a server: its time of day is away from that of the machine by as many milliseconds as the file CLOCK_OFFSET says,
// which is read again on SIGUSR2; the file beside it, `.read`, says what was read. What a monotonic clock measures stays as it is, as when somebody sets the clock of a machine.

import { readFileSync, writeFileSync } from 'node:fs';

const RealDate = Date;
let offset = 0;
const now = () => RealDate.now() + offset;
const read = () => {
  offset = Number(readFileSync(process.env.CLOCK_OFFSET, 'utf8'));
  writeFileSync(`${process.env.CLOCK_OFFSET}.read`, String(offset));
};

globalThis.Date = new Proxy(RealDate, {
  construct: (target, given, made) => Reflect.construct(target, given.length ? given : [now()], made),
  apply: () => new RealDate(now()).toString(),
  get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
});

read();
process.on('SIGUSR2', read);

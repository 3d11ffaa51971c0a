// A process that simulates and does nothing else: tells which calls of the real time, a real timer or real chance were made meanwhile,
// each with where from.

import { range, simulateAll } from './many.ts';

const SEEDS = 200;
/** So many calls are told. */
const TOLD = 10;

const asked: string[] = [];
const places: [object, string][] = [
  [Date, 'now'],
  [Math, 'random'],
  [performance, 'now'],
  [globalThis, 'setTimeout'],
  [globalThis, 'setInterval'],
  [globalThis.crypto, 'getRandomValues'],
];
for (const [place, name] of places) {
  const real = Reflect.get(place, name) as (...args: unknown[]) => unknown;
  const value = (...args: unknown[]) => {
    if (asked.length < TOLD) asked.push(`${name} ${new Error('asked').stack}`);
    return real.apply(place, args);
  };
  Object.defineProperty(place, name, { value, configurable: true, writable: true });
}
await simulateAll(range(1, SEEDS), {}, () => {});
process.send?.(asked);
process.disconnect?.();

// The stores that a simulation can run on, by name: those that keep every promise, and those that break one.

import { memorySnapshots } from '../../lib/store/memory/index.ts';
import { BROKEN } from './broken.ts';
import type { Setup } from './simulation.ts';
import { type Backend, plainStore } from './store.ts';

/** Stores that keep every promise. */
export const BACKENDS: { readonly [name: string]: Backend } = {
  simulated: plainStore,
  memory: (now) => memorySnapshots({ clock: { now } }),
};

/** What a simulation on the store of this name needs. */
export function setupOf(name: string): Setup {
  const broken = name.startsWith('no-') ? BROKEN[name.slice(3)]?.setup : undefined;
  const backend = BACKENDS[name];
  if (broken) return broken;
  if (backend) return { backend };
  const names = [...Object.keys(BACKENDS), ...Object.keys(BROKEN).map((lack) => `no-${lack}`)];
  throw new Error(`There is no store "${name}"; there are ${names.join(', ')}.`);
}

// What the promises of every store are shown with: a new folder, and a clock that stands still.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SimulatedClock } from '../clock.ts';
import { noteCalls } from './calls.ts';

/** Where a store is opened: the same folder means the same data, another folder other data. */
export interface Where {
  readonly folder: string;
  readonly clock: SimulatedClock;
}

/** Opens the store under test, again and again. */
export type Open<Store> = (where: Where) => Store | Promise<Store>;

/** A new store for one promise. */
export interface Bench<Store> {
  readonly store: Store;
  readonly clock: SimulatedClock;
  /** Another store on the same data. */
  again(): Promise<Store>;
}

/** Sentence → what shows that it is kept. */
export type Promises<Store> = { readonly [sentence: string]: (bench: Bench<Store>) => Promise<void> };

/** Opens a store in a new folder and cleans up behind `keep`, also when it threw. */
export async function withBench<Store extends { close(): Promise<unknown> }>(
  open: Open<Store>,
  keep: (bench: Bench<Store>) => Promise<void>,
): Promise<void> {
  const where = { folder: mkdtempSync(join(tmpdir(), 'twinline-store-')), clock: new SimulatedClock() };
  const opened: Store[] = [];
  const again = async () => {
    opened.push(noteCalls(await open(where)));
    return opened.at(-1)!;
  };
  try {
    await keep({ store: await again(), clock: where.clock, again });
  } finally {
    for (const store of opened) await store.close();
    rmSync(where.folder, { recursive: true, force: true });
  }
}

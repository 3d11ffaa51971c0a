// Stores with a native part: it is loaded when such a store is opened, and what is asked of the store meanwhile waits for that.

import { TwinlineError } from '../errors.ts';

/**
 * Loads a native part; throws ERR_CONFIG that says what is missing, and what to do. `part` is whose it is, such as `SQLite`. `load`
 * imports the package itself: where a module that imports it is imported instead, Node 20 ends the process.
 */
export async function loadNative<Module>(part: string, load: () => Promise<Module>): Promise<Module> {
  try {
    return await load();
  } catch (error) {
    const [reason] = (error as Error).message.split('\n');
    const isMissing = /^(Cannot find|No native build)/.test(reason!);
    const fault = isMissing ? 'is not installed' : `cannot be loaded: ${reason}`;
    throw new TwinlineError(
      'ERR_CONFIG',
      `${part}'s part for ${process.platform}-${process.arch} ${fault}. ${REMEDY}`,
      {
        cause: error,
      },
    );
  }
}

const REMEDY =
  'Install twinline on the machine that runs it, without --omit=optional and without the lock file of another platform; beside a bundle, install lmdb and libsql.';

/** A store before it is open: its methods wait for `opening`. Once it is open, its own methods stand in their place. */
export function openLater<S extends { close(): Promise<void> }>(opening: Promise<S>, waiting: Omit<S, 'close'>): S {
  const close = async () => {
    const native = await opening.catch(() => undefined);
    await native?.close();
  };
  const store = { ...waiting, close } as S;
  opening.then(
    (native) => Object.assign(store, native),
    () => {},
  );
  return store;
}

// What a store on a disk says when its files are not what it has written.

import { TwinlineError } from '../errors.ts';

/** ERR_STORE, `damaged`: it does not pass by itself. `store` names the store with its path. */
export function damagedError(store: string, cause: unknown): TwinlineError {
  const why = cause instanceof Error ? cause.message : String(cause);
  const fix =
    'Stop every server that uses it and restore it from a backup. Without one move it away: what it kept is gone.';
  return new TwinlineError('ERR_STORE', `${store} is damaged: ${why}. ${fix}`, { reason: 'damaged', cause });
}

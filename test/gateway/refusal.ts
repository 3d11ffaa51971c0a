// The error with which something is refused.

import * as assert from 'uvu/assert';
import { TwinlineError } from '../../lib/errors.ts';

/** Fails unless `work` throws an error of ours, with this code if one is named. */
export function refusal(work: () => unknown, code?: TwinlineError['code']): TwinlineError {
  try {
    work();
  } catch (error) {
    assert.instance(error, TwinlineError, String(error));
    if (code) assert.is((error as TwinlineError).code, code, String(error));
    return error as TwinlineError;
  }
  throw new Error('Nothing was thrown.');
}

/** The same for what is promised. */
export const refusalOf = (promise: Promise<unknown>): Promise<TwinlineError> =>
  promise.then(
    () => refusal(() => {}),
    (error: unknown) =>
      refusal(() => {
        throw error;
      }),
  );

// What the promises about refusals are shown with: stores that note their last call, so that a failure names it.

import { inspect } from 'node:util';
import { TwinlineError } from '../errors.ts';
import { unreachable } from './assert.ts';

let lastCall: string | undefined;

/** The same store; which of its methods was called last, and with what, is noted. */
export function noteCalls<Store extends object>(store: Store): Store {
  return new Proxy(store, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      return (...given: unknown[]) => {
        lastCall = `${String(name)}(${given.map(show).join(', ')})`;
        return value.apply(target, given);
      };
    },
  });
}

/** Fails unless `act` throws or rejects with a TwinlineError of this code. It calls the store before it waits for anything. */
export async function refuses(code: string, act: () => unknown): Promise<TwinlineError> {
  lastCall = undefined;
  let call: string | undefined;
  try {
    const answer = act();
    call = lastCall;
    await answer;
  } catch (error) {
    const asked = call ?? lastCall ?? String(act);
    if (error instanceof TwinlineError && error.code === code) return error;
    const meant = `${asked} must be refused with a TwinlineError of code ${code}; it was refused with ${String(error)}.`;
    return unreachable(error instanceof TwinlineError ? `${meant} Its code is ${error.code}.` : meant);
  }
  return unreachable(`${call ?? String(act)} must be refused with ${code}; it was accepted.`);
}

function show(value: unknown): string {
  return inspect(value, { breakLength: Number.POSITIVE_INFINITY, depth: 4, maxArrayLength: 4, maxStringLength: 60 });
}

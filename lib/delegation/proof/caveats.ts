// Caveats of a capability: a derived one keeps all of them, as they are, and may add some.

import { isDeepStrictEqual } from 'node:util';

type Caveats = Readonly<Record<string, unknown>>;

/** Whether `derived` has every caveat of `granted` with the same value. */
export function keepsCaveats(derived: Caveats = {}, granted: Caveats = {}): boolean {
  return Object.keys(granted).every(
    (name) => Object.hasOwn(derived, name) && isDeepStrictEqual(derived[name], granted[name]),
  );
}

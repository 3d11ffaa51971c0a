// The keyword `uniqueItems` in linear time: the library's own compares every item with every other.

import type { Ajv2020 } from 'ajv/dist/2020.js';
import { Identities } from '../../json/compare.ts';
import type { Json } from '../../store/store.ts';

/** Puts our `uniqueItems` in the place of the library's; the words of the error are the same. */
export function replaceUniqueItems(ajv: Ajv2020): void {
  ajv.removeKeyword('uniqueItems');
  ajv.addKeyword({ keyword: 'uniqueItems', type: 'array', schemaType: 'boolean', errors: true, validate });
}

interface Report {
  errors?: object[];
}

const validate: ((isWanted: boolean, list: readonly Json[]) => boolean) & Report = (isWanted, list) => {
  const twins = isWanted ? firstTwins(list) : undefined;
  if (!twins) return true;
  const [i, j] = twins;
  const message = `must NOT have duplicate items (items ## ${j} and ${i} are identical)`;
  validate.errors = [{ keyword: 'uniqueItems', params: { i, j }, message }];
  return false;
};

/** The places of the first item that was there before: the later and the earlier one. */
function firstTwins(list: readonly Json[]): readonly [number, number] | undefined {
  const identities = new Identities();
  const places = new Map<number, number>();
  for (const [at, item] of list.entries()) {
    const id = identities.identify(item);
    const before = places.get(id);
    if (before !== undefined) return [at, before];
    places.set(id, at);
  }
  return undefined;
}

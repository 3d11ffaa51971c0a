// Names of records: nothing here is named by the DID of another record, or it would claim to be that one.

import type { DocumentStore } from '../../store/store.ts';
import { isDid } from '../did/did.ts';
import { mayBeId } from '../find.ts';
import { DOMAIN, PROTOCOL } from '../kinds.ts';
import { refuse } from '../problems.ts';

export interface Names {
  /** Of the record that has, or gets, the names. */
  readonly did: string;
  readonly names: readonly string[];
  /** Names that it has already: they are not looked at again. @default none */
  readonly before?: readonly string[];
}

/**
 * Throws `already-exists`, with each field, when a new name is the DID of another twin or protocol of any tenant. A DID
 * that is made later is never one of these names, because it is made at random.
 */
export async function refuseForeignDids(documents: DocumentStore, { did, names, before = [] }: Names): Promise<void> {
  const isForeign = async (name: string) => {
    if (name === did || before.includes(name) || !isDid(name) || !mayBeId(name)) return false;
    return [await documents.get(DOMAIN, name), await documents.get(PROTOCOL, name)].some(
      (found) => found !== undefined,
    );
  };
  const foreign = await Promise.all(names.map(isForeign));
  const details = names.flatMap((name, at) =>
    foreign[at] ? [{ field: `/alsoKnownAs/${at}`, error: `is the DID of another record here, ${name}` }] : [],
  );
  if (!details.length) return;
  throw refuse('already-exists', 'A name in alsoKnownAs is the DID of another record here. Use other names.', {
    details,
  });
}

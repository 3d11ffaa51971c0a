// Changes one document of a plugin atomically, also under concurrent changes.

import { TwinlineError } from '../../../lib/errors.ts';
import { LIMITS } from '../../../lib/limits.ts';
import type { JsonObject, Kind } from '../../../lib/store/store.ts';
import type { PluginHost } from '../plugin.ts';

type Documents = Pick<PluginHost['documents'], 'get' | 'insert' | 'replace'>;

/**
 * Writes what `change` makes of the document, or of undefined when there is none, and gives it; asked again when another
 * writer was first. When `change` gives undefined nothing is written. Throws ERR_CONFLICT after LIMITS.conflictsPerTurn tries.
 */
export async function changeDocument<Body extends JsonObject>(
  documents: Documents,
  { kind, id }: { readonly kind: Kind; readonly id: string },
  change: (body: Body | undefined) => Promise<Body | undefined> | Body | undefined,
): Promise<Body | undefined> {
  for (let tries = 0; tries < LIMITS.conflictsPerTurn; tries++) {
    const found = await documents.get<Body>(kind, id);
    const body = await change(found?.body);
    if (body === undefined) return undefined;
    const isWritten = found
      ? (await documents.replace(kind, id, found.revision, body)).kind === 'replaced'
      : (await inserted(documents, { kind, id }, body)) !== undefined;
    if (isWritten) return body;
  }
  throw new TwinlineError(
    'ERR_CONFLICT',
    `A document of the kind ${kind.name} was changed by others ${LIMITS.conflictsPerTurn} times in a row. Try again.`,
  );
}

/** The document that was inserted; undefined when its id or a unique value of it is taken. */
export async function inserted<Body extends JsonObject>(
  documents: Pick<Documents, 'insert'>,
  { kind, id }: { readonly kind: Kind; readonly id: string },
  body: Body,
) {
  try {
    return await documents.insert(kind, id, body);
  } catch (error) {
    if (error instanceof TwinlineError && error.code === 'ERR_EXISTS') return undefined;
    throw error;
  }
}

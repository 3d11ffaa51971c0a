// Whether what a line of an import is about is here already: every name that it gives must lead to the same record.

import { isDeepStrictEqual } from 'node:util';
import type { Detail } from '../../errors.ts';
import type { Json, JsonObject } from '../../json/json.ts';
import type { DocumentStore } from '../../store/store.ts';
import type { Caller } from '../caller.ts';
import { findDomain } from '../find.ts';
import { DOMAIN } from '../kinds.ts';
import { DOMAIN_LIMITS } from '../limits.ts';
import { refuse } from '../problems.ts';
import type { Registry } from '../registry.ts';
import { toTexts } from '../twin/protocol.ts';
import { type StoredDomain, TWIN_LISTS } from '../twin/record.ts';
import type { ImportedLine } from './record-lines.ts';

/** Where an import writes. */
export interface ImportTarget {
  readonly documents: DocumentStore;
  readonly twins: Registry;
}

/** A line that makes something. */
export interface NewLine {
  readonly kind: 'protocol' | 'domain' | 'entity';
  readonly body: JsonObject;
}

// Longer ones are refused.
const NAME_CHARS = 512;

/**
 * What is here under the names of the line; undefined when none of them leads anywhere, or when they are malformed, which
 * is left to the checks of the new record. Throws `already-exists`, with each field, when some names lead to another
 * record than others or nowhere, or when the record is of another type.
 */
export async function findEarlier(
  place: ImportTarget,
  caller: Caller,
  line: NewLine,
): Promise<ImportedLine | undefined> {
  const names = listNames(line);
  const bodies = await Promise.all(names.map(({ find }) => find(place, caller)));
  const body = bodies.find((body) => body !== undefined);
  if (!body) return undefined;
  const { did } = body;
  const others: Detail[] = names.flatMap(({ field }, at) => {
    const other = bodies[at]?.did;
    const error = other === undefined ? `is no name of ${did}` : `belongs to ${other}`;
    return other === did ? [] : [{ field, error }];
  });
  const { type } = line.body;
  if (line.kind !== 'protocol' && typeof type === 'string' && type !== body.type)
    others.push({ field: '/type', error: `is not that of ${did}, which is a ${body.type}` });
  if (others.length)
    throw refuse(
      'already-exists',
      `A name of the line belongs to ${did}, but not everything in it does: see the details. Nothing was changed.`,
      { details: others },
    );
  const differs = await differences(place, caller, { line, known: body });
  return { did, created: false, ...(differs.length && { differs }) };
}

type RecordWithDid = JsonObject & { readonly did: string };

interface Name {
  readonly field: string;
  readonly find: (place: ImportTarget, caller: Caller) => Promise<RecordWithDid | undefined>;
}

function listNames({ kind, body: { alsoKnownAs, externalId } }: NewLine): Name[] {
  const aliases = toTexts(alsoKnownAs as string | string[] | undefined) as readonly Json[] | null;
  if (!Array.isArray(aliases) || aliases.length > DOMAIN_LIMITS.aliasesPerTwin) return [];
  const hasExternal = kind !== 'protocol' && externalId !== undefined;
  if (![...aliases, ...(hasExternal ? [externalId] : [])].every(isName)) return [];
  const byAlias = aliases.map((name: string, at): Name => {
    const field = typeof alsoKnownAs === 'string' ? '/alsoKnownAs' : `/alsoKnownAs/${at}`;
    return {
      field,
      find: async ({ documents, twins }, { tenant }) =>
        (kind === 'protocol' ? await twins.protocols.find(tenant, name) : await findDomain(documents, tenant, name))
          ?.body,
    };
  });
  if (!hasExternal) return byAlias;
  return [
    ...byAlias,
    { field: '/externalId', find: (place, caller) => byExternalId(place, caller, externalId as string) },
  ];
}

function isName(name: unknown): boolean {
  return typeof name === 'string' && name.length > 0 && name.length <= NAME_CHARS;
}

async function byExternalId(
  { documents }: ImportTarget,
  { tenant }: Caller,
  externalId: string,
): Promise<RecordWithDid | undefined> {
  const query = { index: 'external', where: { tenant, externalId }, limit: 1 };
  return (await documents.find<StoredDomain>(DOMAIN, query)).items[0]?.body;
}

// Fields of a line that a record keeps under the same name, as they were sent.
const KEPT = [...['name', 'metadata', 'properties', 'relationships', 'validFrom', 'validUntil'], ...TWIN_LISTS];

/** Only what the line says: what it leaves out may be anything here. */
async function differences(
  { documents, twins }: ImportTarget,
  { tenant }: Caller,
  { line, known }: { line: NewLine; known: RecordWithDid },
): Promise<string[]> {
  const { kind, body } = line;
  const isOther = (field: string, there: Json | undefined) =>
    body[field] !== undefined && there !== undefined && !isDeepStrictEqual(body[field], there);
  const fields = KEPT.filter((field) => isOther(field, known[field]));
  const { controller, parent, class: named = body.protocol } = body;
  if (controller !== undefined && !isDeepStrictEqual([controller].flat(), known.controllers)) fields.push('controller');
  const resolveDid = async (reference: Json | undefined, isProtocol: boolean) => {
    if (typeof reference !== 'string') return undefined;
    const record = isProtocol ? twins.protocols.find(tenant, reference) : findDomain(documents, tenant, reference);
    return (await record)?.body.did;
  };
  if (isOther('parent', known.parent) && (await resolveDid(parent, kind === 'protocol')) !== known.parent)
    fields.push('parent');
  const isBound = kind !== 'protocol' && named !== undefined && known.class !== undefined;
  if (isBound && named !== known.classReference && (await resolveDid(named, true)) !== known.class)
    fields.push('class');
  if (known.status === 'Deactivated') fields.push('status');
  return fields.map((field) => `/${field}`);
}

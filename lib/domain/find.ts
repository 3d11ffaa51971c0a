// Finding one twin: by DID, alias or external id, within a tenant, and only when it is there for others to see.

import { LIMITS } from '../limits.ts';
import type { DocumentStore } from '../store/store.ts';
import type { Caller } from './caller.ts';
import { isDid } from './did/did.ts';
import { DOMAIN } from './kinds.ts';
import { refuse } from './problems.ts';
import type { Domain, StoredDomain } from './twin/record.ts';
import type { SettleVotes } from './voting/due-votes.ts';

/** A twin of the tenant by DID or alias; undefined when there is none, or it is not visible yet. */
export async function findDomain(
  documents: DocumentStore,
  tenant: string,
  reference: string,
): Promise<Domain | undefined> {
  const own = isDid(reference) && mayBeId(reference) ? await documents.get<StoredDomain>(DOMAIN, reference) : undefined;
  const found = own?.body.tenant === tenant ? own : await byAlias(documents, tenant, reference);
  return found && (await isVisible(documents, found)) ? found : undefined;
}

/** Where domains are read as their votes have left them. */
export interface Reading {
  readonly documents: DocumentStore;
  readonly settleVotes: SettleVotes;
}

/** As {@link findDomain}, after every vote about it that is over has taken effect. */
export async function findSettled(
  { documents, settleVotes }: Reading,
  tenant: string,
  reference: string,
): Promise<Domain | undefined> {
  const found = await findDomain(documents, tenant, reference);
  return found && (await settleVotes({ domain: found.id })) ? findDomain(documents, tenant, found.id) : found;
}

/** Whether a document can have this id; what is longer is nobody's. */
export function mayBeId(text: string): boolean {
  return text !== '' && text.length <= LIMITS.keyChars;
}

async function byAlias(documents: DocumentStore, tenant: string, alias: string): Promise<Domain | undefined> {
  const where = { tenant, 'alsoKnownAs[]': alias };
  return (await documents.find<StoredDomain>(DOMAIN, { index: 'alias', where, limit: 1 })).items[0];
}

/** A part that was written before its parent counts from the moment that the parent names it, and counts itself. */
export async function isVisible(documents: DocumentStore, { body }: Domain): Promise<boolean> {
  if (body.provisionalSince === null || body.parent === null) return true;
  const parent = await documents.get<StoredDomain>(DOMAIN, body.parent);
  if (!parent?.body.subDomains.some(({ did }) => did === body.did)) return false;
  return isVisible(documents, parent);
}

/** The twin; throws `not-found`, or `gone` when it was deactivated. */
export async function requireDomain(documents: DocumentStore, { tenant }: Caller, reference: string): Promise<Domain> {
  return living(await findDomain(documents, tenant, reference), reference);
}

/** As {@link requireDomain}, after every vote about it that is over has taken effect. */
export async function requireSettled(reading: Reading, { tenant }: Caller, reference: string): Promise<Domain> {
  return living(await findSettled(reading, tenant, reference), reference);
}

function living(found: Domain | undefined, reference: string): Domain {
  if (!found) throw refuse('not-found', `There is no domain ${JSON.stringify(reference)}.`);
  if (found.body.status !== 'Deactivated') return found;
  throw refuse('gone', `${found.body.did} was deactivated. Its history stays readable with ?at=.`);
}

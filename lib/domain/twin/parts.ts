// Parts of a twin: added and removed in the parent's document, which alone decides who belongs to it.

import { SHARED_LIMITS } from '../../shared-limits.ts';
import { replaceJournaled, stamp } from '../feed/journal.ts';
import { DOMAIN } from '../kinds.ts';
import { DOMAIN_LIMITS } from '../limits.ts';
import { invalid, refuse } from '../problems.ts';
import { edgeIn, indexedEdges, PART_EDGE } from './edges.ts';
import type { Domain, StoredDomain, SubDomain } from './record.ts';
import type { TwinDeps } from './rules.ts';

type Change = (body: StoredDomain) => StoredDomain | undefined;

/** Replaces the twin by what `change` makes of it, again when another was first. Undefined means: as it is. */
export async function rewrite({ documents }: TwinDeps, first: Domain, change: Change): Promise<Domain> {
  // Not `update` of the store: the first try is on what the caller has read, and the refusals are those of the interface.
  for (let old = first, tries = 0; ; tries++) {
    const body = change(old.body);
    if (!body) return old;
    const result = await replaceJournaled(documents, { kind: DOMAIN, old, body });
    if (result.kind === 'replaced') return { id: old.id, revision: result.revision, body };
    if (tries >= SHARED_LIMITS.conflictsPerTurn)
      throw refuse('in-progress', `${old.id} is being changed by many at once. Try again in a moment.`);
    const now = await documents.get<StoredDomain>(DOMAIN, old.id);
    if (!now) throw refuse('not-found', `There is no domain ${JSON.stringify(old.id)}.`);
    old = now;
  }
}

/** The parent names the part from now on. Again: nothing changes. */
export function addPart(deps: TwinDeps, parent: Domain, part: SubDomain): Promise<Domain> {
  return rewrite(deps, parent, (body) => {
    if (body.subDomains.some(({ did }) => did === part.did)) return undefined;
    if (body.subDomains.length >= DOMAIN_LIMITS.partsPerTwin)
      throw invalid('The parent is full.', [
        { field: '/parent', error: `has ${DOMAIN_LIMITS.partsPerTwin} sub-domains` },
      ]);
    return withParts(body, [...body.subDomains, { ...part }], deps);
  });
}

/** The parent does not name the part any more; `mayLeave` throws when it has to. */
export function removePart(
  deps: TwinDeps,
  parent: Domain,
  options: { did: string; mayLeave: (rest: readonly SubDomain[]) => void },
): Promise<Domain> {
  return rewrite(deps, parent, (body) => {
    const rest = body.subDomains.filter(({ did }) => did !== options.did);
    if (rest.length === body.subDomains.length) return undefined;
    options.mayLeave(rest);
    return withParts(body, rest, deps);
  });
}

function withParts(body: StoredDomain, subDomains: StoredDomain['subDomains'], { clock }: TwinDeps): StoredDomain {
  const at = stamp(body, clock);
  const others = body.edges.map(edgeIn).filter(({ relation }) => relation !== PART_EDGE);
  const parts = subDomains.map(({ did }) => ({ relation: PART_EDGE, to: did }));
  const events = [{ type: 'domain.updated', data: { changed: ['subDomains'] } }];
  return {
    ...body,
    subDomains,
    ...indexedEdges([...others, ...parts]),
    updated: at,
    journal: { at, by: body.journal.by, action: 'parts', events },
  };
}

/** Makes a part visible on its own, once its parent names it, and tells that it was created. */
export async function reveal(deps: TwinDeps, did: string): Promise<Domain> {
  const part = await deps.documents.get<StoredDomain>(DOMAIN, did);
  if (!part) throw refuse('not-found', `There is no domain ${JSON.stringify(did)}.`);
  return rewrite(deps, part, (body) => {
    if (body.provisionalSince === null) return undefined;
    const at = stamp(body, deps.clock);
    const events = [{ type: 'domain.created', data: { type: body.type } }];
    return { ...body, provisionalSince: null, journal: { at, by: body.journal.by, action: 'create', events } };
  });
}

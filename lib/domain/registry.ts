// The registry of twins: operations on protocols and domains over one document store.

import type { Clock } from '../clock.ts';
import { requireGiven } from '../given.ts';
import type { JsonObject } from '../json/json.ts';
import type { DocumentStore } from '../store/store.ts';
import type { Caller } from './caller.ts';
import { findSettled, isVisible, NO_VOTES, requireSettled, type SettleVotes } from './find.ts';
import { DOMAIN } from './kinds.ts';
import { isRefusal } from './problems.ts';
import {
  deactivateTwin,
  type Expecting,
  finishLeaving,
  type PatchRequest,
  patchTwin,
  type TransferRequest,
  type TwinChange,
  transferTwin,
} from './twin/change.ts';
import { type CreateOptions, createTwin, reveal } from './twin/create.ts';
import { type Graph, type GraphQuery, readGraph } from './twin/graph.ts';
import { type HistoryItem, readHistory, twinAt } from './twin/history.ts';
import { type DomainPage, type ListQuery, listTwins } from './twin/list.ts';
import { type Protocols, protocols } from './twin/protocol.ts';
import { type Domain, domainView, type LinksTo, type StoredDomain } from './twin/record.ts';
import { composeLists, readLineage } from './twin/rules.ts';

/** Options of `registry`. */
export interface RegistryOptions {
  /** With DOMAIN_KINDS declared. */
  readonly documents: DocumentStore;
  readonly clock: Clock;
  /** Lets votes that are over take effect before domains are read. @default nobody votes */
  readonly settleVotes?: SettleVotes;
  /** What is shown as `links` with each record. @default none are shown */
  readonly linksTo?: LinksTo | undefined;
  /** After a change of something on which a vote may be held. @default nothing */
  readonly onMaterialChange?: (domain: Domain) => Promise<void>;
}

/** Every function throws refusals of problems.ts. A `did` may also be an alias. */
export interface Registry {
  readonly protocols: Protocols;
  create(caller: Caller, request: { body: unknown } & CreateOptions): Promise<Domain>;
  /** Throws `not-found`, or `gone` when it was deactivated. */
  get(caller: Caller, did: string): Promise<Domain>;
  /** Also a deactivated one; undefined when there is none. */
  find(tenant: string, did: string): Promise<Domain | undefined>;
  at(caller: Caller, did: string, at: string): Promise<Domain>;
  /** What is not said at once is read once the caller's rights are known: `{ did, read: async (present) => ({ patch, expected }) }`. */
  patch(caller: Caller, change: TwinChange<PatchRequest>): Promise<Domain>;
  transfer(caller: Caller, change: TwinChange<TransferRequest>): Promise<Domain>;
  deactivate(caller: Caller, change: TwinChange<Expecting>): Promise<Domain>;
  list(caller: Caller, query: ListQuery): Promise<DomainPage>;
  history(
    caller: Caller,
    query: { did: string; before?: number; limit: number },
  ): Promise<{ items: HistoryItem[]; next?: string }>;
  graph(caller: Caller, query: GraphQuery): Promise<Graph>;
  /** The record together with what it inherits. */
  composeView(domain: Domain): Promise<JsonObject>;
  /** Completes or undoes what a crash left half done before `before`; returns how many twins it looked at. */
  sweep(before: number, limit: number): Promise<number>;
}

/**
 * The registry over a store. Nothing runs in the background.
 * @example
 * const documents = memoryDocuments();
 * await documents.declare(DOMAIN_KINDS);
 * const caller = { principal: 'did:ex:ann', roles: new Set(['controller'] as const), tenant: 'default' };
 * const twins = registry({ documents, clock: systemClock });
 * await twins.protocols.create(caller, { type: 'Protocol', alsoKnownAs: ['did:ixo:protocol/stove'] });
 * const body = { type: 'Asset', class: 'did:ixo:protocol/stove', controller: 'did:ex:ann' };
 * const { id } = await twins.create(caller, { body });
 * (await twins.get(caller, id)).revision; // → 1
 */
export function registry(options: RegistryOptions): Registry {
  requireGiven('make a registry', options, { documents: 'documents', clock: 'clock' });
  const { documents, clock, settleVotes = NO_VOTES, linksTo, onMaterialChange = async () => {} } = options;
  const reading = { documents, settleVotes };
  const settle = ({ tenant }: Caller, did: string) => findSettled(reading, tenant, did);
  const deps = { ...reading, clock, protocols: protocols({ documents, clock }), linksTo, onMaterialChange };
  return {
    protocols: deps.protocols,
    create: (caller, request) => createTwin(deps, caller, request),
    get: (caller, did) => requireSettled(reading, caller, did),
    find: (tenant, did) => findSettled(reading, tenant, did),

    async at(caller, did, at) {
      await settle(caller, did);
      return twinAt(documents, caller, { did, at, now: clock.now() });
    },
    patch: (caller, change) => patchTwin(deps, caller, change),
    transfer: (caller, change) => transferTwin(deps, caller, change),
    deactivate: (caller, change) => deactivateTwin(deps, caller, change),
    async list(caller, query) {
      await settleVotes({ tenant: caller.tenant });
      return listTwins(deps, caller, query);
    },
    async history(caller, query) {
      await settle(caller, query.did);
      return readHistory({ documents, linksTo }, caller, query);
    },
    async graph(caller, query) {
      await settleVotes({ tenant: caller.tenant });
      return readGraph(documents, caller, query);
    },

    async composeView(domain) {
      const view = domainView(domain, clock.now(), linksTo);
      const protocol = await deps.protocols.at(domain.body.class, domain.body.classVersion);
      if (!protocol) return view;
      const lineage = await readLineage(deps.protocols, protocol);
      const classChain = lineage.protocols.map(({ body, version }) => ({ did: body.did, version, name: body.name }));
      return { ...view, ...composeLists(domain.body, lineage), composed: true, classChain };
    },

    async sweep(before, limit) {
      const { items } = await documents.find<StoredDomain>(DOMAIN, {
        index: 'provisional',
        where: { provisionalSince: { lt: before } },
        limit,
      });
      for (const item of items) {
        if (item.body.leaving) await finishLeaving(deps, item).catch(ignoreRefusal);
        else if (await isVisible(documents, item)) await reveal(deps, item.id);
        else await documents.remove(DOMAIN, item.id, item.revision);
      }
      return items.length;
    },
  };
}

/** A refused deactivation leaves the twin with its parent, or to the next sweep. */
function ignoreRefusal(error: unknown): void {
  if (!isRefusal(error)) throw error;
}

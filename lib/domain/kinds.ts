// The kinds of documents of the domain service, declared once: they serve every backend.

import type { Kind } from '../store/store.ts';

/** Protocols by DID; each version is a revision of its document. */
export const PROTOCOL: Kind = {
  name: 'protocol',
  indexes: {
    created: { fields: ['tenant', 'created'] },
    // A name leads to one document of a tenant.
    alias: { fields: ['tenant', 'alsoKnownAs[]'], unique: true },
    parent: { fields: ['tenant', 'parent'] },
  },
};

/** Domains and entities by DID. */
export const DOMAIN: Kind = {
  name: 'domain',
  indexes: {
    created: { fields: ['tenant', 'created'] },
    type: { fields: ['tenant', 'type', 'created'] },
    class: { fields: ['tenant', 'class', 'created'] },
    status: { fields: ['tenant', 'status', 'created'] },
    'type-status': { fields: ['tenant', 'type', 'status', 'created'] },
    controller: { fields: ['tenant', 'controllers[]', 'created'] },
    name: { fields: ['tenant', 'metadata.name', 'created'] },
    updated: { fields: ['tenant', 'updated'] },
    alias: { fields: ['tenant', 'alsoKnownAs[]'], unique: true },
    external: { fields: ['tenant', 'externalId'], unique: true },
    // Who points at a twin, under which relation: for graphs and for the integrity of references.
    edge: { fields: ['tenant', 'edges[]'] },
    target: { fields: ['tenant', 'targets[]'] },
    found: { fields: ['tenant', 'found[]', 'created'] },
    provisional: { fields: ['provisionalSince'] },
  },
};

/** Proposals by id. */
export const PROPOSAL: Kind = {
  name: 'proposal',
  indexes: {
    created: { fields: ['tenant', 'created'] },
    subject: { fields: ['tenant', 'subject', 'created'] },
    // One open proposal of a kind: the field is missing once it is decided.
    open: { fields: ['openFor'], unique: true },
    due: { fields: ['dueAt'] },
    'tenant-due': { fields: ['tenant', 'dueAt'] },
    'subject-due': { fields: ['subject', 'dueAt'] },
    // A domain that has not answered yet.
    calling: { fields: ['calling', 'tenant'] },
  },
};

/** Earlier revisions of all of these: `<kind>/<id>@<revision>`. */
export const JOURNAL: Kind = { name: 'journal', indexes: { of: { fields: ['of', 'at'] } } };

/** Answers that are given again when a request is repeated. */
export const IDEMPOTENCY: Kind = { name: 'idempotency', indexes: { expiry: { fields: ['expiresAt'] } } };

/** Credits that verified domains have issued. */
export const CREDIT: Kind = {
  name: 'credit',
  indexes: { domain: { fields: ['tenant', 'did', 'created'] }, created: { fields: ['tenant', 'created'] } },
};

/** Webhooks: addresses, and the events that are sent there. */
export const WEBHOOK: Kind = { name: 'webhook', indexes: { created: { fields: ['tenant', 'created'] } } };

/** How far each webhook has come, and what could not be delivered. */
export const DELIVERY: Kind = {
  name: 'delivery',
  indexes: { webhook: { fields: ['webhook', 'created'] }, due: { fields: ['dueAt'] } },
};

/** Places of credentials in status lists. */
export const STATUS_ENTRY: Kind = {
  name: 'status-entry',
  indexes: {
    place: { fields: ['list', 'index'], unique: true },
    credential: { fields: ['did', 'verifiedBy', 'issuer'] },
    issuer: { fields: ['issuer'] },
  },
};

/** The epoch whose lists take new places; one document. */
export const STATUS_EPOCH: Kind = { name: 'status-epoch', indexes: {} };

/** Declare these before the first use. */
export const DOMAIN_KINDS: readonly Kind[] = [
  PROTOCOL,
  DOMAIN,
  PROPOSAL,
  JOURNAL,
  IDEMPOTENCY,
  CREDIT,
  WEBHOOK,
  DELIVERY,
  STATUS_ENTRY,
  STATUS_EPOCH,
];

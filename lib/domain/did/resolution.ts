// W3C DID Resolution of the twins and protocols of this registry, in any of their revisions.

import type { Clock } from '../../clock.ts';
import type { JsonObject } from '../../json/json.ts';
import type { DocumentStore, Kind, StoredDocument } from '../../store/store.ts';
import { type Journaled, type Revision, readRevision, revisionAt } from '../feed/journal.ts';
import { isVisible, mayBeId, NO_VOTES, type SettleVotes } from '../find.ts';
import { DOMAIN, PROTOCOL } from '../kinds.ts';
import type { StoredProtocol } from '../twin/protocol.ts';
import { type Domain, isoTime, type StoredDomain } from '../twin/record.ts';
import { isDid, parseDidUrl } from './did.ts';
import { type DidDocument, findPart, protocolDocument, selectServices, twinDocument } from './document.ts';
import {
  type Failed,
  type GivenOptions,
  makeFailure,
  type ResolutionOptions,
  readOptions,
} from './resolution-options.ts';

const METHOD = 'ixo';

/** What became of a resolution. */
export type Resolution =
  | {
      readonly kind: 'document';
      /** Null for the last version of what was deactivated. */
      readonly document: DidDocument | null;
      /** Of the document: versionId, created, updated, deactivated, and nextVersionId when it is an earlier one. */
      readonly metadata: JsonObject;
      /** The addresses of the selected services, when services were selected. */
      readonly endpoints?: readonly string[];
    }
  /** The part that a fragment names. */
  | { readonly kind: 'part'; readonly part: JsonObject; readonly metadata: JsonObject }
  | Failed;

export interface ResolverOptions {
  readonly documents: DocumentStore;
  readonly clock: Pick<Clock, 'now'>;
  /** Whose names everybody may use: a DID URL with a path is the name of a twin or protocol of one tenant. */
  readonly publicTenant: string;
  /** A vote that is over makes a new version. @default nobody votes */
  readonly settleVotes?: SettleVotes;
}

export interface ResolutionRequest {
  /** A DID, or a DID URL. */
  readonly identifier: string;
  readonly options: GivenOptions;
  /** Nothing of another tenant exists; without one, every DID does. */
  readonly tenant?: string | undefined;
}

export type Resolver = (request: ResolutionRequest) => Promise<Resolution>;

/** Resolves DIDs and follows DID URLs; failures of the store reject, every other outcome is a result. */
export function resolver({ documents, clock, publicTenant, settleVotes = NO_VOTES }: ResolverOptions): Resolver {
  return async ({ identifier, options: list, tenant }) => {
    const url = parseDidUrl(identifier);
    if (!url) return refuseMalformed(identifier);
    const { did, path, query, fragment } = url;
    const method = did.split(':')[1]!;
    if (method !== METHOD)
      return makeFailure(
        'METHOD_NOT_SUPPORTED',
        `DIDs of the method ${method} are not resolved here, but did:${METHOD}.`,
      );
    const options = readOptions([...new URLSearchParams(query), ...list]);
    if ('kind' in options) return options;
    const subject = path === '' ? await byDid(did) : await byName(did + path, tenant ?? publicTenant);
    if (!subject || (tenant !== undefined && subject.body.tenant !== tenant))
      return makeFailure('NOT_FOUND', `There is nothing under ${identifier}.`);
    const version = await findVersion(subject, options);
    if (!version) return makeFailure('NOT_FOUND', `${subject.id} has no such version.`);
    return follow(makeResolution(subject, version), options, fragment);
  };

  async function byDid(did: string): Promise<Subject | undefined> {
    if (!mayBeId(did)) return undefined;
    const twin = await documents.get<StoredDomain>(DOMAIN, did);
    if (twin) return settleSubject(twin);
    const protocol = await documents.get<StoredProtocol>(PROTOCOL, did);
    return protocol && protocolSubject(protocol);
  }

  async function byName(name: string, tenant: string): Promise<Subject | undefined> {
    const query = { index: 'alias', where: { tenant, 'alsoKnownAs[]': name }, limit: 1 };
    const protocol = (await documents.find<StoredProtocol>(PROTOCOL, query)).items[0];
    if (protocol) return protocolSubject(protocol);
    const twin = (await documents.find<StoredDomain>(DOMAIN, query)).items[0];
    return twin && settleSubject(twin);
  }

  async function settleSubject(domain: Domain): Promise<Subject | undefined> {
    const isNew = await settleVotes({ domain: domain.id });
    const twin = (isNew && (await documents.get<StoredDomain>(DOMAIN, domain.id))) || domain;
    return (await isVisible(documents, twin)) ? twinSubject(twin) : undefined;
  }

  async function findVersion(
    subject: Subject,
    { versionId, versionTime }: ResolutionOptions,
  ): Promise<Revision<Resolvable> | undefined> {
    const { kind, id, revision, body } = subject;
    if (versionTime) {
      const { from, to } = versionTime;
      return from > clock.now() + CLOCKS_APART_MS ? undefined : revisionAt<Resolvable>(documents, { kind, id, at: to });
    }
    if (versionId === undefined) return { revision, body };
    const version = /^[1-9]\d{0,9}$/.test(versionId) ? Number(versionId) : undefined;
    return version === undefined ? undefined : readRevision<Resolvable>(documents, { kind, id, revision: version });
  }
}

/** A client's `now` may be ahead of ours. */
const CLOCKS_APART_MS = 60_000;

type Resolvable = Journaled & { readonly created: number; readonly updated: number };

/** A twin or protocol as it is now, and how its revisions become documents. */
interface Subject extends StoredDocument<Resolvable> {
  readonly kind: Kind;
  readonly isDeactivated: boolean;
  makeDocument(body: Resolvable): DidDocument | null;
}

function twinSubject(twin: Domain): Subject {
  const ended = (body: Resolvable) => body.status === 'Deactivated';
  const makeDocument = (body: Resolvable) => (ended(body) ? null : twinDocument(body as StoredDomain));
  return { ...twin, kind: DOMAIN, isDeactivated: ended(twin.body), makeDocument };
}

function protocolSubject(protocol: StoredDocument<StoredProtocol>): Subject {
  const makeDocument = (body: Resolvable) => protocolDocument(body as StoredProtocol);
  return { ...protocol, kind: PROTOCOL, isDeactivated: false, makeDocument };
}

function makeResolution(subject: Subject, { revision, body }: Revision<Resolvable>): Resolution & { kind: 'document' } {
  const metadata = {
    versionId: String(revision),
    created: isoTime(body.created),
    updated: isoTime(body.updated),
    deactivated: subject.isDeactivated,
    ...(revision < subject.revision && { nextVersionId: String(revision + 1) }),
  };
  return { kind: 'document', document: subject.makeDocument(body), metadata };
}

function follow(
  resolution: Resolution & { kind: 'document' },
  options: ResolutionOptions,
  fragment: string,
): Resolution {
  const { document, metadata } = resolution;
  if (!document) return resolution;
  if (options.service !== undefined || options.serviceType !== undefined) {
    const selection = selectServices(document, options, fragment);
    return 'kind' in selection ? selection : { kind: 'document', metadata, ...selection };
  }
  if (fragment === '') return resolution;
  const part = findPart(document, fragment);
  return part
    ? { kind: 'part', part, metadata }
    : makeFailure('NOT_FOUND', `${document.id} has no part ${JSON.stringify(`#${fragment}`)}.`);
}

function refuseMalformed(identifier: string): Failed {
  const [beginning] = identifier.split(/[/?#]/);
  if (beginning === identifier || !isDid(beginning!))
    return makeFailure(
      'INVALID_DID',
      `${JSON.stringify(identifier)} is no DID. One looks like did:ixo:entity:<32 hex digits>.`,
    );
  return makeFailure(
    'INVALID_DID_URL',
    `${JSON.stringify(identifier)} begins with a DID and goes on as no DID URL does.`,
  );
}

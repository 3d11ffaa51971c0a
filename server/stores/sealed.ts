// What PIN_ENCRYPTION_KEY seals in documents: how much each key has sealed, and moving all of it to the active key.

import { resealPin } from '../../lib/account/pin.ts';
import { ACCOUNTS, type Account } from '../../lib/account/records.ts';
import { DELEGATION, delegationSeal } from '../../lib/delegation/delegations.ts';
import { type StoredWebhook, secretSeal } from '../../lib/domain/feed/webhook.ts';
import { WEBHOOK } from '../../lib/domain/kinds.ts';
import { MEMORIES, resealMemory, type StoredMemory } from '../../lib/engine/memory/documents.ts';
import { TwinlineError } from '../../lib/errors.ts';
import type { JsonObject } from '../../lib/json/json.ts';
import type { Keyring } from '../../lib/keyring.ts';
import { readKeyId, resealText } from '../../lib/sealing.ts';
import { findPages } from '../../lib/store/pages.ts';
import type { DocumentStore, Kind, StoredDocument } from '../../lib/store/store.ts';

/** One sealed text in each document of a kind. */
interface SealedText {
  /** Names the documents in messages. */
  readonly what: string;
  readonly kind: Kind;
  /** Undefined when this document has none. */
  read(document: StoredDocument): string | undefined;
  /** The body with the same content sealed by the active key; undefined when it cannot be opened. */
  reseal(keyring: Keyring, document: StoredDocument, text: string): JsonObject | undefined;
}

interface DelegationBody {
  readonly machine: { readonly context: { readonly sealed?: string | null } };
}

const SEALED: readonly SealedText[] = [
  {
    what: 'accounts',
    kind: ACCOUNTS,
    read: ({ body }) => (body as unknown as Account).pin,
    reseal: (keyring, { body }, text) => {
      const pin = resealPin(keyring, (body as unknown as Account).phone, text);
      return pin === undefined ? undefined : { ...body, pin };
    },
  },
  {
    what: 'memories of callers',
    kind: MEMORIES,
    read: ({ body }) => (body as unknown as StoredMemory).sealed,
    reseal: (keyring, document) => resealMemory(keyring, document as StoredDocument<StoredMemory>),
  },
  {
    what: 'webhook secrets',
    kind: WEBHOOK,
    read: ({ body }) => (body as unknown as StoredWebhook).secret,
    reseal: (keyring, { id, body }, text) => {
      const secret = resealText(keyring, secretSeal({ tenant: (body as unknown as StoredWebhook).tenant, id }), text);
      return secret === undefined ? undefined : { ...body, secret };
    },
  },
  {
    what: 'delegations',
    kind: DELEGATION,
    read: ({ body }) => (body as unknown as DelegationBody).machine.context.sealed ?? undefined,
    reseal: (keyring, { id, body }, text) => {
      const sealed = resealText(keyring, delegationSeal(id), text);
      if (sealed === undefined) return undefined;
      const { machine } = body as unknown as DelegationBody;
      return { ...body, machine: { ...machine, context: { ...machine.context, sealed } } } as JsonObject;
    },
  },
];

/** How many of what a key has sealed, by the id of the key. */
export type SealedCounts = { readonly [what: string]: { readonly [kid: string]: number } };

/** What needs a key that is not configured: a sentence for each key. */
export function describeLocked(counts: SealedCounts, keyring: Keyring): string[] {
  const byKey = new Map<string, string[]>();
  for (const [what, keys] of Object.entries(counts))
    for (const [kid, count] of Object.entries(keys))
      if (!keyring.ids.includes(kid)) byKey.set(kid, [...(byKey.get(kid) ?? []), `${what}: ${count}`]);
  return [...byKey].map(
    ([kid, needs]) =>
      `The key ${JSON.stringify(kid)} is not configured, and only it opens some data (${needs.join(', ')}). Put it behind the first key of PIN_ENCRYPTION_KEY.`,
  );
}

/** What older keys have sealed that are still configured, such as `accounts: 3, sessions: 1`; '' when there is nothing. */
export function describeOlder(counts: SealedCounts, keyring: Keyring): string {
  return Object.entries(counts)
    .map(([what, keys]) => {
      const older = keyring.ids.slice(1).reduce((sum, kid) => sum + (keys[kid] ?? 0), 0);
      return older ? `${what}: ${older}` : '';
    })
    .filter(Boolean)
    .join(', ');
}

const PAGE = 500;

/** Reads all sealed documents. Kinds that no server has declared have none. */
export async function countSealed(documents: DocumentStore): Promise<SealedCounts> {
  const counts: Record<string, Record<string, number>> = {};
  for (const sealed of SEALED)
    for await (const [, text] of listTexts(documents, sealed)) {
      const byKey = counts[sealed.what] ?? {};
      const kid = readKeyId(text);
      byKey[kid] = (byKey[kid] ?? 0) + 1;
      counts[sealed.what] = byKey;
    }
  return counts;
}

/** What {@link resealAll} has done. */
export interface ResealReport {
  /** Sealed with the active key now; with `dryRun`: that would be. */
  readonly moved: number;
  /** Sealed with it before. */
  readonly current: number;
  /** Cannot be opened, by the id of the key that they name: its key is not configured, or the text is damaged. */
  readonly unopened: { readonly [kid: string]: number };
}

/**
 * Seals everything in these documents with the active key, while servers use them. Killed anywhere, the next call goes on: what is
 * sealed with the active key is left alone. A document that is written meanwhile is read again.
 */
export async function resealAll(
  { documents, keyring, dryRun }: { documents: DocumentStore; keyring: Keyring; dryRun: boolean },
  onItem: (done: number) => void,
): Promise<ResealReport> {
  let [moved, current] = [0, 0];
  const unopened: Record<string, number> = {};
  for (const sealed of SEALED)
    for await (const [document, text] of listTexts(documents, sealed)) {
      const kid = readKeyId(text);
      if (kid === keyring.active) current++;
      else if (sealed.reseal(keyring, document, text) === undefined) unopened[kid] = (unopened[kid] ?? 0) + 1;
      else {
        if (!dryRun) await resealDocument({ documents, keyring }, sealed, document);
        moved++;
      }
      onItem(current + moved + Object.values(unopened).reduce((sum, count) => sum + count, 0));
    }
  return { moved, current, unopened };
}

async function resealDocument(
  { documents, keyring }: { documents: DocumentStore; keyring: Keyring },
  sealed: SealedText,
  document: StoredDocument,
): Promise<void> {
  for (let latest: StoredDocument | undefined = document; latest; ) {
    const text = sealed.read(latest);
    const next = text !== undefined && readKeyId(text) !== keyring.active && sealed.reseal(keyring, latest, text);
    if (!next) return;
    const { kind } = await documents.replace(sealed.kind, latest.id, latest.revision, next);
    if (kind === 'replaced') return;
    // Another document has its place under the active key already: that is the one that is read.
    if (kind === 'exists') await documents.remove(sealed.kind, latest.id, latest.revision);
    latest = await documents.get(sealed.kind, latest.id);
  }
}

async function* listTexts(
  documents: DocumentStore,
  { kind, read }: SealedText,
): AsyncGenerator<[StoredDocument, string]> {
  const find = <Body extends JsonObject>(...query: Parameters<DocumentStore['find']>) =>
    documents.find<Body>(...query).catch(returnNothingWhereUndeclared);
  for await (const page of findPages({ find }, kind, { limit: PAGE }))
    for (const document of page) {
      const text = read(document);
      if (text !== undefined) yield [document, text];
    }
}

function returnNothingWhereUndeclared(error: unknown): { items: never[]; next?: string } {
  if (error instanceof TwinlineError && error.code === 'ERR_INPUT') return { items: [] };
  throw error;
}

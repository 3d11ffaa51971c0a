// What flows keep of callers between sessions, in documents: one for each caller and flow, found by a keyed hash of the phone number and
// sealed as a whole. The number itself is only inside the seal, so that a rotation of keys can hash it anew.

import { randomUUID } from 'node:crypto';
import type { Clock } from '../../clock.ts';
import { COMMON_LIMITS } from '../../common-limits.ts';
import { TwinlineError } from '../../errors.ts';
import type { JsonObject } from '../../json/json.ts';
import { type Keyring, shortMac } from '../../keyring.ts';
import { openText, type Seal, sealText } from '../../sealing.ts';
import { findPages } from '../../store/pages.ts';
import type { DocumentStore, Kind, StoredDocument } from '../../store/store.ts';
import { type CallerMemory, changeMemory, type MemoryContent, type MemoryOwner, readMemory } from './memory.ts';

/** One document for each caller and flow. */
export const MEMORIES: Kind = {
  name: 'caller-memory',
  indexes: { caller: { fields: ['caller', 'flow'], unique: true }, expiry: { fields: ['expiresAt'] } },
};

/** A stored memory. */
export type StoredMemory = {
  /** A keyed hash of {@link namePhone}. */
  readonly caller: string;
  readonly flow: string;
  /** Milliseconds since 1970, when all of it has had its time. */
  readonly expiresAt: number;
  /** {@link SealedMemory} as JSON. */
  readonly sealed: string;
};

interface SealedMemory extends MemoryContent {
  readonly phone: string;
}

/** What one flow keeps of a caller, as operators see it. */
export interface FlowMemory {
  readonly flow: string;
  /** Kept of a simulated phone with this number. */
  readonly simulated?: true;
  readonly values: JsonObject;
}

/** The memory of callers in documents, and what operators may do with it. */
export interface StoredMemories extends CallerMemory {
  /** Everything that is kept of a phone number, simulated or not, by flow. */
  export(phone: string): Promise<FlowMemory[]>;
  /** Forgets all of it; how many documents there were. */
  erase(phone: string): Promise<number>;
  /** Removes up to `limit` documents that have had their time at `now`, in milliseconds since 1970; how many. */
  sweep(now: number, limit: number): Promise<number>;
}

export interface StoredMemoriesOptions {
  /** Must have MEMORIES declared. */
  readonly documents: DocumentStore;
  readonly keyring: Keyring;
  readonly clock: Pick<Clock, 'now'>;
  /** Called when a memory cannot be opened: its session begins without it, and the next change takes its place. @default nothing */
  readonly onUnopened?: (error: TwinlineError) => void;
}

/** The name of a simulated phone never mixes with that of a caller. */
const namePhone = ({ phoneNumber, simulated }: Pick<MemoryOwner, 'phoneNumber' | 'simulated'>): string =>
  simulated ? `simulated ${phoneNumber}` : phoneNumber;

const memorySeal = (id: string): Seal => ({ purpose: 'caller-memory/v1', label: [id] });

const hashPhone = (keyring: Keyring, phone: string, kid = keyring.active): string =>
  shortMac(keyring.subkey('phone-index/v1', kid)!, [phone]);

type MemoryDocument = StoredDocument<StoredMemory>;

// Finds, opens and writes the documents.
function memoryRecords({ documents, keyring, onUnopened }: StoredMemoriesOptions) {
  const listHashes = (phone: string) => keyring.ids.map((kid) => hashPhone(keyring, phone, kid));

  // What an older key has hashed is found under that key, until it is written again or resealed.
  const find = async ({ conversation, ...caller }: MemoryOwner): Promise<MemoryDocument | undefined> => {
    for (const hash of listHashes(namePhone(caller))) {
      const where = { caller: hash, flow: conversation };
      const { items } = await documents.find<StoredMemory>(MEMORIES, { index: 'caller', where, limit: 1 });
      if (items[0]) return items[0];
    }
    return undefined;
  };

  const open = ({ id, body }: MemoryDocument): MemoryContent => {
    const text = openText(keyring, memorySeal(id), body.sealed);
    if (text !== undefined) return JSON.parse(text) as SealedMemory;
    const why = 'its key is not in PIN_ENCRYPTION_KEY, or it is damaged';
    onUnopened?.(
      new TwinlineError('ERR_CONFIG', `What is kept of a caller of "${body.flow}" cannot be opened: ${why}.`),
    );
    return { values: {} };
  };

  const write = (id: string, owner: MemoryOwner, content: MemoryContent): StoredMemory => {
    const phone = namePhone(owner);
    const ends = [...Object.values(content.values), ...(content.session ? [content.session] : [])];
    return {
      caller: hashPhone(keyring, phone),
      flow: owner.conversation,
      expiresAt: Math.max(...ends.map(([, until]) => until)),
      sealed: sealText(keyring, memorySeal(id), JSON.stringify({ phone, ...content } satisfies SealedMemory)),
    };
  };

  // False when another writer was first.
  const replace = async (stored: MemoryDocument | undefined, owner: MemoryOwner, next: MemoryContent | undefined) => {
    if (!next) return !stored || documents.remove(MEMORIES, stored.id, stored.revision);
    if (stored)
      return (
        (await documents.replace(MEMORIES, stored.id, stored.revision, write(stored.id, owner, next))).kind ===
        'replaced'
      );
    const id = randomUUID();
    return (await documents.insert(MEMORIES, id, write(id, owner, next))).kind === 'inserted';
  };

  const list = async (phone: string, simulated = false): Promise<MemoryDocument[]> => {
    const hashes = listHashes(namePhone({ phoneNumber: phone, ...(simulated && { simulated }) }));
    return (await Promise.all(hashes.map((caller) => listAll(documents, caller)))).flat();
  };
  return { find, open, replace, list };
}

/** Keeps memories in documents. */
export function storedMemories(options: StoredMemoriesOptions): StoredMemories {
  const { documents, clock } = options;
  const { find, open, replace, list } = memoryRecords(options);
  const show = (stored: MemoryDocument): FlowMemory => ({
    flow: stored.body.flow,
    values: readMemory(open(stored), clock.now()).values,
  });
  return {
    recall: async (owner) => {
      const stored = await find(owner);
      return stored ? readMemory(open(stored), clock.now()) : { values: {} };
    },
    // Not the store's `update`: the document is found by its index, and may be made by another writer in between.
    remember: async (owner, changes) => {
      for (let tries = 0; tries <= COMMON_LIMITS.conflictsPerTurn; tries++) {
        const stored = await find(owner);
        const next = changeMemory(stored && open(stored), changes, { now: clock.now(), owner });
        if (await replace(stored, owner, next)) return;
      }
      throw new TwinlineError(
        'ERR_CONFLICT',
        'Others wrote what is kept of a caller at the same time, again and again.',
      );
    },
    forget: async (owner) => {
      const stored = await find(owner);
      return stored !== undefined && documents.remove(MEMORIES, stored.id);
    },
    export: async (phone) => [
      ...(await list(phone)).map(show),
      ...(await list(phone, true)).map((stored) => ({ ...show(stored), simulated: true as const })),
    ],
    erase: async (phone) => {
      const all = [...(await list(phone)), ...(await list(phone, true))];
      const results = await Promise.all(all.map(({ id }) => documents.remove(MEMORIES, id)));
      return results.filter(Boolean).length;
    },
    sweep: async (now, limit) => {
      const where = { expiresAt: { lte: now } };
      const { items } = await documents.find(MEMORIES, { index: 'expiry', where, limit });
      for (const { id, revision } of items) await documents.remove(MEMORIES, id, revision);
      return items.length;
    },
  };
}

async function listAll(documents: DocumentStore, caller: string): Promise<MemoryDocument[]> {
  const all: MemoryDocument[] = [];
  const query = { index: 'caller', where: { caller } };
  for await (const page of findPages<StoredMemory>(documents, MEMORIES, query)) all.push(...page);
  return all;
}

/** The memory sealed, and its number hashed, with the active key; undefined when it cannot be opened. */
export function resealMemory(keyring: Keyring, { id, body }: MemoryDocument): StoredMemory | undefined {
  const text = openText(keyring, memorySeal(id), body.sealed);
  if (text === undefined) return undefined;
  const { phone } = JSON.parse(text) as SealedMemory;
  return { ...body, caller: hashPhone(keyring, phone), sealed: sealText(keyring, memorySeal(id), text) };
}

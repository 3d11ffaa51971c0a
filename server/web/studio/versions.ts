// Versions of flows saved by the studio: the newest of each flow, compressed, in the document store.

import { randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, brotliDecompress } from 'node:zlib';
import type { Clock } from '../../../lib/clock.ts';
import type { JsonObject } from '../../../lib/json/json.ts';
import type { DocumentStore, Kind } from '../../../lib/store/store.ts';
import { hashText } from '../../menus/files.ts';
import { PAGE_LIMITS } from '../limits.ts';

type StoredVersion = JsonObject & {
  readonly flow: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** Name of the operator; `disk` for the file before the first save. */
  readonly by: string;
  readonly hash: string;
  /** Brotli, in base64. */
  readonly packed: string;
};

export const STUDIO_VERSION: Kind = { name: 'studio-version', indexes: { flow: { fields: ['flow', 'at'] } } };

export interface VersionEntry {
  readonly id: string;
  readonly at: number;
  readonly by: string;
  readonly hash: string;
}

export interface Versions {
  /** Keeps a text unless it equals the newest version, and removes the oldest beyond PAGE_LIMITS.studioVersions. */
  keep(flow: string, version: { readonly text: string; readonly by: string }): Promise<void>;
  /** Newest first. */
  list(flow: string): Promise<VersionEntry[]>;
  /** Undefined if there is no such version. */
  read(flow: string, id: string): Promise<string | undefined>;
}

const ID = /^[\w-]{1,64}$/;
const pack = promisify(brotliCompress);
const unpack = promisify(brotliDecompress);

export function versions(documents: DocumentStore, clock: Pick<Clock, 'now'>): Versions {
  const find = async (flow: string) => {
    const query = { index: 'flow', where: { flow }, descending: true, limit: PAGE_LIMITS.studioVersions * 2 } as const;
    return (await documents.find<StoredVersion>(STUDIO_VERSION, query)).items;
  };
  return {
    async keep(flow, { text, by }) {
      const hash = hashText(text);
      const stored = await find(flow);
      if (stored[0]?.body.hash === hash) return;
      const packed = (await pack(text)).toString('base64');
      const at = Math.max(clock.now(), (stored[0]?.body.at ?? 0) + 1);
      await documents.insert<StoredVersion>(STUDIO_VERSION, randomUUID(), { flow, at, by, hash, packed });
      const old = stored.slice(PAGE_LIMITS.studioVersions - 1);
      await Promise.all(old.map(({ id }) => documents.remove(STUDIO_VERSION, id)));
    },
    list: async (flow) => (await find(flow)).map(({ id, body: { at, by, hash } }) => ({ id, at, by, hash })),
    async read(flow, id) {
      if (!ID.test(id)) return undefined;
      const version = await documents.get<StoredVersion>(STUDIO_VERSION, id);
      if (version?.body.flow !== flow) return undefined;
      return (await unpack(Buffer.from(version.body.packed, 'base64'))).toString('utf8');
    },
  };
}

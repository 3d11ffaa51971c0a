// Versions of flows that the studio wrote: the newest of each flow, compressed, in the document store, also after the flow was deleted.

import { randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, brotliDecompress } from 'node:zlib';
import type { Clock } from '../../../lib/clock.ts';
import type { JsonObject } from '../../../lib/json/json.ts';
import type { DocumentStore, Kind } from '../../../lib/store/store.ts';
import { type FlowStage, hashText } from '../../menus/files.ts';
import { PAGE_LIMITS } from '../limits.ts';

type StoredVersion = JsonObject & {
  /** {@link DELETED} for a flow that was deleted. */
  readonly flow: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** Name of the operator; `disk` for the file before the first save. */
  readonly by: string;
  readonly hash: string;
  /** Brotli, in base64. */
  readonly packed: string;
  /** Missing in older entries, and where there were no tests. */
  readonly packedTests?: string;
  /** @default 'published' */
  readonly stage?: FlowStage;
  /** Of a deleted flow. */
  readonly name?: string;
};

export const STUDIO_VERSION: Kind = { name: 'studio-version', indexes: { flow: { fields: ['flow', 'at'] } } };

/** In the place of a flow: those that were deleted. No flow has this name. */
export const DELETED = '';

export interface VersionTexts {
  readonly text: string;
  /** '' for none. */
  readonly tests: string;
}

export interface VersionEntry {
  readonly id: string;
  readonly at: number;
  readonly by: string;
  /** Whether callers got it, or a draft was saved. */
  readonly stage: FlowStage;
  /** Of a deleted flow. */
  readonly name?: string;
}

interface NewVersion extends VersionTexts, Pick<VersionEntry, 'by' | 'stage' | 'name'> {}

export interface Versions {
  /** Keeps texts unless they equal the newest version, and removes the oldest beyond PAGE_LIMITS.studioVersions. */
  keep(flow: string, version: NewVersion): Promise<void>;
  /** Newest first. */
  list(flow: string): Promise<VersionEntry[]>;
  /** Undefined if there is no such version. */
  read(flow: string, id: string): Promise<(VersionTexts & VersionEntry) | undefined>;
  /** Gives the versions of a flow to another name, and removes one. */
  rename(flow: string, to: string): Promise<void>;
  forget(id: string): Promise<void>;
}

const ID = /^[\w-]{1,64}$/;
const brotli = promisify(brotliCompress);
const unbrotli = promisify(brotliDecompress);
const pack = async (text: string) => (await brotli(text)).toString('base64');
const unpack = async (packed: string) => (await unbrotli(Buffer.from(packed, 'base64'))).toString('utf8');

export function versions(documents: DocumentStore, clock: Pick<Clock, 'now'>): Versions {
  const find = async (flow: string) => {
    const query = { index: 'flow', where: { flow }, descending: true, limit: PAGE_LIMITS.studioVersions * 2 } as const;
    return (await documents.find<StoredVersion>(STUDIO_VERSION, query)).items;
  };
  return {
    async keep(flow, { text, tests, by, stage, name }) {
      const hash = hashText([text, tests, stage, name ?? ''].join('\0'));
      const stored = await find(flow);
      if (stored[0]?.body.hash === hash) return;
      const packed = {
        packed: await pack(text),
        ...(tests !== '' && { packedTests: await pack(tests) }),
        ...(name !== undefined && { name }),
      };
      const at = Math.max(clock.now(), (stored[0]?.body.at ?? 0) + 1);
      await documents.insert<StoredVersion>(STUDIO_VERSION, randomUUID(), { flow, at, by, hash, stage, ...packed });
      const old = stored.slice(PAGE_LIMITS.studioVersions - 1);
      await Promise.all(old.map(({ id }) => documents.remove(STUDIO_VERSION, id)));
    },
    list: async (flow) => (await find(flow)).map(({ id, body }) => readEntry(id, body)),
    async read(flow, id) {
      if (!ID.test(id)) return undefined;
      const version = await documents.get<StoredVersion>(STUDIO_VERSION, id);
      if (version?.body.flow !== flow) return undefined;
      const { packed, packedTests } = version.body;
      const tests = packedTests === undefined ? '' : await unpack(packedTests);
      return { ...readEntry(id, version.body), text: await unpack(packed), tests };
    },
    async rename(flow, to) {
      for (const { id, revision, body } of await find(flow))
        await documents.replace<StoredVersion>(STUDIO_VERSION, id, revision, { ...body, flow: to });
    },
    forget: async (id) => void (await documents.remove(STUDIO_VERSION, id)),
  };
}

const readEntry = (id: string, { at, by, stage = 'published', name }: StoredVersion): VersionEntry => ({
  ...{ id, at, by, stage },
  ...(name !== undefined && { name }),
});

// Links to previews: whoever has one may dial a draft as it was when the link was made, until the link ends. A link is signed; its text and
// tests are kept among the documents, so that all instances know them. Nothing ends a link before its time.

import { randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, brotliDecompress } from 'node:zlib';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../../lib/clock.ts';
import type { JsonObject } from '../../../lib/json/json.ts';
import { hmacSha256, type Keyring } from '../../../lib/keyring.ts';
import type { DocumentStore, Kind } from '../../../lib/store/store.ts';
import { Refusal } from '../../http/errors.ts';
import { PAGE_LIMITS } from '../limits.ts';

/** What a link shows. */
export interface PreviewDraft {
  readonly flow: string;
  readonly text: string;
  /** They say what services answer; '' for none. */
  readonly tests: string;
  /** When it was made, in milliseconds since 1970. */
  readonly at: number;
}

export interface Preview extends PreviewDraft {
  readonly id: string;
  /** When the link ends, in seconds since 1970. */
  readonly until: number;
}

type StoredPreview = JsonObject &
  Pick<Preview, 'flow' | 'until' | 'at'> & {
    /** Text and tests as JSON, in brotli, in base64. */
    readonly packed: string;
  };

export const PREVIEW: Kind = { name: 'studio-preview', indexes: { until: { fields: ['until'] } } };

export interface PreviewLinks {
  /** Keeps a draft and returns the token of its link. `note` is called first. Throws a refusal while too many links live. */
  make(
    draft: Omit<PreviewDraft, 'at'>,
    hours: number,
    note: (until: number) => Promise<unknown>,
  ): Promise<{ readonly token: string; readonly until: number }>;
  /** Throws a refusal for a token that is none, or whose time is over. */
  open(token: string): Promise<Preview>;
}

const TOKEN = /^([\w-]{22})\.([1-9]\d{0,11})\.([\w-]{43})$/;
const FORGOTTEN_AT_ONCE = 100;
const pack = promisify(brotliCompress);
const unpack = promisify(brotliDecompress);

export interface PreviewLinksOptions {
  readonly documents: DocumentStore;
  readonly keyring: Keyring;
  readonly clock: Pick<Clock, 'now'>;
}

/** Declare the kind {@link PREVIEW} before. */
export function previewLinks({ documents, keyring, clock }: PreviewLinksOptions): PreviewLinks {
  const kept = new LRUCache<string, Preview>({ max: PAGE_LIMITS.previewsKept });
  const keys = keyring.ids.map((id) => keyring.subkey('preview/v1', id)!);
  const sign = (key: Buffer, id: string, until: number) => hmacSha256(key, JSON.stringify([id, until]));
  const seconds = () => Math.floor(clock.now() / 1_000);

  async function forgetOld(): Promise<void> {
    const where = { until: { lt: seconds() + 1 } };
    const { items } = await documents.find<StoredPreview>(PREVIEW, { index: 'until', where, limit: FORGOTTEN_AT_ONCE });
    for (const { id, revision } of items) await documents.remove(PREVIEW, id, revision);
  }

  return {
    async make({ flow, text, tests }, hours, note) {
      await forgetOld();
      const living = await documents.count(PREVIEW, { index: 'until', where: { until: { gt: seconds() } } });
      if (living >= PAGE_LIMITS.previewLinks)
        throw new Refusal('conflict', `There are ${living} links to previews. Wait until one ends`);
      const id = randomBytes(16).toString('base64url');
      const until = seconds() + hours * 3_600;
      const packed = (await pack(JSON.stringify({ text, tests }))).toString('base64');
      await note(until);
      await documents.insert<StoredPreview>(PREVIEW, id, { flow, until, at: clock.now(), packed });
      return { token: `${id}.${until}.${sign(keys[0]!, id, until)}`, until };
    },
    async open(token) {
      const [, id, end, signature] = TOKEN.exec(token) ?? [];
      const until = Number(end);
      const isOurs =
        id !== undefined &&
        keys.some((key) => timingSafeEqual(Buffer.from(sign(key, id, until)), Buffer.from(signature!)));
      if (!isOurs) throw new Refusal('not-found', 'This is no link to a preview of this server. Ask for it again');
      if (seconds() >= until) throw over();
      const known = kept.get(id);
      if (known) return known;
      const stored = await documents.get<StoredPreview>(PREVIEW, id);
      if (!stored) throw over();
      const { flow, at, packed } = stored.body;
      const texts = JSON.parse((await unpack(Buffer.from(packed, 'base64'))).toString('utf8')) as {
        text: string;
        tests: string;
      };
      const preview = { id, flow, at, until, ...texts };
      kept.set(id, preview);
      return preview;
    },
  };
}

const over = () => new Refusal('not-found', 'This link has ended. Ask for another one');

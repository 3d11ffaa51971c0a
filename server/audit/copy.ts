// Copying the audit log into another store, with its chain.

import type { Keyring } from '../../lib/keyring.ts';
import type { DocumentStore } from '../../lib/store/store.ts';
import { takenError } from '../../lib/store/update.ts';
import {
  AUDIT_HEAD_KIND,
  AUDIT_KIND,
  type AuditBody,
  type AuditEnd,
  formatId,
  HEAD_ID,
  type HeadBody,
  makeHead,
} from './audit.ts';
import { readAudit } from './read.ts';

export interface AuditCopy {
  /** Where no server runs any more, and `auditJournal(…).catchUp()` has written what was left to write. */
  readonly from: DocumentStore;
  /** Where everything else was copied to before, and no server runs yet: what is in its journal by now gets no entries. */
  readonly to: DocumentStore;
  readonly keyring: Keyring;
}

/**
 * Copies all entries as they are and says where they end; how many there are. Again: goes on where it was broken off. Entries that
 * were missing before are still known to be missing. Throws ERR_EXISTS when `to` has others.
 */
export async function copyAudit({ from, to, keyring }: AuditCopy): Promise<number> {
  let end: AuditEnd = { number: 0, mac: '' };
  let count = 0;
  for await (const entry of readAudit(from)) {
    const id = formatId(entry.number);
    const { kind } = await to.insert<AuditBody>(AUDIT_KIND, id, entry as AuditBody);
    const there = kind === 'inserted' ? entry : (await to.get<AuditBody>(AUDIT_KIND, id))?.body;
    if (there?.mac !== entry.mac) throw takenError(AUDIT_KIND.name, id);
    end = entry;
    count++;
  }
  const { body } = (await from.get<HeadBody>(AUDIT_HEAD_KIND, HEAD_ID)) ?? {};
  const head = makeHead(keyring, { end: body ?? end, cursor: await to.lastChange() });
  const old = await to.get(AUDIT_HEAD_KIND, HEAD_ID);
  if (old) await to.replace(AUDIT_HEAD_KIND, HEAD_ID, old.revision, head);
  else await to.insert(AUDIT_HEAD_KIND, HEAD_ID, head);
  return count;
}

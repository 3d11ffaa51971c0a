// An audit log in memory, for tests of what writes to one.

import type { Clock } from '../../../lib/clock.ts';
import { parseKeyring } from '../../../lib/keyring.ts';
import { memoryDocuments } from '../../../lib/store/memory/index.ts';
import { AUDIT_KINDS, type Audit } from '../../../server/audit/audit.ts';
import { auditLog } from '../../../server/audit/writer.ts';

export const AUDIT_KEYS = parseKeyring('now:72359cad73295f05159c900306d18a870ea41dfb96174f982b8c247af6e93a35');

export async function memoryAudit(clock: Clock): Promise<Audit> {
  const documents = memoryDocuments({ clock });
  await documents.declare(AUDIT_KINDS);
  return auditLog({ documents, keyring: AUDIT_KEYS, clock, log: { warn: () => {} } });
}

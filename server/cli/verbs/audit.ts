// `twinline audit`: shows the audit log of operators and votes, and verifies its integrity.

import { parseArgs } from 'node:util';
import { systemClock } from '../../../lib/clock.ts';
import { DOMAIN_KINDS } from '../../../lib/domain/kinds.ts';
import { suggest } from '../../../lib/flow/expression/suggest.ts';
import type { DocumentStore } from '../../../lib/store/store.ts';
import { AUDIT_ACTIONS, type AuditEntry } from '../../audit/audit.ts';
import { auditJournal } from '../../audit/journal.ts';
import { readAudit, verifyAudit } from '../../audit/read.ts';
import { auditLog } from '../../audit/writer.ts';
import { type OpenDocuments, withDocuments } from '../documents.ts';
import { UsageError, type Verb } from '../verb.ts';

const OPTIONS = { after: { type: 'string' }, json: { type: 'boolean' } } as const;
const ACTIONS = ['show', 'verify'] as const;

export const auditVerb: Verb = {
  usage: '<show|verify> [options]',
  options: {
    '(show)': 'what operators and votes have done, the oldest first',
    '(verify)': 'checks that no entry was changed, removed or put in; prints the number and the hash of the newest',
    '--after <number>': 'entries after this one only; verify takes what comes before as it is',
    '--json': 'as JSON, one entry per line',
    '(exit codes)': '0 done, 1 an entry does not hold, 2 wrong use, 78 configuration',
  },
  run: async (args, env) => {
    const { values, positionals } = parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
    const [named = '', ...more] = positionals;
    const action = ACTIONS.find((one) => one === named);
    if (action === undefined || more.length) throw new UsageError(`Say show or verify.${suggest(named, ACTIONS)}`);
    const after = Number(values.after ?? 0);
    if (!Number.isSafeInteger(after) || after < 0)
      throw new UsageError('--after takes the number of an entry, such as 120.');
    const json = values.json === true;
    return withDocuments({ env, what: 'audit log' }, async (open) => {
      await noteJournal(open);
      return action === 'show' ? show(open.documents, { after, json }) : verify(open, { after, json });
    });
  },
};

/** Adds entries from the journal that a killed server did not write to the audit log. */
async function noteJournal({ config, documents, log }: OpenDocuments): Promise<void> {
  const audit = auditLog({ documents, keyring: config.keyring, clock: systemClock, log });
  try {
    await documents.declare(DOMAIN_KINDS);
    await auditJournal({ audit, documents }).catchUp();
  } catch (error) {
    // The existing entries can still be shown.
    log.warn({ err: error }, 'the newest entries may be missing: the journal was not read to its end');
  } finally {
    await audit.close();
  }
}

interface Asked {
  readonly after: number;
  readonly json: boolean;
}

async function show(documents: DocumentStore, { after, json }: Asked): Promise<number> {
  let count = 0;
  for await (const entry of readAudit(documents, after)) {
    count++;
    console.log(json ? JSON.stringify(entry) : formatEntry(entry));
  }
  if (count === 0 && !json) console.log(after ? `There is no entry after ${after}.` : 'The audit log is empty.');
  return 0;
}

function formatEntry({ number, at, action, by, details }: AuditEntry): string {
  const parts = Object.entries(details).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  return `${String(number).padStart(6)}  ${at}  ${by}: ${AUDIT_ACTIONS[action] ?? action}\n        ${parts.join(' ')}`;
}

async function verify({ documents, config }: OpenDocuments, { after, json }: Asked): Promise<number> {
  const verdict = await verifyAudit(documents, config.keyring, after);
  if (json) console.log(JSON.stringify(verdict));
  else if (verdict.kind === 'broken') console.log(`✘ Entry ${verdict.number}: ${verdict.why}.`);
  else if (!verdict.last) console.log(after ? `✓ There is no entry after ${after}.` : '✓ The audit log is empty.');
  else {
    const { number, at, mac } = verdict.last;
    console.log(`✓ ${verdict.entries} entries are whole. The newest is ${number} of ${at}, hash ${mac}.`);
    console.log(
      '  Compare it with the last line of the server log that has "audit": the whole store may have been set back to an earlier state.',
    );
  }
  return verdict.kind === 'whole' ? 0 : 1;
}

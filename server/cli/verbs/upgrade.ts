// `twinline upgrade --check`: lists what the stores hold, in which formats, and whether this version can read all of it.

import { parseArgs } from 'node:util';
import { ACCOUNT_KINDS } from '../../../lib/account/records.ts';
import { AGENT_KINDS } from '../../../lib/agent/kinds.ts';
import { DELEGATION_KINDS } from '../../../lib/delegation/delegations.ts';
import { DOMAIN_KINDS } from '../../../lib/domain/kinds.ts';
import { MEMORIES } from '../../../lib/engine/memory/documents.ts';
import { RECORD_FORMAT } from '../../../lib/engine/session/record.ts';
import { TwinlineError } from '../../../lib/errors.ts';
import type { DocumentStore, Kind } from '../../../lib/store/store.ts';
import { AUDIT_KINDS } from '../../audit/audit.ts';
import { readVersion } from '../../config/modules.ts';
import { listDamage } from '../../stores/damage.ts';
import { countSealed, describeLocked, type SealedCounts } from '../../stores/sealed.ts';
import { type Counts, type SessionCounts, surveySessions } from '../../stores/survey.ts';
import { PREVIEW } from '../../web/preview/links.ts';
import { STUDIO_VERSION } from '../../web/studio/versions.ts';
import { withDocuments } from '../documents.ts';
import { formatCount } from '../terminal.ts';
import { UsageError, type Verb } from '../verb.ts';

const OPTIONS = { check: { type: 'boolean' }, json: { type: 'boolean' } } as const;

export const upgradeVerb: Verb = {
  usage: '--check [options]',
  options: {
    '--check':
      'counts living sessions by format and flow, documents by kind, and both by the key that seals them, and looks for damage; changes nothing',
    '--json': 'as JSON',
    '(exit codes)':
      '0 this version reads all of it, 1 it does not, a key is missing or a file is damaged, 2 wrong use, 78 configuration',
  },
  run: async (args, env) => {
    const { values } = parseArgs({ args: [...args], options: OPTIONS });
    if (!values.check)
      throw new UsageError('Say --check. There is nothing to run: a server migrates what it finds as it reads it.');
    const holdings = await surveyHoldings(env);
    const { newer, unreadable, locked, damage } = holdings;
    if (values.json) console.log(JSON.stringify({ version: readVersion(), recordFormat: RECORD_FORMAT, ...holdings }));
    else for (const line of describeHoldings(holdings)) console.log(line);
    return newer + unreadable + locked.length + damage.length > 0 ? 1 : 0;
  },
};

function describeHoldings({ sessionsIn, documentsIn, ...held }: Holdings): string[] {
  const { formats, flows, documents, sealed, newer, unreadable, locked, damage } = held;
  return [
    `Sessions in ${sessionsIn ?? 'no store yet'}: ${sum(flows) + unreadable} living`,
    ...table(formats, (format) => (format === 'unreadable' ? 'no record' : `record format ${format}`)),
    ...table(flows, (flow) => flow),
    `Documents in ${documentsIn}: ${sum(documents)}`,
    ...table(documents, (kind) => kind),
    'Sealed by the keys of PIN_ENCRYPTION_KEY:',
    ...Object.entries(sealed).flatMap(([what, counts]) => table(counts, (kid) => `${what}, key "${kid}"`)),
    '',
    `Twinline ${readVersion()} writes record format ${RECORD_FORMAT}.`,
    ...(newer
      ? [`✘ ${formatCount(newer, 'session')} of a newer version: run that version, or these callers dial again.`]
      : []),
    ...(unreadable ? [`✘ ${formatCount(unreadable, 'session')} cannot be read at all: these callers dial again.`] : []),
    ...[...locked, ...damage].map((words) => `✘ ${words}`),
    ...(newer + unreadable + locked.length + damage.length
      ? []
      : ['✓ It reads all of this. Nothing has to be migrated before it starts.']),
  ];
}

function table(counts: Counts, name: (key: string) => string): string[] {
  return Object.entries(counts).map(([key, count]) => `${String(count).padStart(8)}  ${name(key)}`);
}

const sum = (counts: Counts) => Object.values(counts).reduce((total, count) => total + count, 0);

/** Kinds of documents of a server; plugins have more. */
export const SERVER_KINDS: readonly Kind[] = [
  ...ACCOUNT_KINDS,
  MEMORIES,
  ...DOMAIN_KINDS,
  ...AGENT_KINDS,
  ...DELEGATION_KINDS,
  ...AUDIT_KINDS,
  PREVIEW,
  STUDIO_VERSION,
];
/** The contents of a configuration's stores. */
interface Holdings extends SessionCounts {
  /** `Redis 7.0.15 redis://…`; undefined if there is no store. */
  readonly sessionsIn: string | undefined;
  readonly documentsIn: string;
  readonly documents: Counts;
  /** Records sealed with each key. */
  readonly sealed: SealedCounts;
  /** Messages about records whose key is not configured. */
  readonly locked: readonly string[];
  /** Messages about damaged records. */
  readonly damage: readonly string[];
}

/** Reads all stores. Throws ERR_CONFIG or ERR_STORE if they cannot be read. */
async function surveyHoldings(env: NodeJS.ProcessEnv): Promise<Holdings> {
  return withDocuments({ env, what: 'data' }, async ({ config, documents, log }) => {
    const damage = await listDamage(config);
    const counted = { documentsIn: documents.name, documents: await countDocuments(documents), damage };
    const sessions = await surveySessions(config, log);
    const sealed = { ...(await countSealed(documents)), ...sessions.sealed };
    return { ...sessions, ...counted, sealed, locked: describeLocked(sealed, config.keyring) };
  });
}

async function countDocuments(documents: DocumentStore): Promise<Counts> {
  const counts: Record<string, number> = {};
  for (const kind of SERVER_KINDS) {
    const count = await documents.count(kind).catch(refuseAllButUndeclared);
    if (count > 0) counts[kind.name] = count;
  }
  return counts;
}

// A kind that was never declared has no documents.
function refuseAllButUndeclared(error: unknown): number {
  if (error instanceof TwinlineError && error.code === 'ERR_INPUT') return 0;
  throw error;
}

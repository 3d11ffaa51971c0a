// `twinline upgrade --check`: what the stores hold, in which formats, and whether this version reads all of it.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ACCOUNT_KINDS } from '../../../lib/account/records.ts';
import { AGENT_KINDS } from '../../../lib/agent/kinds.ts';
import { DELEGATION_KINDS } from '../../../lib/delegation/delegations.ts';
import { DOMAIN_KINDS } from '../../../lib/domain/kinds.ts';
import { RECORD_FORMAT, readRecordHead } from '../../../lib/engine/session/record.ts';
import { TwinlineError } from '../../../lib/errors.ts';
import type { DocumentStore, Kind, SnapshotStore } from '../../../lib/store/store.ts';
import { AUDIT_KINDS } from '../../audit/audit.ts';
import type { Config } from '../../config/config.ts';
import { IN_MEMORY } from '../../config/data-dir.ts';
import { readVersion } from '../../config/modules.ts';
import { listDamage } from '../../stores/damage.ts';
import { STUDIO_VERSION } from '../../web/studio/versions.ts';
import { withDocuments } from '../documents.ts';
import { formatCount } from '../terminal.ts';
import { UsageError, type Verb } from '../verb.ts';

const OPTIONS = { check: { type: 'boolean' }, json: { type: 'boolean' } } as const;

export const upgradeVerb: Verb = {
  usage: '--check [options]',
  options: {
    '--check':
      'counts living sessions by format and flow, and documents by kind, and looks for damage; changes nothing',
    '--json': 'as JSON',
    '(exit codes)': '0 this version reads all of it, 1 it does not or a file is damaged, 2 wrong use, 78 configuration',
  },
  run: async (args, env) => {
    const { values } = parseArgs({ args: [...args], options: OPTIONS });
    if (!values.check)
      throw new UsageError('Say --check. There is nothing to run: a server migrates what it finds as it reads it.');
    const holdings = await surveyHoldings(env);
    const { newer, unreadable, damage } = holdings;
    if (values.json) console.log(JSON.stringify({ version: readVersion(), recordFormat: RECORD_FORMAT, ...holdings }));
    else for (const line of describeHoldings(holdings)) console.log(line);
    return newer + unreadable + damage.length > 0 ? 1 : 0;
  },
};

function describeHoldings({ sessionsIn, documentsIn, ...held }: Holdings): string[] {
  const { formats, flows, documents, newer, unreadable, damage } = held;
  return [
    `Sessions in ${sessionsIn ?? 'no store yet'}: ${sum(flows) + unreadable} living`,
    ...table(formats, (format) => (format === 'unreadable' ? 'no record' : `record format ${format}`)),
    ...table(flows, (flow) => flow),
    `Documents in ${documentsIn}: ${sum(documents)}`,
    ...table(documents, (kind) => kind),
    '',
    `Twinline ${readVersion()} writes record format ${RECORD_FORMAT}.`,
    ...(newer
      ? [`✘ ${formatCount(newer, 'session')} of a newer version: run that version, or these callers dial again.`]
      : []),
    ...(unreadable ? [`✘ ${formatCount(unreadable, 'session')} cannot be read at all: these callers dial again.`] : []),
    ...damage.map((words) => `✘ ${words}`),
    ...(newer + unreadable + damage.length
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
  ...DOMAIN_KINDS,
  ...AGENT_KINDS,
  ...DELEGATION_KINDS,
  ...AUDIT_KINDS,
  STUDIO_VERSION,
];
const PAGE = 500;

/** How many, by name; none that is 0. */
export type Counts = Readonly<Record<string, number>>;

interface Holdings {
  /** `Redis 7.0.15 redis://…`; undefined where there is nothing. */
  readonly sessionsIn: string | undefined;
  /** Living sessions, by the format of their record: a number, or `unreadable`. */
  readonly formats: Counts;
  /** The same, by `<flow> version <version>`. */
  readonly flows: Counts;
  /** Living sessions whose record a newer version has written, and those that nobody can read. */
  readonly newer: number;
  readonly unreadable: number;
  readonly documentsIn: string;
  readonly documents: Counts;
  /** What is damaged, in words. */
  readonly damage: readonly string[];
}

/** Looks through all of it. Throws ERR_CONFIG or ERR_STORE where it cannot be read. */
async function surveyHoldings(env: NodeJS.ProcessEnv): Promise<Holdings> {
  return withDocuments({ env, what: 'data' }, async ({ config, documents, log }) => {
    const { openFirst, SESSION_BACKENDS } = await import('../../stores/backends.ts');
    const damage = await listDamage(config);
    const counted = { documentsIn: documents.name, documents: await countDocuments(documents), damage };
    if (!hasSessions(config))
      return { sessionsIn: undefined, formats: {}, flows: {}, newer: 0, unreadable: 0, ...counted };
    const { store, program, place, close } = await openFirst(SESSION_BACKENDS, config, { log });
    try {
      return { sessionsIn: `${program} ${place}`, ...(await countSessions(store)), ...counted };
    } finally {
      await close();
    }
  });
}

// Opened, a store on disk that is not there would be made.
function hasSessions({ redisUrl, dataDir }: Config): boolean {
  return redisUrl !== undefined || (dataDir !== IN_MEMORY && existsSync(join(dataDir, 'sessions')));
}

async function countDocuments(documents: DocumentStore): Promise<Counts> {
  const counts: Record<string, number> = {};
  for (const kind of SERVER_KINDS) {
    const count = await documents.count(kind).catch(refuseAllButUndeclared);
    if (count > 0) counts[kind.name] = count;
  }
  return counts;
}

// A kind that no server has declared here has no documents.
function refuseAllButUndeclared(error: unknown): number {
  if (error instanceof TwinlineError && error.code === 'ERR_INPUT') return 0;
  throw error;
}

type SessionCounts = Pick<Holdings, 'formats' | 'flows' | 'newer' | 'unreadable'>;

async function countSessions(store: SnapshotStore): Promise<SessionCounts> {
  const formats: Record<string, number> = {};
  const flows: Record<string, number> = {};
  let [newer, unreadable] = [0, 0];
  const add = (counts: Record<string, number>, name: string) => {
    counts[name] = (counts[name] ?? 0) + 1;
  };
  for (let cursor: string | undefined, first = true; first || cursor !== undefined; first = false) {
    const { keys, next } = await store.list({ limit: PAGE, ...(cursor !== undefined && { cursor }) });
    for (const key of keys) {
      const stored = await store.load(key);
      // It has ended meanwhile.
      if (!stored) continue;
      const head = readRecordHead(stored.record);
      add(formats, head ? String(head.format) : 'unreadable');
      if (!head) unreadable++;
      else add(flows, `${head.conversation} version ${head.version}`);
      if (head && head.format > RECORD_FORMAT) newer++;
    }
    cursor = next;
  }
  return { formats, flows, newer, unreadable };
}

// The domain service of this server: assembles its parts, its door and its background work.

import { createHash } from 'node:crypto';
import { type Clock, settledTime } from '../../lib/clock.ts';
import { COMMON_LIMITS } from '../../lib/common-limits.ts';
import type { OracleKey } from '../../lib/delegation/oracle-key.ts';
import { bulk } from '../../lib/domain/bulk/bulk.ts';
import { issuer } from '../../lib/domain/credential/card.ts';
import { statusLists } from '../../lib/domain/credential/status-list.ts';
import { resolver } from '../../lib/domain/did/resolution.ts';
import { Deliveries } from '../../lib/domain/feed/delivery.ts';
import { feed } from '../../lib/domain/feed/feed.ts';
import { Webhooks } from '../../lib/domain/feed/webhooks.ts';
import { idempotency } from '../../lib/domain/idempotency.ts';
import { DOMAIN_KINDS } from '../../lib/domain/kinds.ts';
import { registry } from '../../lib/domain/registry.ts';
import { verification } from '../../lib/domain/verification.ts';
import { credits } from '../../lib/domain/voting/credits.ts';
import { DEFAULT_GOVERNANCE, type Governance, parseGovernance } from '../../lib/domain/voting/governance.ts';
import type { Inspector } from '../../lib/engine/conversation.ts';
import { TwinlineError } from '../../lib/errors.ts';
import { type SenderOptions, webhookSender } from '../../lib/http/client.ts';
import type { JsonObject } from '../../lib/json/json.ts';
import type { Keyring } from '../../lib/keyring.ts';
import type { DocumentStore } from '../../lib/store/store.ts';
import type { Audit } from '../audit/audit.ts';
import { auditJournal } from '../audit/journal.ts';
import { SERVER_LIMITS } from '../config/limits.ts';
import { readSettingFile } from '../config/modules.ts';
import { eventStreams } from '../http/event-streams.ts';
import type { Log } from '../telemetry/log.ts';
import { proposalPages } from '../web/registry/proposal-pages.ts';
import { twinDrawer } from '../web/registry/twin-drawing.ts';
import { twinLinks } from './answers.ts';
import { type ApiKeys, type ApiKeysOptions, apiKeys, DEFAULT_TENANT, type HeldKeys } from './api-keys.ts';
import { domainCounts } from './counts.ts';
import { type DomainDoor, domainDoor } from './door.ts';
import { importPlaces } from './routes/bulk.ts';
import { makeCardCache } from './routes/cards.ts';

export interface DomainService {
  readonly door: DomainDoor;
  readonly keys: ApiKeys;
  /** Lines for Prometheus. */
  readonly metrics: () => readonly string[];
  /** Runs one round of background work; true when there is more to do. */
  sweep(): Promise<boolean>;
  /** Ends the streams of clients, before shutdown. */
  drain(): void;
  /** Ends the background work. */
  close(): Promise<void>;
}

export interface DomainOptions {
  readonly documents: DocumentStore;
  readonly apiKeysFile: string | undefined;
  /** Voting rules. @default the built-in ones */
  readonly governanceFile: string | undefined;
  /** The first signs credentials; all sign their own status lists. */
  readonly oracleKeys: readonly [OracleKey, ...OracleKey[]];
  /** The public base URL of this server, without a trailing slash. */
  readonly publicUrl: string | undefined;
  /** Seals webhook secrets. */
  readonly keyring: Keyring;
  readonly clock: Clock;
  /** For tests: how webhook requests are sent. */
  readonly webhookSender?: SenderOptions | undefined;
  readonly production: boolean;
  /** Receives the inspection events of proposals. */
  readonly inspector?: Inspector | undefined;
  readonly audit: Audit;
  readonly log: Log;
  readonly onProblem: () => void;
}

/** Opens the service; throws ERR_CONFIG when the key or governance file is invalid. */
export async function openDomain(options: DomainOptions): Promise<DomainService> {
  const { documents, apiKeysFile, governanceFile, clock, production, audit, log } = options;
  const onFailure = (what: string) => (error: unknown) => {
    options.onProblem();
    log.error({ err: error }, what);
  };
  const notes = keyNotes(audit, apiKeysFile);
  const { keys, governance } = readDomainFiles(governanceFile, {
    ...{ file: apiKeysFile, production, log, clock },
    onChange: (content) => {
      notes.put(content);
      void notes.write().catch(onFailure('keys.changed is not in the audit log yet; it is tried again'));
    },
  });
  if (production && governanceFile === undefined) log.warn(BUILT_IN_RULES);
  await documents.declare(DOMAIN_KINDS);
  const digest = createHash('sha256').update(JSON.stringify(governance)).digest('base64url');
  await noteChange(audit, { action: 'governance.changed', file: governanceFile, digest });
  if (keys.held) notes.put(keys.held);
  await notes.write();
  const journal = auditJournal({ audit, documents });
  const parts = makeParts(options, { keys, governance, onFailure });
  const { counts, votes, twins, repeated, events, streams, sending, drawer } = parts;
  return {
    door: openDoor(options, parts),
    keys,
    metrics: counts.metrics,
    async sweep() {
      const settled = settledTime(clock);
      const limit = COMMON_LIMITS.sweepBatch;
      const [isBehind, , ...done] = await Promise.all([
        journal.round(),
        notes.write(),
        twins.sweep(settled - SERVER_LIMITS.provisionalMs, limit),
        repeated.sweep(settled, limit),
        votes.sweep(limit),
        sending.sweep(limit),
      ]);
      return isBehind || done.some((count) => count === limit);
    },
    drain: streams.close,
    async close() {
      events.close();
      await Promise.all([sending.close(), drawer.close()]);
      await journal.catchUp().catch(onFailure('the audit log is behind the journal: the next start goes on there'));
    },
  };
}

interface PartOptions {
  readonly keys: ApiKeys;
  readonly governance: Governance;
  /** Reports an error of background work. */
  readonly onFailure: (what: string) => (error: unknown) => void;
}

type DomainParts = ReturnType<typeof makeParts>;

/** The services behind the routes. */
function makeParts(options: DomainOptions, { keys, governance, onFailure }: PartOptions) {
  const { documents, clock, keyring, inspector, log, webhookSender: sender } = options;
  const counts = domainCounts();
  const votes = verification({
    ...{ documents, clock, governance, inspector, electorate: keys.voters, onStep: counts.onStep },
    onProblem: ({ id, error }) => {
      options.onProblem();
      log.error({ err: error, proposal: id }, 'a proposal cannot go on; it is tried again');
    },
  });
  const { settle: settleVotes, subjectChanged: onMaterialChange } = votes;
  const events = feed({ documents, clock, onProblem: onFailure('the feed of events cannot be read') });
  const hooks = {
    ...{ documents, clock, keyring, feed: events, post: webhookSender(sender), onTry: counts.onTry },
    onProblem: onFailure('webhooks cannot be delivered to'),
  };
  const sending = new Deliveries(hooks);
  return {
    ...{ keys, governance, counts, votes, events, sending },
    twins: registry({ documents, clock, settleVotes, linksTo: twinLinks, onMaterialChange }),
    repeated: idempotency({ documents, clock }),
    streams: eventStreams({ clock, onProblem: onFailure('a stream of events was cut off') }),
    hooks: new Webhooks({ ...hooks, deliveries: sending }),
    drawer: twinDrawer(),
  };
}

function openDoor(options: DomainOptions, parts: DomainParts): DomainDoor {
  const { documents, oracleKeys, publicUrl, keyring, clock, audit, log } = options;
  const { keys, governance, votes, twins, repeated, events, streams, hooks, drawer } = parts;
  const { settle: settleVotes } = votes;
  const [active, ...older] = oracleKeys;
  const issuers = [issuer(active), ...older.map(issuer)] as const;
  return domainDoor({
    ...{ documents, publicUrl, clock, audit, keys, governance, streams, settleVotes, feed: events, webhooks: hooks },
    ...{ registry: twins, verification: votes, idempotency: repeated },
    drawGraph: drawer.draw,
    pages: proposalPages({ documents, verification: votes, keyring, clock, publicUrl }),
    credits: credits({ documents, clock, settleVotes }),
    bulk: bulk({ documents, clock, idempotency: repeated }),
    imports: importPlaces(),
    signedCards: makeCardCache(),
    statusLists: statusLists({ documents, issuers, clock, settleVotes }),
    resolve: resolver({ documents, clock, publicTenant: DEFAULT_TENANT, settleVotes }),
    onFault: (error, { state }) => {
      options.onProblem();
      log.error({ err: error, requestId: state.requestId }, 'a request to the domain service failed');
    },
  });
}

/**
 * Records reloads of the key file in the audit log. A revoked key must stop working at once, so the entry is written after
 * the reload, and retried until it is stored.
 */
function keyNotes(audit: Audit, file: string | undefined) {
  let unnoted: HeldKeys | undefined;
  return {
    put(content: HeldKeys): void {
      unnoted = content;
    },
    /** Writes the pending entry, if any; it stays pending when this rejects. */
    async write(): Promise<void> {
      const content = unnoted;
      unnoted = undefined;
      if (!content) return;
      const { digest, keys } = content;
      await noteChange(audit, { action: 'keys.changed', file, digest, more: { keys } }).catch((error: unknown) => {
        unnoted ??= content;
        throw error;
      });
    },
  };
}

const BUILT_IN_RULES =
  'GOVERNANCE_FILE is not set, so votes follow the built-in rules: with up to five voters, one who proposes and votes yes may decide alone when nobody else votes. Name the voters and a higher quorum in a rules file.';

// Throws ERR_CONFIG with the problems of both files, one per line.
function readDomainFiles(
  governanceFile: string | undefined,
  options: ApiKeysOptions,
): { readonly keys: ApiKeys; readonly governance: Governance } {
  const problems: string[] = [];
  const attempt = <T>(read: () => T): T | undefined => {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof TwinlineError) || error.code !== 'ERR_CONFIG') throw error;
      problems.push(error.message);
      return undefined;
    }
  };
  const keys = attempt(() => apiKeys(options));
  const governance = attempt(() => readGovernance(governanceFile));
  if (keys && governance) return { keys, governance };
  throw new TwinlineError('ERR_CONFIG', problems.join('\n'));
}

interface ReadFile {
  readonly action: 'governance.changed' | 'keys.changed';
  readonly file: string | undefined;
  readonly digest: string;
  readonly more?: JsonObject;
}

// Records that a file which grants rights has changed since it was last read.
async function noteChange(audit: Audit, { action, file, digest, more }: ReadFile): Promise<void> {
  const last = await audit.findLast(action);
  const before = last?.details.digest ?? null;
  const isUsual = last === undefined && file === undefined;
  if (before === digest || isUsual) return;
  await audit.append({ action, by: 'server', details: { file: file ?? null, before, digest, ...more } });
}

/** The rules of a file, or the built-in ones. Throws ERR_CONFIG with every problem, one per line. */
export function readGovernance(file: string | undefined): Governance {
  if (file === undefined) return DEFAULT_GOVERNANCE;
  return parseGovernance(readSettingFile('GOVERNANCE_FILE', file), `GOVERNANCE_FILE ${file}`);
}

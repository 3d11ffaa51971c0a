// Checks of keys: that they are there, that they belong to the stored data, and that all instances have the same.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import pino from 'pino';
import { didOfKey } from '../../lib/delegation/oracle-key.ts';
import { findLostIssuers } from '../../lib/domain/credential/places.ts';
import { DOMAIN, STATUS_ENTRY } from '../../lib/domain/kinds.ts';
import type { Keyring } from '../../lib/keyring.ts';
import { checkCanary } from '../../lib/sealing.ts';
import { sqliteDocuments } from '../../lib/store/sqlite/index.ts';
import type { DocumentStore } from '../../lib/store/store.ts';
import type { Config } from '../config/config.ts';
import type { SettingName } from '../config/settings.ts';
import { redisMark } from '../stores/key-mark.ts';
import { countSealed, describeLocked, describeOlder, type SealedCounts } from '../stores/sealed.ts';
import { readPinCanary } from '../stores/stores.ts';
import { advice, brokenFinding, type CheckContext, type DoctorCheck, type Finding, fine } from './check.ts';

export const KEY_CHECKS: readonly DoctorCheck[] = [
  { name: 'PIN key', run: (context) => keyFinding(context, 'PIN_ENCRYPTION_KEY') },
  {
    name: 'PIN key and data',
    run: async (context) => {
      const { config } = context;
      // One that does not answer is reported already.
      await context.mongo?.facts();
      if (!config.keyring) return fine('no PINs are stored yet: the key is made at the first start');
      const documents = await openExisting(context);
      if (!documents) return fine('no PINs are stored yet');
      try {
        const kept = await readPinCanary(documents);
        if (kept === undefined) return fine('no PINs are stored yet');
        return checkCanary(config.keyring, kept) === 'current'
          ? fine('the stored PINs belong to the first key of PIN_ENCRYPTION_KEY')
          : fine('the stored PINs belong to an older key of PIN_ENCRYPTION_KEY');
      } finally {
        await documents.close();
      }
    },
  },
  {
    name: 'PIN key and sessions',
    when: ({ redis, config }) => redis !== undefined && config.keyring !== undefined,
    run: async ({ config, redis }) => {
      // One that does not answer is reported already.
      await redis!.facts();
      const kept = await redisMark(redis!.connection).read();
      if (!kept) return fine('no instance has marked its key in Redis yet');
      return checkCanary(config.keyring, kept.text, 'sessions') === 'current'
        ? fine('the sessions in Redis belong to the first key of PIN_ENCRYPTION_KEY')
        : fine(
            'the sessions in Redis belong to an older key of PIN_ENCRYPTION_KEY; the next start marks the active one',
          );
    },
  },
  {
    name: 'keys in use',
    when: ({ config }) => config.keyring !== undefined,
    run: async (context) => {
      // Stores that do not answer are reported already.
      await Promise.all([context.redis?.facts(), context.mongo?.facts()]);
      return keysInUse(await countInUse(context), context.config.keyring!);
    },
  },
  { name: 'oracle key', run: (context) => keyFinding(context, 'ORACLE_KEY') },
  {
    name: 'keys of credentials',
    when: ({ config }) => config.oracleKey !== undefined,
    run: async (context) => {
      // One that does not answer is reported already.
      await context.mongo?.facts();
      const documents = await openExisting(context);
      if (!documents) return fine('no credentials were signed yet');
      try {
        await documents.declare([DOMAIN, STATUS_ENTRY]);
        const lost = await lostIssuerFindings(documents, context.config);
        return lost.length ? lost : fine('each credential that counts can be checked: its key is in ORACLE_KEY');
      } finally {
        await documents.close();
      }
    },
  },
  {
    name: 'operator token',
    run: ({ config }) =>
      config.operatorTokens.length > 0 || !config.production
        ? fine(config.operatorTokens.length ? 'OPERATOR_TOKEN is set' : 'operator routes answer this machine only')
        : advice(
            'OPERATOR_TOKEN is not set: /metrics and the other operator routes answer 404',
            'Set one to use them.',
          ),
  },
];

/** Whether every key that sealed stored data is configured, and whether the older ones can be dropped. */
export function keysInUse(counts: SealedCounts, keyring: Keyring): Finding[] {
  const locked = describeLocked(counts, keyring);
  if (locked.length)
    return locked.map((words) =>
      brokenFinding(words, 'Then move everything to the active key: npx twinline account reseal'),
    );
  const older = describeOlder(counts, keyring);
  if (older)
    return [
      advice(
        `older keys of PIN_ENCRYPTION_KEY are still needed: they seal ${older}`,
        'Before you drop them: npx twinline account reseal. Sessions move or end by themselves.',
      ),
    ];
  const isRotating = keyring.ids.length > 1;
  return [
    fine(
      isRotating
        ? 'the older keys seal nothing any more: drop them, or keep them to verify older audit entries'
        : 'PIN_ENCRYPTION_KEY opens all that is stored',
    ),
  ];
}

async function countInUse(context: CheckContext): Promise<SealedCounts> {
  const documents = await openExisting(context);
  const { surveySessions } = await import('../stores/survey.ts');
  const log = pino({ level: 'silent' });
  try {
    const sessions = await surveySessions(context.config, log);
    return { ...(documents && (await countSealed(documents))), ...sessions.sealed };
  } finally {
    await documents?.close();
  }
}

/** One for each key that has signed credentials that still count, and is in ORACLE_KEY no more. */
export async function lostIssuerFindings(
  documents: DocumentStore,
  { oracleKey, olderOracleKeys }: Pick<Config, 'oracleKey' | 'olderOracleKeys'>,
): Promise<Finding[]> {
  const keys = [oracleKey, ...olderOracleKeys].map(didOfKey);
  const lost = await findLostIssuers(documents, keys);
  return lost.map((did) =>
    advice(
      `credentials that ${did} signed cannot be checked any more: its key is not in ORACLE_KEY`,
      'Put its key behind the first one, or let holders ask for new credentials.',
    ),
  );
}

// Bad and missing ones were reported as problems of the settings.
function keyFinding({ config, entries }: CheckContext, name: SettingName): Finding {
  const { text, source } = entries.find((entry) => entry.name === name)!;
  const isShared = config.redisUrl !== undefined || config.mongodbUrl !== undefined;
  if (source !== 'environment' && isShared) {
    const words = `${name} is ${text === undefined ? 'made at the first start' : `in ${source}`}, and stores are shared`;
    return advice(words, `Set the same ${name} for all instances: npx twinline config --new-keys`);
  }
  if (text === undefined) return fine(`${name} is ${source}`);
  return fine(`${name} has its right form (from ${source === 'environment' ? 'the environment' : source})`);
}

// Looking must make nothing: where no documents are yet, there is nothing to open.
async function openExisting({ config, mongo }: CheckContext): Promise<DocumentStore | undefined> {
  if (mongo) {
    const { mongoDocuments } = await import('../../lib/store/mongo/index.ts');
    return mongoDocuments({ connection: mongo.connection });
  }
  const path = join(config.dataDir, 'twinline.db');
  return existsSync(path) ? sqliteDocuments({ path }) : undefined;
}

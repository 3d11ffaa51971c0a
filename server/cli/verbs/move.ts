// `twinline move`: copies all data from the stores of one configuration to those of another, such as from one machine to Redis and MongoDB
// or back.

import { readFileSync, statSync } from 'node:fs';
import { parseArgs, parseEnv } from 'node:util';
import pino from 'pino';
import { systemClock } from '../../../lib/clock.ts';
import { TwinlineError } from '../../../lib/errors.ts';
import { type Config, readConfig } from '../../config/config.ts';
import { isAlike, type MoveResult, move, type Survey, surveyMove } from '../../move/move.ts';
import { findMoved, type MoveSide, openSide, type SideOptions } from '../../move/sides.ts';
import { createLog } from '../../telemetry/log.ts';
import { formatCount, showProgress } from '../terminal.ts';
import { UsageError, type Verb } from '../verb.ts';

const OPTIONS = { from: { type: 'string' }, 'dry-run': { type: 'boolean' }, json: { type: 'boolean' } } as const;

export const moveVerb: Verb = {
  usage: '--from <data folder or file of settings> [options]',
  options: {
    '--from <folder or file>':
      'where everything is now: the DATA_DIR of the old server, or its settings in a file such as .env; it is only read',
    '--dry-run': 'counts what there is to move and checks that it can be; writes nothing',
    '--json': 'as JSON, one line',
    '(to where)':
      'REDIS_URL, MONGODB_URL, DATA_DIR and the keys of the new servers: from the environment, .env or --env-file',
    '(servers)': 'stop all of them first, on both sides; while a move has not ended, none starts on what it fills',
    '(killed)': 'run the same command again: it goes on',
    '(exit codes)':
      '0 moved, and both sides were compared, 1 refused, failed or not the same, 2 wrong use, 78 configuration',
  },
  run: async (args, env) => {
    const { values } = parseArgs({ args: [...args], options: OPTIONS });
    if (values.from === undefined) throw new UsageError('Say --from where: a data folder or a file of settings.');
    const from = requireSettings(readSource(values.from), ` of ${values.from}`);
    const to = requireSettings(env, '');
    const moved = findMoved(from, to);
    if (!moved.sessions && !moved.documents)
      throw new UsageError(`${values.from} and the settings here name the same stores: there is nothing to move.`);
    if (!to.keyring)
      throw new TwinlineError(
        'ERR_CONFIG',
        'PIN_ENCRYPTION_KEY is not set here. Give the key of the old server: it opens what is moved.',
      );
    const dryRun = values['dry-run'] === true;
    if (from.oracleKey && from.oracleKey !== to.oracleKey)
      console.error(
        `! ORACLE_KEY here is not that of ${values.from}: cards that were signed name the other one. Give the same key, unless it was changed.`,
      );
    const log = createLog({ logLevel: 'warn', redact: to.redact }, pino.destination({ dest: 2, sync: true }));
    // The source may be a Redis that is not suitable for production.
    const leaving = { ...from, redisAcceptLoss: true };
    const opening = { log, moved, clock: systemClock };
    const source = await openSide(leaving, { ...opening, side: 'source' });
    try {
      if (!source.sessions && !source.documents)
        throw new TwinlineError(
          'ERR_CONFIG',
          `There is nothing of a server in ${values.from}. Give its DATA_DIR, or a file with its settings.`,
        );
      const json = values.json === true;
      const into = <T>(side: SideOptions['side'], work: (sides: Sides) => Promise<T>) =>
        withSide(openSide(to, { ...opening, side }), (target) =>
          work({ source, target, keyring: to.keyring, clock: systemClock }),
        );
      // Nothing is written before all checks pass.
      const survey = await into('target, as it is', async (sides) => {
        const counts = await surveyMove(sides);
        if (dryRun) tellSurvey(counts, sides, json);
        return counts;
      });
      return dryRun ? 0 : await into('target', (sides) => runMove(survey, sides, json));
    } finally {
      await source.close();
    }
  },
};

async function withSide<T>(opening: Promise<MoveSide>, work: (side: MoveSide) => Promise<T>): Promise<T> {
  const side = await opening;
  try {
    return await work(side);
  } finally {
    await side.close();
  }
}

/** Variables of the source server; a folder stands for its DATA_DIR. Throws {@link UsageError}. */
function readSource(from: string): NodeJS.ProcessEnv {
  const stats = statSync(from, { throwIfNoEntry: false });
  if (stats?.isDirectory()) return { DATA_DIR: from };
  if (!stats) throw new UsageError(`There is no folder or file ${from}.`);
  return parseEnv(readFileSync(from, 'utf8'));
}

function requireSettings(env: NodeJS.ProcessEnv, whose: string): Config {
  const { config, problems } = readConfig(env);
  if (config) return config;
  throw new TwinlineError('ERR_CONFIG', [`The settings${whose} cannot be used:`, ...problems].join('\n'));
}

type Sides = Parameters<typeof move>[0];

async function runMove(survey: Survey, sides: Sides, json: boolean): Promise<number> {
  const total = 2 * [...survey.values()].reduce((sum, count) => sum + count, 0);
  const progress = await showProgress({ total, stream: process.stderr, unit: 'items' });
  let done = 0;
  const result = await move(sides, () => progress.update(++done, { lines: done })).finally(progress.stop);
  const isWhole = [...result.values()].every(isAlike);
  if (json) console.log(JSON.stringify({ moved: isWhole, ...namePlaces(sides), kinds: Object.fromEntries(result) }));
  else for (const line of describeResult(result, sides)) console.log(line);
  return isWhole ? 0 : 1;
}

function namePlaces({ source, target }: Sides) {
  return { from: listNames(source), to: listNames(target) };
}

function listNames({ sessions, documents }: MoveSide): string[] {
  return [sessions, documents].flatMap((store) => (store ? [store.name] : []));
}

function describePlaces(sides: Sides): string[] {
  const { from, to } = namePlaces(sides);
  return [`From  ${from.join(' and ')}`, `To    ${to.join(' and ') || 'stores that are made when they are moved'}`];
}

function tellSurvey(survey: Survey, sides: Sides, json: boolean): void {
  const rows = [...survey].map(([kind, count]) => `${String(count).padStart(8)}  ${kind}`);
  const lines = [...describePlaces(sides), ...rows, 'All of this can be moved. Nothing was written.'];
  if (json) console.log(JSON.stringify({ dryRun: true, ...namePlaces(sides), kinds: Object.fromEntries(survey) }));
  else for (const line of lines) console.log(line);
}

function describeResult(result: MoveResult, sides: Sides): string[] {
  const rows = [...result].map(([kind, compared]) => {
    const { source, target } = compared;
    const start = `${String(source.count).padStart(8)}  ${kind.padEnd(24)}`;
    if (isAlike(compared)) return `${start} ${source.hash}`;
    return `${start} ${source.hash}, but ${target.count} with ${target.hash} in the target`;
  });
  const total = [...result.values()].reduce((sum, { source }) => sum + source.count, 0);
  const isWhole = [...result.values()].every(isAlike);
  return [
    ...describePlaces(sides),
    ...rows,
    isWhole
      ? `✓ ${formatCount(total, 'item')} moved; both sides were read again and have the same.`
      : '✘ The sides differ: something has written while they were read. Stop all servers on both, and run this again.',
  ];
}

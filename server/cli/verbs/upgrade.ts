// `twinline upgrade --check`: what the stores hold, in which formats, and whether this version reads all of it.

import { parseArgs } from 'node:util';
import { RECORD_FORMAT } from '../../../lib/engine/session/record.ts';
import { readVersion } from '../../config/modules.ts';
import { type Counts, type Holdings, surveyHoldings } from '../holdings.ts';
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

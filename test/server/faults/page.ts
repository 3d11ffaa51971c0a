// The matrix as the guide on guarantees shows it: faults with the same answers in one row, and why there are no others.

import { AGENT_LIMITS } from '../../../lib/agent/limits.ts';
import { markdownTable } from '../../support/markdown-table.ts';
import {
  DEADLINES,
  type Dependency,
  DOORS,
  type Door,
  type Expected,
  FAULTS,
  type Fault,
  MATRIX,
  playedFaults,
} from './matrix.ts';

const WORDS = `What each door answers, and until when, while something that it needs fails; \`–\` is a door that does not need it.
\`/health\` and \`/livez\` answer 200 within 100 ms all the while, and \`/readyz\` 503 where the last column has stores. Afterwards all is
well without a restart: a turn, a twin, a message or a call that was asked for again is there once. All rows are played on real
servers, stores and sockets by \`test/server/faults/matrix.kills.test.ts\`.`;

/** The table, and what is not in it. */
export function faultsTable(): string {
  const doors = Object.keys(DOORS) as Door[];
  const head = ['what fails', 'how', ...Object.values(DOORS), 'not ready'];
  const rows = Object.entries<Dependency>(MATRIX).flatMap(([name, dependency]) =>
    groupFaults(dependency).map(({ faults, row }) => [
      dependency.name,
      faults.map((fault) => FAULTS[fault]).join('; '),
      ...doors.map((door) => describe(name, row[door])),
      faults.some((fault) => dependency.there?.includes(fault)) ? '' : (dependency.away?.join(', ') ?? ''),
    ]),
  );
  const missing = Object.values<Dependency>(MATRIX).flatMap(({ name, rows: all }) => {
    const reasons = new Map<string, Fault[]>();
    for (const [fault, row] of Object.entries(all))
      if (typeof row === 'string') reasons.set(row, [...(reasons.get(row) ?? []), fault as Fault]);
    return [...reasons].map(([reason, faults]) => [name, faults.map((fault) => FAULTS[fault]).join('; '), reason]);
  });
  const why = markdownTable(['what', 'how', 'why not'], missing);
  return [WORDS, '', ...markdownTable(head, rows), '', 'What is not in it:', '', ...why].join('\n');
}

type Row = { readonly [door in Door]?: Expected };

/** Faults of a dependency by what the doors answer. */
function groupFaults(dependency: Dependency): { readonly faults: Fault[]; readonly row: Row }[] {
  const groups = new Map<string, { readonly faults: Fault[]; readonly row: Row }>();
  for (const fault of playedFaults(dependency)) {
    const row = dependency.rows[fault] as Row;
    const key = JSON.stringify(row);
    groups.set(key, { row, faults: [...(groups.get(key)?.faults ?? []), fault] });
  }
  return [...groups.values()];
}

const TROUBLE = "the screen of the call's `fail`";

/** Words for answers that only somebody who knows the flows of the test understands. */
const WORDS_OF: { readonly [answer: string]: string } = {
  'END In or CON Please wait. or END Trouble': `in time, or as above`,
  'CON Please wait. or END Trouble': `CON Please wait., or ${TROUBLE}`,
  'END Trouble': TROUBLE,
  '200 Trouble': `200, ${TROUBLE}`,
  'END Answered fine': 'its answer',
  '200 Answered fine': '200, its answer',
  '200 Heard hello': '200, the reply',
  '200 fine': '200',
  '200 hello': '200, with what the tool gave',
};
// The user of the test has less patience than the server.
const SILENT = {
  model: `waits up to ${AGENT_LIMITS.modelAnswerMs / 1_000} s, and stops at once when it is aborted`,
  tools: `waits up to ${AGENT_LIMITS.mcpToolMs / 1_000} s, and stops at once when it is aborted`,
};

function describe(name: string, expected: Expected | undefined): string {
  if (!expected) return '–';
  const { answer, within, again } = expected;
  if (answer.startsWith('waits')) return SILENT[name as keyof typeof SILENT];
  if (answer.includes('is not available')) return '200, and the model is told that the tool failed (10 s)';
  const told = again.includes('told')
    ? `; it hears of it later${again.includes('told 2') ? ', twice under one id' : ''}`
    : '';
  const words = WORDS_OF[answer] ?? answer.replace(' Please try again later.', '');
  return `${words} (${DEADLINES[within].words})${told}`;
}

// The page on guarantees, from the table of promises.

import { faultsTable } from '../server/faults/page.ts';
import { markdownTable } from '../support/markdown-table.ts';
import { LONG_RUNS, PROMISES, type Promised } from './promises.ts';

export const PAGE = 'server/docs/guides/guarantees.md';

const WORDS = `# What Twinline guarantees

Each promise with the tests that prove it. \`npm test\` proves all of them but those that say what they need besides Node;
\`npm run test:all\` runs every test, and the commands run longer. \`npm run promises\` runs the proofs at their whole size and prints, for
each promise, what came out on this machine; \`npm run promises -- chaos\` those whose proof or words have this word.

<!-- Made by \`npm run guides\` from test/promises/promises.ts and test/server/faults/matrix.ts. -->
`;

/** The text of the page. */
export function guaranteesPage(): string {
  const parts = Object.entries(PROMISES).map(([room, rows]) => {
    const table = markdownTable(['promise', 'proof', 'measured'], rows.map(describe));
    return `## ${room}\n\n${table.join('\n')}\n`;
  });
  const runs = LONG_RUNS.map(({ command, does, last }) => [`\`${command}\``, does, last]);
  const table = markdownTable(['command', 'what it does', 'what came out last'], runs);
  const faults = `## When something fails that a door needs\n\n${faultsTable()}\n`;
  return [WORDS, ...parts, faults, `## Long runs\n\n${table.join('\n')}\n`].join('\n');
}

/** The figures of the longest run of a command, with whatever options. */
function lastRun(command: string): string {
  const [program] = command.split(' -- ');
  const [options] = command.match(/--(packets|requests)/) ?? [''];
  return LONG_RUNS.find((run) => run.command.startsWith(program!) && run.command.includes(options))?.last ?? '';
}

function describe({ promise, proofs, needs, longer, measured }: Promised): string[] {
  const files = proofs.map((proof) => `\`test/${proof}.test.ts\``);
  const proof = [...files, ...(longer === undefined ? [] : [`\`${longer}\``])].join(', ');
  const words = needs === undefined ? promise : `${promise} (needs ${needs})`;
  return [words, proof, measured ?? (longer === undefined ? '' : lastRun(longer))];
}

// `npm run mutate [-- pin cors]`: changes the code of these groups (default: all) in every small way, one at a time, and runs the
// tests of the group against each. Exit code 1 when the tests of a group notice fewer than 90 % of the changes.
//
//   --only <file[:from-to]>   only these lines; may be given again     --jobs <n>   mutants at a time, default 1

import { parseArgs } from 'node:util';
import pc from 'picocolors';
import { clear, count, show } from '../support/command-line.ts';
import { markdownTable } from '../support/markdown-table.ts';
import { EQUIVALENTS } from './equivalents.ts';
import { GROUPS } from './groups.ts';
import { mutate, type Progress } from './stryker.ts';
import { judge, LEAST_SHARE, type Mutant, type Verdict } from './verdict.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { only: { type: 'string', multiple: true }, jobs: { type: 'string', default: '1' } },
});
const jobs = count('jobs', values.jobs);
const names = positionals.length ? positionals : Object.keys(GROUPS);
const unknown = names.filter((name) => !Object.hasOwn(GROUPS, name));
if (unknown.length) {
  console.error(`There is no group ${unknown.join(', ')}. Groups: ${Object.keys(GROUPS).join(', ')}.`);
  process.exit(2);
}

const rows: string[][] = [];
for (const name of names) {
  const begun = performance.now();
  const group = GROUPS[name]!;
  const only = values.only?.filter((place) => group.files.includes(place.replace(/:.*/, '')));
  const mutants = await mutate(group, { jobs, only, onProgress: (progress) => tell(name, progress) }).catch(
    (error: unknown) => {
      console.error(`${pc.red('✘')} ${name}: ${String(error)}`);
      process.exitCode = 1;
    },
  );
  clear();
  if (!mutants) continue;
  const declared = EQUIVALENTS.filter(({ file }) => group.files.includes(file));
  const verdict = judge(mutants, values.only ? [] : declared);
  const seconds = Math.round((performance.now() - begun) / 1_000);
  rows.push(row(name, verdict, seconds));
  printVerdict(name, verdict, seconds);
  if (!verdict.passes) process.exitCode = 1;
}
console.log(
  `\n${markdownTable(['group', 'mutants', 'noticed', 'equivalent', 'missed', 'share', 's'], rows).join('\n')}`,
);

function tell(name: string, { done, of, survived }: Progress): void {
  const filled = Math.round((done / of) * 30);
  show(`${name} ${'█'.repeat(filled)}${'░'.repeat(30 - filled)} ${done} of ${of}, ${survived} not noticed`);
}

function row(name: string, verdict: Verdict, seconds: number): string[] {
  const { mutants, noticed, equivalent, survivors } = verdict;
  return [name, ...[mutants, noticed, equivalent, survivors.length].map(String), percent(verdict.share), `${seconds}`];
}

function printVerdict(name: string, { survivors, stale, share, passes, noticed, mutants }: Verdict, s: number): void {
  const mark = passes ? pc.green('✓') : pc.red('✘');
  console.log(`${mark} ${name}: ${noticed} of ${mutants} noticed, ${percent(share)} of those that can be, in ${s} s`);
  for (const survivor of survivors) console.log(place(survivor));
  for (const { file, at = '', change, why } of stale)
    console.log(pc.yellow(`    stale: ${file} ${at} ${change}: declared as equivalent (${why}), but noticed or gone`));
  if (share < LEAST_SHARE) console.log(pc.red(`    at least ${percent(LEAST_SHARE)} must be noticed`));
}

function place({ file, line, at, change }: Mutant): string {
  return `    ${file}:${line}  ${change}\n${pc.dim(`        ${at}`)}`;
}

// Not rounded up: 89.96 is not enough.
function percent(share: number): string {
  return `${(Math.floor(share * 1_000) / 10).toFixed(1)} %`;
}

// `npm run bench`: every benchmark beside its floor, as a table of ratios. Words select: `npm run bench -- engine`; `--write`
// puts the tables into the page on performance.

import { readFileSync, writeFileSync } from 'node:fs';
import pc from 'picocolors';
import { markdownTable } from '../support/markdown-table.ts';
import { BENCHES } from './benches.ts';
import { holds, type Row } from './measure.ts';
import { writtenTables } from './performance-page.ts';

const PAGE = 'server/docs/guides/performance.md';
const HEAD = ['what', 'measured · floor', 'ratio', 'reach'];

const words = process.argv.slice(2).filter((word) => !word.startsWith('--'));
const chosen = Object.keys(BENCHES).filter((name) => !words.length || words.includes(name));
const measured = new Map<string, string[][]>();
let [count, missed] = [0, 0];
for (const name of chosen) {
  process.stderr.write(pc.dim(`measuring ${name} …\n`));
  const rows = await BENCHES[name]!();
  measured.set(name, rows.map(cells));
  count += rows.length;
  missed += rows.filter((row) => !holds(row)).length;
}
for (const line of markdownTable(HEAD, [...measured.values()].flat())) console.log(line);
console.log(`\n${count - missed} of ${count} reached (Node ${process.version}, CPU time of the process under test)`);
if (process.argv.includes('--write')) {
  writeFileSync(PAGE, writtenTables(readFileSync(PAGE, 'utf8'), { head: HEAD, rows: measured }));
  console.log(`The tables that were measured whole are in ${PAGE}.`);
}

function cells(row: Row): string[] {
  const reach = !row.target ? '' : 'atLeast' in row.target ? `≥ ${row.target.atLeast}` : `≤ ${row.target.atMost}`;
  return [row.what, row.measured, `${row.ratio.toFixed(2)}${holds(row) ? '' : ' ✘'}`, reach];
}

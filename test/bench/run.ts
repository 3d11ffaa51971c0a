// `npm run bench`: every benchmark beside its floor, as a table of ratios. Words select: `npm run bench -- engine`; `--write`
// puts the tables and their chart into the page on performance, `--json FILE` writes the rows into a file. Both are written after
// each benchmark: what is ended early keeps what it has measured.

import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { clear, show, timeLeft } from '../support/command-line.ts';
import { BENCHES } from './benches.ts';
import { writtenCharts } from './chart.ts';
import { BEFORE, holds, type Row } from './measure.ts';
import { filledTable, writtenTables } from './performance-page.ts';

const PAGE = 'server/docs/guides/performance.md';
const HEAD = ['what', 'measured · floor', 'ratio', 'middle half', 'reach', BEFORE];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { write: { type: 'boolean', default: false }, json: { type: 'string' } },
});
const chosen = Object.keys(BENCHES).filter((name) => !positionals.length || positionals.includes(name));
const measured = new Map<string, readonly Row[]>();
const start = performance.now();
for (const name of chosen) {
  const [done, total] = [measured.size, chosen.length];
  const tell = () => show(`measuring ${name}, ${done} of ${total} done${timeLeft({ done, total, start })}`);
  tell();
  const telling = setInterval(tell, 1_000);
  measured.set(name, await BENCHES[name]!());
  clearInterval(telling);
  if (values.json) writeFileSync(values.json, `${JSON.stringify(Object.fromEntries(measured), undefined, 2)}\n`);
  if (values.write) writePage();
}
clear();
const rows = [...measured.values()].flat();
for (const line of filledTable(HEAD, rows.map(cells))) console.log(line);
console.log(
  `\n${rows.filter(holds).length} of ${rows.length} reached (Node ${process.version}, CPU time of the process under test)`,
);
if (values.write) console.log(`The tables that were measured whole are in ${PAGE}.`);

function writePage(): void {
  const tables = new Map([...measured].map(([name, rows]) => [name, rows.map(cells)]));
  const bars = new Map([...measured].map(([name, rows]) => [name, rows.flatMap(({ bar }) => bar ?? [])]));
  const page = writtenTables(readFileSync(PAGE, 'utf8'), { head: HEAD, rows: tables });
  writeFileSync(PAGE, writtenCharts(page, bars));
}

function cells(row: Row): string[] {
  const { what, measured, ratio, target, spread = '', before = '' } = row;
  const reach = !target ? '' : 'atLeast' in target ? `≥ ${target.atLeast}` : `≤ ${target.atMost}`;
  const shown = ratio === undefined ? '' : `${ratio.toFixed(2)}${holds(row) ? '' : ' ✘'}`;
  return [what, measured, shown, spread, reach, before];
}

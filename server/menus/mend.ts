// Writes the fixes of lint that are certain into the files of flows and of their tests: only what the fix names changes, and a file that
// another program has written meanwhile is left alone.

import { basename, join } from 'node:path';
import { FLOW_FILE } from '../../lib/flow/format/parse.ts';
import type { Problem, TextEdit } from '../../lib/flow/format/problem.ts';
import { FLOW_TEST_FILE } from '../../lib/flow/testing/file.ts';
import { FLOW_NAME, flowFiles } from './files.ts';
import { cutFlowName, type MenuFolder, readMenus, readTestProblems } from './menus.ts';

/** A fix may show what another mistake has hidden. */
const ROUNDS = 10;

type Mended = Problem & { readonly edit: TextEdit };

/**
 * Mends the flows of a folder and their tests, or one flow of it; what was done, one line for each fix, and for each file that was not
 * written.
 */
export async function mendFlows(folder: MenuFolder, only?: string): Promise<string[]> {
  const lines: string[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const done = await mendOnce(folder, only);
    lines.push(...done.lines);
    if (!done.written) break;
  }
  return lines;
}

async function mendOnce(folder: MenuFolder, only: string | undefined): Promise<{ lines: string[]; written: number }> {
  const files = flowFiles(folder.folder);
  const before = await readMenus(folder);
  const texts = new Map(
    await Promise.all(
      before.files
        .filter((file) => isNamed(file) && (only === undefined || only === file))
        .map(async (file) => [file, await files.read(cutFlowName(file))] as const),
    ),
  );
  const menus = await readMenus(folder);
  const problems = [...menus.problems, ...(await readTestProblems(folder.folder, [...texts.keys()]))];
  const lines: string[] = [];
  let written = 0;
  for (const [file, read] of texts) {
    const name = cutFlowName(file);
    const changes = PARTS.flatMap(([part, ending]) => {
      const place = join(folder.folder, name + ending);
      const edits = chooseEdits(problems.filter((one): one is Mended => one.file === place && one.edit !== undefined));
      return edits.length ? [{ part, ...mendText(read[part].text, edits), base: read[part].hash }] : [];
    });
    if (!changes.length) continue;
    const result = await files.write(name, Object.fromEntries(changes.map(({ part, ...change }) => [part, change])));
    if (result.kind === 'conflict') lines.push(`${file}: changed meanwhile, and left as it is`);
    else {
      written++;
      lines.push(...changes.flatMap((change) => change.lines));
    }
  }
  return { lines, written };
}

const PARTS = [
  ['flow', FLOW_FILE],
  ['tests', FLOW_TEST_FILE],
] as const;

/** A text after these edits, and a line for each of them. */
function mendText(text: string, edits: readonly Mended[]): { readonly text: string; readonly lines: string[] } {
  // The places are counted without it.
  const mark = text.startsWith('\ufeff') ? 1 : 0;
  const lines = edits.map(({ file, line, column, code, edit: { from, to, insert } }) => {
    const old = text.slice(mark + from, mark + to);
    return `${file}:${line}:${column} mended ${code}: ${old} → ${insert}`;
  });
  const mended = edits.reduceRight(
    (now, { edit }) => now.slice(0, mark + edit.from) + edit.insert + now.slice(mark + edit.to),
    text,
  );
  return { text: mended, lines };
}

// Others are left alone.
const isNamed = (file: string) => FLOW_NAME.test(basename(file, FLOW_FILE));

/** In the order of the text, without those that overlap. */
function chooseEdits(problems: readonly Mended[]): Mended[] {
  const chosen: Mended[] = [];
  for (const problem of [...problems].sort((one, other) => one.edit.from - other.edit.from))
    if (problem.edit.from >= (chosen.at(-1)?.edit.to ?? 0)) chosen.push(problem);
  return chosen;
}

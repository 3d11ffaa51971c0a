// Writes the certain fixes of lint into flow files and their test files. Only the text named by a fix changes, and a file that another
// program changed in the meantime is left alone.

import { basename, join } from 'node:path';
import { readFlowFiles } from '../../lib/flow/format/load.ts';
import { FLOW_FILE } from '../../lib/flow/format/parse.ts';
import type { Problem, TextEdit } from '../../lib/flow/format/problem.ts';
import { FLOW_TEST_FILE } from '../../lib/flow/testing/file.ts';
import { type EditedFlow, FLOW_NAME, flowFiles } from './files.ts';
import { cutFlowName, type MenuFolder, readMenus, readTestProblems } from './menus.ts';

type FixedProblem = Problem & { readonly edit: TextEdit };

/**
 * Fixes the flows of a folder and their tests, or one flow of it, in one pass. Fixes that overlap wait for the next call. Returns one
 * line for each fix, and for each file that was not written.
 */
export async function mendFlows(menus: MenuFolder, only?: string): Promise<string[]> {
  const files = flowFiles(menus.folder);
  const texts = new Map<string, EditedFlow>();
  for (const path of (await readFlowFiles(menus.folder)).keys())
    if (FLOW_NAME.test(basename(path, FLOW_FILE)) && (only === undefined || only === path))
      texts.set(path, (await files.read(cutFlowName(path))).published);
  // Checked after the reading: an edit in between then fails the comparison of hashes in `write`.
  const problems = [...(await readMenus(menus)).problems, ...(await readTestProblems(menus, [...texts.keys()]))];
  const lines: string[] = [];
  for (const [path, text] of texts) {
    const name = cutFlowName(path);
    const changes = PARTS.flatMap(([part, ending]) => {
      const file = join(menus.folder, name + ending);
      const edits = chooseEdits(
        problems.filter((one): one is FixedProblem => one.file === file && one.edit !== undefined),
      );
      return edits.length ? [{ part, ...mendText(text[part].text, edits), base: text[part].hash }] : [];
    });
    if (!changes.length) continue;
    const result = await files.write(name, Object.fromEntries(changes.map(({ part, ...change }) => [part, change])));
    if (result.kind === 'conflict') lines.push(`${path}: changed in the meantime; not written`);
    else lines.push(...changes.flatMap((change) => change.lines));
  }
  return lines;
}

const PARTS = [
  ['flow', FLOW_FILE],
  ['tests', FLOW_TEST_FILE],
] as const;

/** The text after the edits, and a line for each of them. */
function mendText(text: string, edits: readonly FixedProblem[]): { readonly text: string; readonly lines: string[] } {
  // Offsets do not count a byte order mark.
  const mark = text.startsWith('\ufeff') ? 1 : 0;
  const lines = edits.map(({ file, line, column, code, edit: { from, to, insert } }) => {
    const old = text.slice(mark + from, mark + to);
    return `${file}:${line}:${column} mended ${code}: ${old} → ${insert}`;
  });
  const fixedText = edits.reduceRight(
    (now, { edit }) => now.slice(0, mark + edit.from) + edit.insert + now.slice(mark + edit.to),
    text,
  );
  return { text: fixedText, lines };
}

/** The edits in the order of the text, without those that overlap an earlier one. */
function chooseEdits(problems: readonly FixedProblem[]): FixedProblem[] {
  const chosen: FixedProblem[] = [];
  for (const problem of [...problems].sort((one, other) => one.edit.from - other.edit.from))
    if (problem.edit.from >= (chosen.at(-1)?.edit.to ?? 0)) chosen.push(problem);
  return chosen;
}

// Writes the fixes of lint that are certain into the files of flows: only what the fix names changes, and a file that another program
// has written meanwhile is left alone.

import { basename } from 'node:path';
import { FLOW_FILE } from '../../lib/flow/format/parse.ts';
import type { Problem, TextEdit } from '../../lib/flow/format/problem.ts';
import { flowFiles } from './files.ts';
import { cutFlowName, type MenuFolder, readMenus } from './menus.ts';

/** A fix may show what another mistake has hidden. */
const ROUNDS = 10;

type Mended = Problem & { readonly edit: TextEdit };

/** Mends the flows of a folder, or one file of it; what was done, one line for each fix, and for each file that was not written. */
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
      before.files.filter(isNamed).map(async (file) => [file, await files.read(cutFlowName(file))] as const),
    ),
  );
  const { problems } = await readMenus(folder);
  const lines: string[] = [];
  let written = 0;
  for (const [file, { flow }] of texts) {
    if (only !== undefined && only !== file) continue;
    const edits = chooseEdits(problems.filter((one): one is Mended => one.file === file && one.edit !== undefined));
    if (!edits.length) continue;
    // The places are counted without it.
    const mark = flow.text.startsWith('\ufeff') ? 1 : 0;
    const text = edits.reduceRight(
      (now, { edit }) => now.slice(0, mark + edit.from) + edit.insert + now.slice(mark + edit.to),
      flow.text,
    );
    const result = await files.write(cutFlowName(file), { flow: { text, base: flow.hash } });
    if (result.kind === 'conflict') lines.push(`${file}: changed meanwhile, and left as it is`);
    else {
      written++;
      for (const { line, column, code, edit } of edits)
        lines.push(
          `${file}:${line}:${column} mended ${code}: ${flow.text.slice(mark + edit.from, mark + edit.to)} → ${edit.insert}`,
        );
    }
  }
  return { lines, written };
}

// Others are left alone: what they are called becomes a path.
const isNamed = (file: string) => /^[A-Za-z][A-Za-z0-9_-]{0,63}$/.test(basename(file, FLOW_FILE));

/** In the order of the text, without those that overlap. */
function chooseEdits(problems: readonly Mended[]): Mended[] {
  const chosen: Mended[] = [];
  for (const problem of [...problems].sort((one, other) => one.edit.from - other.edit.from))
    if (problem.edit.from >= (chosen.at(-1)?.edit.to ?? 0)) chosen.push(problem);
  return chosen;
}

// `twinline convert`: converts flows of RapidPro and TextIt, and reports what has no equivalent.

import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import pc from 'picocolors';
import { TwinlineError } from '../../../lib/errors.ts';
import { convertFlows, isNothing } from '../../../lib/flow/convert/convert.ts';
import { type ReportEntry, reportLine } from '../../../lib/flow/convert/report.ts';
import { FILE_BYTES_MAX } from '../../../lib/flow/convert/source.ts';
import { FLOW_FILE } from '../../../lib/flow/format/parse.ts';
import { formatFile } from '../../../lib/flow/format/write.ts';
import type { Json } from '../../../lib/json/json.ts';
import { CONTRACTS } from '../../menus/contracts.ts';
import { readErrorCode } from '../remote.ts';
import { writeOutput } from '../terminal.ts';
import { findMenusDir, UsageError, type Verb } from '../verb.ts';

const OPTIONS = {
  out: { type: 'string' },
  report: { type: 'string' },
  force: { type: 'boolean' },
} as const;

export const convertVerb: Verb = {
  usage: '<export.json> [options]',
  options: {
    '--out <folder>': 'the folder of the flows, default MENUS_DIR, else ./menus',
    '--report <file>': 'what has no counterpart, as JSON; it is printed in any case',
    '--force': 'write over files that are there',
  },
  run: async (args, env) => {
    const { values, positionals } = parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
    const [file, ...more] = positionals;
    if (file === undefined || more.length) throw new UsageError('Give one file that RapidPro or TextIt exported.');
    const { out = findMenusDir(env), report, force = false } = values;
    const converted = convertFlows(readText(file), { file, contracts: CONTRACTS });
    const tell = () => {
      console.error(pc.dim(`Read as ${converted.form}.`));
      tellReport(converted.report, report);
    };
    if (isNothing(converted)) {
      tell();
      console.error(pc.red(`Nothing was written: no screen of ${file} says anything.`));
      return 1;
    }
    const files = converted.flows.map((flow) => ({
      path: join(out, flow.flow + FLOW_FILE),
      text: formatFile(flow as unknown as Json),
    }));
    writeFiles(files, force);
    for (const { path } of files) console.log(path);
    tell();
    return 0;
  },
};

function readText(file: string): string {
  try {
    if (statSync(file).size > FILE_BYTES_MAX)
      throw new TwinlineError(
        'ERR_INPUT',
        `Cannot convert ${file}: it has more than ${FILE_BYTES_MAX} bytes. Export fewer flows at once.`,
      );
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof TwinlineError) throw error;
    throw new UsageError(`Cannot read ${file} (${readErrorCode(error)}).`);
  }
}

interface OutputFile {
  readonly path: string;
  readonly text: string;
}

function writeFiles(files: readonly OutputFile[], force: boolean): void {
  const there = force ? [] : files.filter(({ path }) => existsSync(path));
  if (there.length)
    throw new TwinlineError(
      'ERR_INPUT',
      `Nothing was written: ${there.map(({ path }) => path).join(', ')} is there already. Give another --out, or --force.`,
    );
  for (const { path, text } of files) writeOutput(path, text);
}

function tellReport(report: readonly ReportEntry[], file: string | undefined): void {
  for (const entry of report) console.error(pc.yellow(reportLine(entry)));
  console.error(report.length ? `${report.length} things have no counterpart.` : 'Everything has a counterpart.');
  if (file !== undefined) writeOutput(file, `${JSON.stringify(report, null, 2)}\n`);
}

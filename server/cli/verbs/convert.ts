// `twinline convert`: menus of other programs as flows, and flows as a container of FLOIP; what has no counterpart is reported.

import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import pc from 'picocolors';
import { TwinlineError } from '../../../lib/errors.ts';
import { convertFlows, isNothing, SOURCES, type SourceFormat } from '../../../lib/flow/convert/convert.ts';
import { writeContainer } from '../../../lib/flow/convert/floip/writing/container.ts';
import { type ReportEntry, reportLine } from '../../../lib/flow/convert/report.ts';
import { FILE_BYTES_MAX } from '../../../lib/flow/convert/source.ts';
import { suggest } from '../../../lib/flow/expression/suggest.ts';
import type { Flow } from '../../../lib/flow/format/flow.ts';
import { loadFlows } from '../../../lib/flow/format/load.ts';
import { FLOW_FILE } from '../../../lib/flow/format/parse.ts';
import { problemLine } from '../../../lib/flow/format/problem.ts';
import { FLOW_TEST_FILE } from '../../../lib/flow/testing/file.ts';
import { formatFile, writeFlowTests } from '../../../lib/flow/testing/update.ts';
import type { Json } from '../../../lib/json/json.ts';
import { CONTRACTS } from '../../menus/contracts.ts';
import { cutFlowName } from '../../menus/menus.ts';
import { readErrorCode } from '../remote.ts';
import { writeOutput } from '../terminal.ts';
import { findMenusDir, UsageError, type Verb } from '../verb.ts';

const OPTIONS = {
  from: { type: 'string' },
  to: { type: 'string' },
  out: { type: 'string' },
  report: { type: 'string' },
  sessions: { type: 'string' },
  force: { type: 'boolean' },
} as const;

export const convertVerb: Verb = {
  usage: '--from floip|rapidpro <file> [options], or --to floip <flow.json> [options]',
  options: {
    '--from <format>': `${SOURCES.join(' or ')} (TextIt, too): makes flow files of a file`,
    '--to <format>': 'floip: makes a container of a flow and of those that it calls',
    '--out <place>':
      'the folder of the flows, default MENUS_DIR, else ./menus; the file of a container, default standard output',
    '--sessions <file>': 'contexts of FLOIP, sessions of RapidPro or tests of goflow: makes tests of them',
    '--report <file>': 'what has no counterpart, as JSON; it is printed in any case',
    '--force': 'write over files that are there',
  },
  run: async (args, env) => {
    const { values, positionals } = parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
    const [file, ...more] = positionals;
    if (file === undefined || more.length) throw new UsageError('Give one file.');
    if ((values.from === undefined) === (values.to === undefined)) throw new UsageError('Give either --from or --to.');
    if (values.to !== undefined) {
      if (values.to !== 'floip') throw new UsageError(`There is no format "${values.to}" to write. There is: floip.`);
      return convertTo({ ...values, file });
    }
    const from = SOURCES.find((source) => source === values.from);
    if (!from)
      throw new UsageError(
        `There is no format "${values.from}".${suggest(values.from ?? '', SOURCES)} There are: ${SOURCES.join(', ')}.`,
      );
    return convertFrom(from, { ...values, file, out: values.out ?? findMenusDir(env) });
  },
};

interface ConvertArguments {
  readonly file: string;
  readonly out: string;
  readonly report?: string | undefined;
  readonly force?: boolean | undefined;
  readonly sessions?: string | undefined;
}

async function convertFrom(
  from: SourceFormat,
  { file, out, report, force, sessions }: ConvertArguments,
): Promise<number> {
  const given = sessions === undefined ? undefined : { file: sessions, text: readText(sessions) };
  const converted = await convertFlows(readText(file), { file, from, contracts: CONTRACTS, sessions: given });
  const files = [
    ...converted.flows.map((flow) => ({ name: flow.flow + FLOW_FILE, text: formatFile(flow as unknown as Json) })),
    ...converted.tests.map((tests) => ({ name: tests.flow + FLOW_TEST_FILE, text: writeFlowTests(tests) })),
  ].map(({ name, text }) => ({ path: join(out, name), text }));
  const tellForm = () => console.error(pc.dim(`Read as ${converted.form}.`));
  if (isNothing(converted)) {
    tellForm();
    tellReport(converted.report, report);
    console.error(pc.red(`Nothing was written: no screen of ${file} says anything.`));
    return 1;
  }
  writeFiles(files, force ?? false);
  tellForm();
  for (const { path } of files) console.log(path);
  tellReport(converted.report, report);
  return 0;
}

async function convertTo({
  file,
  out,
  report,
  force,
}: Omit<ConvertArguments, 'out'> & { readonly out?: string | undefined }): Promise<number> {
  if (!file.endsWith(FLOW_FILE)) throw new UsageError(`Give a flow: a file whose name ends in ${FLOW_FILE}.`);
  const stats = statSync(file, { throwIfNoEntry: false });
  if (!stats) throw new UsageError(`There is no ${file}.`);
  const { flows, problems } = await loadFlows(dirname(resolve(file)), { contracts: CONTRACTS });
  const flow = flows.get(cutFlowName(file));
  const own = problems.filter(
    (problem) => cutFlowName(problem.file) === cutFlowName(file) && problem.severity === 'error',
  );
  if (!flow) {
    for (const problem of own) console.error(pc.red(problemLine(problem)));
    return 1;
  }
  const written = writeContainer(listCalled(flow, flows), { modified: stats.mtime });
  const text = `${JSON.stringify(written.container, null, 2)}\n`;
  if (out === undefined || out === '-') console.log(text.trimEnd());
  else {
    writeFiles([{ path: out, text }], force ?? false);
    console.log(out);
  }
  tellReport(written.report, report);
  return 0;
}

/** A flow, and those that it calls, directly or through others. */
function listCalled(first: Flow, flows: ReadonlyMap<string, Flow>): Flow[] {
  const found = new Set([first]);
  for (const flow of found)
    for (const screen of Object.values(flow.screens)) {
      const called = screen.type === 'flow' ? flows.get(screen.flow) : undefined;
      if (called) found.add(called);
    }
  return [...found];
}

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

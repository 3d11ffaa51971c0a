// `twinline lint`: reports problems in menus and their tests with line, column and fix, as text, JSON, or SARIF 2.1.0 for code hosts and
// editors.

import { statSync } from 'node:fs';
import { dirname, isAbsolute, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import pc from 'picocolors';
import { type Problem, problemLine } from '../../../lib/flow/format/problem.ts';
import { PROBLEM_CODES } from '../../../lib/flow/lint/lint.ts';
import type { LintRule } from '../../../lib/flow/lint/rule.ts';
import { readVersion } from '../../config/modules.ts';
import { lintRulesFrom } from '../../menus/lint-rules.ts';
import { mendFlows } from '../../menus/mend.ts';
import { readDoors, readMenus, readTestProblems } from '../../menus/menus.ts';
import { servicesFrom } from '../../menus/services.ts';
import { formatCount } from '../terminal.ts';
import { findMenusDir, UsageError, type Verb } from '../verb.ts';

const OPTIONS = {
  json: { type: 'boolean' },
  sarif: { type: 'boolean' },
  codes: { type: 'boolean' },
  fix: { type: 'boolean' },
} as const;
const CODE_COLUMN = 22;

export const lintVerb: Verb = {
  usage: '[folder or file] [options]',
  options: {
    '--json': 'the problems as JSON',
    '--sarif': 'the problems as SARIF 2.1.0, for code hosts and editors',
    '--fix': 'write the fixes that are certain into the files, and say which',
    '--codes': 'every code and what it means, and nothing else',
    '(default)': 'the folder MENUS_DIR, else ./menus',
  },
  run: async (args, env) => {
    const { values, positionals } = parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
    if (values.codes)
      return printLines(
        [...PROBLEM_CODES, ...(await lintRulesFrom(env)).map(({ code, means }) => [code, means] as const)].map(
          ([code, means]) => `${code.padEnd(CODE_COLUMN)} ${means}`,
        ),
      );
    if (values.json && values.sarif) throw new UsageError('Choose --json or --sarif.');
    const { folder, file } = readPlace(positionals, env);
    const known = await servicesFrom(env);
    const rules = await lintRulesFrom(env);
    const place = { folder, ...known, rules, doors: readDoors(env, folder) };
    if (values.fix) for (const line of await mendFlows(place, file)) console.error(pc.green(line));
    const { failures, ...menus } = await readMenus(place);
    const isMeant = (other: string) => file === undefined || other === file;
    const tests = await readTestProblems(place, menus.files.filter(isMeant));
    const problems = [...menus.problems.filter((problem) => isMeant(problem.file)), ...tests];
    const form = values.json ? 'json' : values.sarif ? 'sarif' : 'words';
    const flows = file === undefined ? menus.files.length : 1;
    printLines(FORMS[form]({ problems, failures, flows, rules }));
    for (const failure of failures) console.error(pc.red(failure));
    return failures.length || problems.some(isError) ? 1 : 0;
  },
};

interface LintResult {
  readonly problems: readonly Problem[];
  readonly failures: readonly string[];
  /** Number of flows checked. */
  readonly flows: number;
  /** Additional rules. */
  readonly rules: readonly LintRule[];
}

const FORMS: { readonly [form in 'words' | 'json' | 'sarif']: (result: LintResult) => string[] } = {
  words: ({ problems, failures, flows }) => {
    const errors = problems.filter(isError).length + failures.length;
    const warnings = problems.length + failures.length - errors;
    return [
      ...problems.map(colorProblem),
      `${formatCount(flows, 'flow')}, ${formatCount(errors, 'error')}, ${formatCount(warnings, 'warning')}`,
    ];
  },
  json: ({ problems }) => [JSON.stringify(problems, null, 2)],
  sarif: ({ problems, failures, rules }) => [
    JSON.stringify(formatSarif(problems, { version: readVersion(), folder: process.cwd(), failures, rules }), null, 2),
  ],
};

function printLines(lines: readonly string[]): 0 {
  for (const line of lines) console.log(line);
  return 0;
}

const isError = ({ severity }: Problem) => severity === 'error';

/** The folder in the arguments, and the single file to report if they name one. Throws {@link UsageError}. */
export function readPlace(positionals: readonly string[], env: NodeJS.ProcessEnv): { folder: string; file?: string } {
  if (positionals.length > 1) throw new UsageError('Only one folder or file can be given.');
  const place = positionals[0] ?? findMenusDir(env);
  const stats = statSync(place, { throwIfNoEntry: false });
  if (!stats) throw new UsageError(`There is no ${place}.`);
  if (stats.isDirectory()) return { folder: place };
  const name = place.replace(/\.test\.json$/, '.flow.json');
  return { folder: dirname(resolve(name)), file: resolve(name) };
}

function colorProblem(problem: Problem): string {
  const line = problemLine(problem);
  return problem.severity === 'error' ? pc.red(line) : pc.yellow(line);
}

export interface SarifOptions {
  readonly version: string;
  /** Paths inside this folder are relative to it. */
  readonly folder: string;
  /** Errors without a location in a file. */
  readonly failures: readonly string[];
  /** Additional rules. @default none */
  readonly rules?: readonly LintRule[];
}

const SCHEMA = 'https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json';
const ROOT_ID = '%SRCROOT%';

/** The result of a lint run as a SARIF log. */
export function formatSarif(
  problems: readonly Problem[],
  { version, folder, failures, rules = [] }: SarifOptions,
): object {
  const meanings = new Map([...PROBLEM_CODES, ...rules.map(({ code, means }) => [code, means] as const)]);
  const codes = [...meanings.keys()];
  const driver = {
    name: 'twinline',
    semanticVersion: version,
    rules: codes.map((id) => ({ id, shortDescription: { text: meanings.get(id)! } })),
  };
  const notes = failures.map((text) => ({ level: 'error', message: { text } }));
  const run = {
    tool: { driver },
    columnKind: 'utf16CodeUnits',
    originalUriBaseIds: { [ROOT_ID]: { uri: `${pathToFileURL(folder).href}/` } },
    invocations: [{ executionSuccessful: true, ...(notes.length && { toolExecutionNotifications: notes }) }],
    results: problems.map((problem) => sarifResult(problem, { codes, folder })),
  };
  return { $schema: SCHEMA, version: '2.1.0', runs: [run] };
}

function sarifResult(problem: Problem, { codes, folder }: { codes: readonly string[]; folder: string }): object {
  const { file, line, column, pointer, code, severity, message, fix, edit } = problem;
  const artifactLocation = sarifArtifact(file, folder);
  const change = edit && {
    deletedRegion: { charOffset: edit.from, charLength: edit.to - edit.from },
    insertedContent: { text: edit.insert },
  };
  const fixes = change && [
    { description: { text: fix }, artifactChanges: [{ artifactLocation, replacements: [change] }] },
  ];
  return {
    ruleId: code,
    ruleIndex: codes.indexOf(code),
    level: severity,
    message: { text: `${message} Fix: ${fix}` },
    locations: [
      {
        physicalLocation: {
          artifactLocation,
          region: { startLine: line, startColumn: column },
        },
        logicalLocations: [{ fullyQualifiedName: pointer || '/' }],
      },
    ],
    ...(fixes && { fixes }),
  };
}

function sarifArtifact(file: string, folder: string): object {
  const path = relative(folder, file);
  if (path.startsWith('..') || isAbsolute(path)) return { uri: pathToFileURL(file).href };
  return { uri: path.split(/[\\/]/).map(encodeURIComponent).join('/'), uriBaseId: ROOT_ID };
}

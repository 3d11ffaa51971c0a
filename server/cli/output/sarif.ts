// The problems of flows as SARIF 2.1.0, which code hosts and editors show beside the lines they are about.

import { isAbsolute, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { PROBLEM_CODES, type Problem } from '../../../lib/flow/format/problem.ts';

export interface SarifOptions {
  readonly version: string;
  /** Paths in it are told from here, where they can be. */
  readonly folder: string;
  /** What went wrong in no line of a file. */
  readonly failures: readonly string[];
}

const SCHEMA = 'https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json';
const ROOT_ID = '%SRCROOT%';

/** One run of lint as a SARIF log. */
export function sarifOf(problems: readonly Problem[], { version, folder, failures }: SarifOptions): object {
  const codes = [...PROBLEM_CODES.keys()];
  const driver = {
    name: 'twinline',
    semanticVersion: version,
    rules: codes.map((id) => ({ id, shortDescription: { text: PROBLEM_CODES.get(id)! } })),
  };
  const notes = failures.map((text) => ({ level: 'error', message: { text } }));
  const run = {
    tool: { driver },
    columnKind: 'utf16CodeUnits',
    originalUriBaseIds: { [ROOT_ID]: { uri: `${pathToFileURL(folder).href}/` } },
    invocations: [{ executionSuccessful: true, ...(notes.length && { toolExecutionNotifications: notes }) }],
    results: problems.map((problem) => resultOf(problem, { codes, folder })),
  };
  return { $schema: SCHEMA, version: '2.1.0', runs: [run] };
}

function resultOf(problem: Problem, { codes, folder }: { codes: readonly string[]; folder: string }): object {
  const { file, line, column, pointer, code, severity, message, fix } = problem;
  return {
    ruleId: code,
    ruleIndex: codes.indexOf(code),
    level: severity,
    message: { text: `${message} Fix: ${fix}` },
    locations: [
      {
        physicalLocation: {
          artifactLocation: artifactOf(file, folder),
          region: { startLine: line, startColumn: column },
        },
        logicalLocations: [{ fullyQualifiedName: pointer || '/' }],
      },
    ],
  };
}

function artifactOf(file: string, folder: string): object {
  const path = relative(folder, file);
  if (path.startsWith('..') || isAbsolute(path)) return { uri: pathToFileURL(file).href };
  return { uri: path.split(/[\\/]/).map(encodeURIComponent).join('/'), uriBaseId: ROOT_ID };
}

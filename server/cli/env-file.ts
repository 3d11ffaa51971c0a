// `--env-file <file>`, which every verb takes: variables from a file, where the environment has none.

import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { Usage } from './verb.ts';

const FLAG = '--env-file';

export interface WithEnvFile {
  /** The arguments without it. */
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** The files that were read. */
  readonly files: readonly string[];
}

/** Reads the files that the arguments name; the first that sets a variable wins. Throws {@link Usage}. */
export function withEnvFile(args: readonly string[], env: NodeJS.ProcessEnv): WithEnvFile {
  const files: string[] = [];
  const rest: string[] = [];
  for (let at = 0; at < args.length; at++) {
    const arg = args[at]!;
    if (arg.startsWith(`${FLAG}=`)) files.push(arg.slice(FLAG.length + 1));
    else if (arg === FLAG) files.push(args[++at] ?? '');
    else rest.push(arg);
  }
  const read = files.map((file) => variablesOf(file));
  return { args: rest, env: Object.assign({}, ...read.reverse(), env) as NodeJS.ProcessEnv, files };
}

function variablesOf(file: string): NodeJS.Dict<string> {
  try {
    return parseEnv(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new Usage(`Cannot read the environment file "${file}" (${(error as NodeJS.ErrnoException).code}).`);
  }
}

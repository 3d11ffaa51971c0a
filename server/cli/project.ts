// A new project from a template: its files with their names filled in, in a folder that has none yet.

import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { TwinlineError } from '../../lib/errors.ts';
import { versionOf } from '../config/version.ts';

export interface Project {
  readonly template: string;
  readonly folder: string;
  /** As npm allows it. */
  readonly name: string;
}

// npm does not publish files of these names.
const NAMES = [
  ['gitignore', '.gitignore'],
  ['env.example', '.env.example'],
] as const;
/** The files in which `{{name}}` and `{{version}}` stand for what they say. */
const FILLED = ['package.json', 'README.md'];

/** Names of the templates, with what each one is. */
export const TEMPLATES = {
  ussd: 'a telephone menu that asks a service of its own',
  agent: 'an agent that answers chats by a flow, or by a model',
  registry: 'digital twins, their protocols and their votes',
  gateway: 'JSON over HTTP in front of a gRPC node',
} as const;

/** Writes the project; its paths, sorted. Throws ERR_INPUT for a folder in which there is something. */
export function makeProject({ template, folder, name }: Project): string[] {
  if (existsSync(folder) && readdirSync(folder).length)
    throw new TwinlineError('ERR_INPUT', `Cannot begin in ${folder}: there is something in it. Name another folder.`);
  mkdirSync(folder, { recursive: true });
  const source = fileURLToPath(new URL('.', import.meta.resolve(`#templates/${template}/package.json`)));
  cpSync(source, folder, { recursive: true });
  for (const [stored, meant] of NAMES) renameSync(join(folder, stored), join(folder, meant));
  cpSync(join(folder, '.env.example'), join(folder, '.env'));
  for (const file of FILLED) {
    const text = readFileSync(join(folder, file), 'utf8');
    writeFileSync(join(folder, file), text.replaceAll('{{name}}', name).replaceAll('{{version}}', versionOf()));
  }
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

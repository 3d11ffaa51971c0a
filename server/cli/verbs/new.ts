// `twinline new`: a project from a template that runs and is tested: its files with their names filled in, in a folder that has none yet.

import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { basename, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { TwinlineError } from '../../../lib/errors.ts';
import { suggest } from '../../../lib/flow/expression/suggest.ts';
import { packageFolder, readVersion } from '../../config/modules.ts';
import { dependencyOn } from '../installed-from.ts';
import { UsageError, type Verb } from '../verb.ts';

const PACKAGE_NAME = /^[a-z0-9][a-z0-9._-]{0,127}$/;

export interface Project {
  readonly template: string;
  readonly folder: string;
  /** As npm allows it. */
  readonly name: string;
  /** What it installs as Twinline: a version, or `file:` with a path. */
  readonly twinline: string;
}

/** In the place of a template: what all of them have. */
const EVERY = 'every';

// npm does not publish files of these names.
const NAMES = [
  ['gitignore', '.gitignore'],
  ['dockerignore', '.dockerignore'],
  ['env.example', '.env.example'],
] as const;
/** The files in which `{{name}}` and `{{twinline}}` stand for what they say. */
const FILLED = ['package.json', 'README.md'];

/** Names of the templates, with what each one is. */
export const TEMPLATES = {
  ussd: 'a telephone menu that asks a service of its own',
  agent: 'an agent that answers chats by a flow, or by a model',
  registry: 'digital twins, their protocols and their votes',
  gateway: 'JSON over HTTP in front of a gRPC node',
} as const;

export const newVerb: Verb = {
  usage: '<template> [folder] [options]',
  options: {
    ...Object.fromEntries(Object.entries(TEMPLATES).map(([name, words]) => [name, words])),
    '--name <name>': 'of its package; default the name of the folder',
    '--twinline <from>': 'what package.json installs as Twinline; default from where this one was installed',
    '(default)': 'a folder named as the template; one with something in it is refused',
  },
  run: async (args) => {
    const options = { name: { type: 'string' }, twinline: { type: 'string' } } as const;
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    const [template = '', place = template, ...more] = positionals;
    if (more.length) throw new UsageError('Give a template and a folder.');
    const known = Object.keys(TEMPLATES);
    if (!known.includes(template))
      throw new UsageError(
        template === '' ? 'Name a template.' : `No template "${template}".${suggest(template, known)}`,
      );
    const folder = resolve(place);
    const name = values.name ?? basename(folder).toLowerCase();
    if (!PACKAGE_NAME.test(name))
      throw new UsageError(`"${name}" is no name of a package: give one with --name, such as my-menus.`);
    const twinline = values.twinline ?? findTwinline(folder);
    for (const file of makeProject({ template, folder, name, twinline }))
      console.log(join(place, relative(folder, file)));
    if (twinline.startsWith('file:')) console.log(`\nIt installs Twinline from ${twinline}`);
    console.log(`\nNext: cd ${place} && npm install && npm test && npm start`);
    return 0;
  },
};

/** Writes the project; its paths, sorted. Throws ERR_INPUT for a folder in which there is something. */
export function makeProject({ template, folder, name, twinline }: Project): string[] {
  if (existsSync(folder) && readdirSync(folder).length)
    throw new TwinlineError('ERR_INPUT', `Cannot begin in ${folder}: there is something in it. Name another folder.`);
  mkdirSync(folder, { recursive: true });
  for (const part of [EVERY, template])
    cpSync(fileURLToPath(new URL('.', import.meta.resolve(`#templates/${part}/_`))), folder, { recursive: true });
  for (const [stored, meant] of NAMES) renameSync(join(folder, stored), join(folder, meant));
  cpSync(join(folder, '.env.example'), join(folder, '.env'));
  for (const file of FILLED) {
    const text = readFileSync(join(folder, file), 'utf8');
    writeFileSync(join(folder, file), text.replaceAll('{{name}}', name).replaceAll('{{twinline}}', twinline));
  }
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

function findTwinline(project: string): string {
  const [version, folder] = [readVersion(), packageFolder()];
  return folder === undefined ? version : dependencyOn({ folder: realpathSync(folder), version }, project);
}

// `twinline new`: creates a project from a tested template in an empty folder.

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
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { TwinlineError } from '../../../lib/errors.ts';
import { suggest } from '../../../lib/flow/expression/suggest.ts';
import { packageFolder, readVersion } from '../../config/modules.ts';
import { UsageError, type Verb } from '../verb.ts';

const PACKAGE_NAME = /^[a-z0-9][a-z0-9._-]{0,127}$/;

export interface Project {
  readonly template: TemplateName;
  readonly folder: string;
  /** A valid npm package name. */
  readonly name: string;
  /** The version of Twinline to install, or `file:` with a path. */
  readonly twinline: string;
}

type TemplateKind = 'server' | 'package';

/** Folders with files shared by several templates. */
const SHARED: { readonly [kind in TemplateKind]: readonly string[] } = {
  server: ['every', 'served'],
  package: ['every'],
};
const NEXT: { readonly [kind in TemplateKind]: string } = {
  server: 'npm install && npm test && npm start',
  package: 'npm install && npm test',
};

// npm does not publish files with the first names, and package checkers would treat a nested package.json as part of the package.
const NAMES = [
  ['gitignore', '.gitignore'],
  ['dockerignore', '.dockerignore'],
  ['env.example', '.env.example'],
  ['manifest.json', 'package.json'],
] as const;
/** Files with the placeholders `{{name}}` and `{{twinline}}`. */
const FILLED = ['package.json', 'README.md'];

/** Names of the templates: a server, or packages for servers. */
export const TEMPLATES = {
  ussd: { kind: 'server', about: 'a telephone menu that asks a service of its own' },
  agent: { kind: 'server', about: 'an agent that answers chats by a flow, or by a model' },
  registry: { kind: 'server', about: 'digital twins, their protocols and their votes' },
  gateway: { kind: 'server', about: 'JSON over HTTP in front of a gRPC node' },
  adapter: { kind: 'package', about: 'a telecom dialect, with a recorded dialogue that it is held to' },
  store: { kind: 'package', about: 'a store of sessions, held to every promise of one' },
  plugin: { kind: 'package', about: 'routes, tools and documents for the agent service' },
  responder: { kind: 'package', about: 'what answers chats in the place of a model or a flow' },
  'lint-rule': { kind: 'package', about: 'a rule of yours for menus' },
} as const satisfies { readonly [name: string]: { readonly kind: TemplateKind; readonly about: string } };

export type TemplateName = keyof typeof TEMPLATES;

export const newVerb: Verb = {
  usage: '<template> [folder] [options]',
  options: {
    ...Object.fromEntries(Object.entries(TEMPLATES).map(([name, { about }]) => [name, about])),
    '--name <name>': 'of its package; default the name of the folder',
    '--twinline <from>': 'what package.json installs as Twinline; default from where this one was installed',
    '(default)': 'a folder named as the template; one with something in it is refused',
  },
  run: async (args) => {
    const options = { name: { type: 'string' }, twinline: { type: 'string' } } as const;
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    const [template = '', place = template, ...more] = positionals;
    if (more.length) throw new UsageError('Give a template and a folder.');
    const names = Object.keys(TEMPLATES);
    if (!isTemplate(template))
      throw new UsageError(
        template === '' ? 'Name a template.' : `No template "${template}".${suggest(template, names)}`,
      );
    const folder = resolve(place);
    const name = values.name ?? basename(folder).toLowerCase();
    if (!PACKAGE_NAME.test(name))
      throw new UsageError(`"${name}" is no name of a package: give one with --name, such as my-menus.`);
    const twinline = values.twinline ?? findTwinline(folder);
    for (const file of makeProject({ template, folder, name, twinline }))
      console.log(join(place, relative(folder, file)));
    if (twinline.startsWith('file:')) console.log(`\nIt installs Twinline from ${twinline}`);
    console.log(`\nNext: cd ${place} && ${NEXT[TEMPLATES[template].kind]}`);
    return 0;
  },
};

/** Writes the project and returns its paths, sorted. Throws ERR_INPUT if the folder is not empty. */
export function makeProject({ template, folder, name, twinline }: Project): string[] {
  if (existsSync(folder) && readdirSync(folder).length)
    throw new TwinlineError('ERR_INPUT', `Cannot begin in ${folder}: there is something in it. Name another folder.`);
  mkdirSync(folder, { recursive: true });
  for (const part of [...SHARED[TEMPLATES[template].kind], template])
    cpSync(fileURLToPath(new URL('.', import.meta.resolve(`#templates/${part}/_`))), folder, { recursive: true });
  for (const [stored, meant] of NAMES.filter(([stored]) => existsSync(join(folder, stored))))
    renameSync(join(folder, stored), join(folder, meant));
  if (existsSync(join(folder, '.env.example'))) cpSync(join(folder, '.env.example'), join(folder, '.env'));
  for (const file of FILLED) {
    const text = readFileSync(join(folder, file), 'utf8');
    writeFileSync(join(folder, file), text.replaceAll('{{name}}', name).replaceAll('{{twinline}}', twinline));
  }
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

function isTemplate(name: string): name is TemplateName {
  return Object.hasOwn(TEMPLATES, name);
}

function findTwinline(project: string): string {
  const [version, folder] = [readVersion(), packageFolder()];
  return folder === undefined ? version : dependencyOn({ folder: realpathSync(folder), version }, project);
}

/** The hidden lock file of local installs; global ones have none. */
const RECORD = '.package-lock.json';
/** URLs of registry tarballs; other URLs do not correspond to a version. */
const OF_REGISTRY = /^https?:.*\/-\/[^/]+\.tgz$/;

interface InstalledPackage {
  /** Its folder, with symlinks resolved. */
  readonly folder: string;
  readonly version: string;
}

/**
 * For the `dependencies` of a project in `project`: the version of what came from a registry, or whose origin nobody
 * has written down; else the path to the tarball or to the linked checkout, or the URL.
 */
export function dependencyOn({ folder, version }: InstalledPackage, project: string): string {
  const modules = dirname(folder);
  if (basename(modules) !== 'node_modules') return filePath(project, folder);
  const from = readOrigin(modules, basename(folder));
  if (from === undefined || OF_REGISTRY.test(from)) return version;
  if (!from.startsWith('file:')) return from;
  const place = resolve(dirname(modules), from.slice('file:'.length));
  return existsSync(place) ? filePath(project, place) : version;
}

// npm expects slashes on every system, and resolves symlinks.
const filePath = (from: string, to: string) => `file:${relative(withoutLinks(from), to).split(sep).join('/')}`;

/** Also for a folder that does not exist yet. */
function withoutLinks(folder: string): string {
  return existsSync(folder) ? realpathSync(folder) : join(withoutLinks(dirname(folder)), basename(folder));
}

interface Installed {
  readonly packages?: { readonly [path: string]: { readonly resolved?: string } | undefined };
}

function readOrigin(modules: string, name: string): string | undefined {
  const file = join(modules, RECORD);
  if (!existsSync(file)) return undefined;
  return (JSON.parse(readFileSync(file, 'utf8')) as Installed).packages?.[`node_modules/${name}`]?.resolved;
}

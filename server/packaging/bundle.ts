// The modules of a build joined into few files. Node takes about half a millisecond of processor time to find, read, compile and
// link each file: joined, `import 'twinline'` costs half of what it did, and the start of a server two thirds.

import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { type GetModuleInfo, type OutputChunk, type RollupBuild, rollup } from 'rollup';

/** What leads into a package: paths of its package.json such as `./dist/lib/index.js`, some by condition. */
export interface Entries {
  readonly exports: Readonly<Record<string, string>>;
  readonly bin: Readonly<Record<string, string>>;
  readonly imports: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
}

/** Modules that are started by their path, besides the subpaths and commands of the package. */
const STARTED = ['server/main.js', 'server/packaging/is-built.js'];
/** A user of modules, as names of chunks call it → the modules that it begins with. A chunk is named after all users of its modules. */
type Groups = { readonly [chunk: string]: readonly string[] };
const COMMAND = 'server/cli/main.js';
const ENGINE = 'lib/index.js';
/** Users beside the subpaths of the library. */
const PROGRAMS: Groups = {
  lint: ['server/cli/verbs/lint.js'],
  server: ['server/index.js', 'server/boot/process.js', 'server/cli/verbs/start.js'],
};
/** A module that so many subpaths of the library share is in a chunk with others like it. */
const SHARED_BY_MANY = 4;
/** Stands for the package `xstate`. */
const XSTATE = '\0xstate';
/** A module that runs in a thread of its own, as sources name it. */
const THREAD = /new URL\(["']\.\/([\w-]+)\.ts["'], import\.meta\.url\)/g;

/**
 * Joins these scripts of a folder, given by their paths in it. Entries stay where they are, and so does what is imported
 * when it is needed; all else goes to `chunks`. Names are kept, so that a process that runs may load what another build
 * has put in its place. `import.meta.url` stays that of the source's place.
 */
export async function bundleModules(folder: string, scripts: readonly string[], entries: Entries): Promise<void> {
  const subpaths = listPaths(entries.exports);
  const there = new Set(scripts);
  const commands = [...listPaths(entries.bin), ...STARTED];
  const starts = [...subpaths, ...commands, ...findThreads(folder, scripts)].filter((path) => there.has(path));
  const bundle = await rollup({
    input: Object.fromEntries(starts.map((path) => [path.replace(/\.js$/, ''), join(folder, path)])),
    external: (id) => id !== 'xstate' && id !== XSTATE && !/^[./]/.test(id),
    treeshake: false,
    onwarn: ({ message }) => {
      throw new Error(`The build cannot be joined: ${message}`);
    },
    plugins: [
      {
        name: 'places of the sources',
        resolveImportMeta: (property, { moduleId }) =>
          property === 'url' && moduleId !== XSTATE
            ? `import.meta.resolve("#dist/${relative(folder, moduleId)}")`
            : null,
      },
      {
        name: 'XState as it is required',
        resolveId: (id) => (id === 'xstate' ? XSTATE : null),
        load: (id) => (id === XSTATE ? requireXState() : null),
      },
    ],
  });
  const chunks = await joinModules(bundle, { folder, subpaths, commands });
  await bundle.close();
  for (const path of scripts) rmSync(join(folder, path));
  for (const { fileName, code } of chunks) {
    const file = join(folder, fileName);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, code);
  }
}

// XState's module for `import` imports the one for `require`, and Node needs 5 MB and a WebAssembly program to find out what that one
// exports. Who imports XState beside Twinline gets the same module.
function requireXState(): string {
  const names = Object.keys(createRequire(import.meta.url)('xstate'));
  return `import { createRequire } from 'node:module';
const xstate = createRequire(import.meta.url)('xstate');
export const { ${names.join(', ')} } = xstate;
`;
}

/** What is joined: paths in the folder. */
interface Join {
  readonly folder: string;
  readonly subpaths: readonly string[];
  readonly commands: readonly string[];
}

async function joinModules(bundle: RollupBuild, { folder, subpaths, commands }: Join): Promise<readonly OutputChunk[]> {
  let chooseChunk: ((id: string) => string | undefined) | undefined;
  const { output } = await bundle.generate({
    format: 'es',
    generatedCode: 'es2015',
    minifyInternalExports: false,
    entryFileNames: '[name].js',
    chunkFileNames: ({ facadeModuleId, name }) =>
      facadeModuleId ? relative(folder, facadeModuleId) : `chunks/${name}.js`,
    manualChunks: (id, { getModuleInfo }) => {
      // A command awaits what it does, and what it loads for that must not wait for the command.
      if (commands.includes(relative(folder, id))) return undefined;
      chooseChunk ??= chunkChooser({ folder, subpaths, getModuleInfo });
      return chooseChunk(id);
    },
  });
  return output.filter((one): one is OutputChunk => one.type === 'chunk');
}

interface ChooserOptions extends Omit<Join, 'commands'> {
  readonly getModuleInfo: GetModuleInfo;
}

// A subpath of the library loads no package that it does not import, and neither does a program: what one of them imports of a
// subpath's modules is apart from what it does not, and what the engine shares with subpaths that need no XState is apart from it.
function chunkChooser({ folder, subpaths, getModuleInfo }: ChooserOptions): (id: string) => string | undefined {
  const reach = (starts: readonly string[]) => {
    const reached = new Set(starts.map((path) => join(folder, path)));
    for (const id of reached)
      for (const imported of getModuleInfo(id)?.importedIds ?? [])
        if (!getModuleInfo(imported)?.isExternal) reached.add(imported);
    return reached;
  };
  const reachAll = (groups: Groups) => Object.entries(groups).map(([chunk, starts]) => ({ chunk, ids: reach(starts) }));
  const [command, engine] = [reach([COMMAND]), reach([ENGINE])];
  const library = reachAll(groupLibrary(subpaths));
  const programs = reachAll(PROGRAMS);
  const withoutXState = library.filter(({ ids }) => !ids.has(XSTATE));
  return (id) => {
    if (command.has(id)) return 'command';
    const uses = ({ ids }: { readonly ids: ReadonlySet<string> }) => ids.has(id);
    if (engine.has(id)) return withoutXState.some(uses) ? 'base' : 'engine';
    const users = library.filter(uses).map(({ chunk }) => chunk);
    const names = users.length < SHARED_BY_MANY ? users : [`shared-by-${users.length}`];
    return [...names, ...programs.filter(uses).map(({ chunk }) => chunk)].join('-and-') || undefined;
  };
}

function groupLibrary(subpaths: readonly string[]): Groups {
  const own = subpaths.filter((path) => path !== ENGINE && !path.startsWith('server/'));
  return Object.fromEntries(own.map((path) => [nameChunk(path), [path]]));
}

// `lib/store/redis/index.js` → `store-redis`.
function nameChunk(path: string): string {
  return dirname(path)
    .replace(/^lib\//, '')
    .replaceAll('/', '-');
}

function listPaths(targets: Readonly<Record<string, string>>): string[] {
  return Object.values(targets).map((path) => path.replace(/^(\.\/)?dist\//, ''));
}

function findThreads(folder: string, scripts: readonly string[]): string[] {
  return scripts.flatMap((path) =>
    Array.from(readFileSync(join(folder, path), 'utf8').matchAll(THREAD), ([, name]) =>
      join(dirname(path), `${name}.js`),
    ),
  );
}

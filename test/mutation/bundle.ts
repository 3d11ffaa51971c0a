// The tests of a group with all that they import, as JavaScript: a process for each mutant must begin fast.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, type Plugin } from 'esbuild';

/** Builds into `root`, a copy of the project; gives the file to run. `tests` are paths below test/, without .test.ts. */
export async function bundleTests(root: string, tests: readonly string[]): Promise<string> {
  const outdir = join(root, 'bundle');
  const rows = tests.map((test) => `${JSON.stringify(test)}: () => import('./test/${test}.test.ts'),`);
  await build({
    stdin: {
      contents: `import { work } from './test/mutation/process.ts';\nwork({ ${rows.join('\n')} });`,
      resolveDir: root,
      loader: 'ts',
      sourcefile: 'begin.ts',
    },
    outdir,
    entryNames: 'begin',
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    packages: 'external',
    logLevel: 'error',
    plugins: [ownUvu(root), ownPlaces(root)],
  });
  return join(outdir, 'begin.mjs');
}

function ownUvu(root: string): Plugin {
  return {
    name: 'uvu',
    setup: ({ onResolve }) => onResolve({ filter: /^uvu$/ }, () => ({ path: join(root, 'test/mutation/suites.ts') })),
  };
}

// Modules that read files beside them look for them where they were.
function ownPlaces(root: string): Plugin {
  return {
    name: 'places',
    setup: ({ onLoad }) =>
      onLoad({ filter: /\.ts$/ }, async ({ path }) => {
        if (!path.startsWith(root)) return undefined;
        const text = await readFile(path, 'utf8');
        return {
          contents: text.replaceAll('import.meta.url', JSON.stringify(pathToFileURL(path).href)),
          loader: 'ts',
        };
      }),
  };
}

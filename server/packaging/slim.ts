// What a built package does without: comments in its JavaScript, which stand in the declarations, and declarations that no subpath
// leads to.

import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Comment, parse } from 'acorn';
import { transform } from 'esbuild';
import type { Entries } from './bundle.ts';
import { listOutputs } from './dist.ts';

/** Bundles of pages are as small as they can be. */
const BUNDLES = /^server\/(web\/assets|docs\/swagger)\//;
const IMPORTED = /(?:from|import\(|import) ?['"](\.[^'"]+)['"]/g;

/** Makes a folder of built files smaller. Its scripts, by their paths. */
export async function slimDist(folder: string, leads: Entries): Promise<string[]> {
  const files = listOutputs(folder);
  const scripts = files.filter((path) => path.endsWith('.js') && !BUNDLES.test(path));
  await Promise.all(scripts.map((path) => dropComments(join(folder, path))));
  const built = new Set(files);
  const reached = reachDeclarations(
    folder,
    listDeclarations(leads).filter((path) => built.has(path)),
  );
  for (const path of files) if (path.endsWith('.d.ts') && !reached.has(path)) rmSync(join(folder, path));
  return scripts;
}

/** The declarations in `dist` that package.json leads to. */
export function listDeclarations({ exports, imports }: Pick<Entries, 'exports' | 'imports'>): string[] {
  const paths = Object.values({ ...imports, ...exports }).flatMap((to) =>
    typeof to === 'string' ? to : Object.values(to),
  );
  return paths
    .flatMap((path) => /^\.\/dist\/(.+?)(?:\.js|\.d\.ts)$/.exec(path)?.[1] ?? [])
    .map((path) => `${path}.d.ts`);
}

async function dropComments(file: string): Promise<void> {
  const { code } = await transform(readFileSync(file, 'utf8'), {
    loader: 'js',
    target: 'esnext',
    legalComments: 'none',
  });
  writeFileSync(file, cutComments(code));
}

// The bundler leaves those of members. The first line of a command is no comment, though acorn calls it one.
function cutComments(code: string): string {
  const comments: Comment[] = [];
  parse(code, { ecmaVersion: 'latest', sourceType: 'module', allowHashBang: true, onComment: comments });
  let kept = '';
  let at = 0;
  for (const { start, end } of comments.filter(({ start }) => !code.startsWith('#!', start))) {
    kept += code.slice(at, start).trimEnd();
    at = end;
  }
  return kept + code.slice(at);
}

/** These declarations, and all that they import, by their paths in the folder. */
export function reachDeclarations(folder: string, entries: readonly string[]): Set<string> {
  const reached = new Set(entries);
  for (const path of reached)
    for (const [, from] of readFileSync(join(folder, path), 'utf8').matchAll(IMPORTED))
      reached.add(join(dirname(path), from!).replace(/\.[jt]s$/, '.d.ts'));
  return reached;
}

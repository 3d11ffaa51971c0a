// Which part of the source may import which, and the scan that finds breaches of it.

import { posix } from 'node:path';

/** Sources by path from the repository's root, `lib/engine/turn.ts`. */
export type Sources = ReadonlyMap<string, string>;

interface Area {
  readonly name: string;
  readonly files: RegExp;
  /** Areas whose values it may import, besides its own. */
  readonly uses: readonly string[];
  readonly packages: RegExp;
}

interface Import {
  readonly from: string;
  readonly typeOnly: boolean;
}

// A package that serves HTTP belongs to a door, never to the engine.
const NO_DOOR = /^(?!@?koa\b|helmet$|express$|fastify$|@?socket\.io\b|pino$|close-with-grace$|#)/;
const ENGINE = ['base', 'store', 'engine', 'machines'];

/** The first area that matches a path is its area. `import type` may point anywhere. */
export const AREAS: readonly Area[] = [
  {
    name: 'base',
    files: /^lib\/(aead|sealed-text|clock|cut|errors|json-pointer|json-reader|limits|keyring|shape)\.ts$/,
    uses: [],
    packages: /^node:/,
  },
  { name: 'store', files: /^lib\/store\//, uses: ['base'], packages: NO_DOOR },
  { name: 'engine', files: /^lib\/engine\//, uses: ENGINE, packages: NO_DOOR },
  { name: 'flow', files: /^lib\/flow\//, uses: ENGINE, packages: NO_DOOR },
  { name: 'diagram', files: /^lib\/diagram\//, uses: ['base', 'flow'], packages: NO_DOOR },
  { name: 'account', files: /^lib\/account\//, uses: ENGINE, packages: NO_DOOR },
  { name: 'ussd', files: /^lib\/ussd\//, uses: [...ENGINE, 'flow', 'account'], packages: NO_DOOR },
  { name: 'domain', files: /^lib\/domain\//, uses: ENGINE, packages: NO_DOOR },
  { name: 'delegation', files: /^lib\/delegation\//, uses: ENGINE, packages: NO_DOOR },
  { name: 'agent', files: /^lib\/agent\//, uses: [...ENGINE, 'flow', 'delegation'], packages: NO_DOOR },
  { name: 'gateway', files: /^lib\/gateway\//, uses: ['base'], packages: NO_DOOR },
  {
    name: 'the barrel',
    files: /^lib\/index\.ts$/,
    uses: [...ENGINE, 'flow', 'account', 'ussd', 'domain', 'delegation', 'agent', 'gateway'],
    packages: /^$/,
  },
  { name: 'machines', files: /^machines\//, uses: [], packages: /^xstate$/ },
  {
    name: 'server',
    files: /^server\//,
    uses: [...ENGINE, 'flow', 'diagram', 'account', 'ussd', 'domain', 'delegation', 'agent', 'gateway', 'the barrel'],
    packages: /./,
  },
];

const STATIC = /^(?:import|export)\s+(type\s+)?(?:[\w$*{}\s,]+?\s+from\s+)?['"]([^'"]+)['"]/gm;
const DYNAMIC = /\bimport\(\s*['"`]([^'"`]+)['"`]/g;

/**
 * The imports of one source, in order. `import { type A }` counts as a value: with verbatimModuleSyntax the file is
 * still loaded.
 */
export function importsOf(source: string): Import[] {
  const fixed = [...source.matchAll(STATIC)].map(([, type, from]) => ({ from: from!, typeOnly: type !== undefined }));
  const dynamic = [...source.matchAll(DYNAMIC)].map(([, from]) => ({ from: from!, typeOnly: false }));
  return [...fixed, ...dynamic];
}

/** Every import that the table does not allow, as `lib/x.ts → server/app.ts: why`. */
export function forbiddenImports(sources: Sources): string[] {
  const found: string[] = [];
  for (const [path, source] of sources) {
    const area = areaOf(path);
    if (!area) found.push(`${path}: belongs to no area of test/support/layers.ts`);
    else for (const one of importsOf(source)) found.push(...judge(path, { area, one, sources }));
  }
  return found;
}

/** Every circle of value imports, once, as `a.ts → b.ts → a.ts`. */
export function cycles(sources: Sources): string[] {
  const found: string[] = [];
  const done = new Set<string>();
  const trail: string[] = [];
  const visit = (path: string): void => {
    const at = trail.indexOf(path);
    if (at >= 0) found.push([...trail.slice(at), path].join(' → '));
    if (at >= 0 || done.has(path)) return;
    trail.push(path);
    for (const { from, typeOnly } of importsOf(sources.get(path) ?? ''))
      if (!typeOnly && from.startsWith('.')) visit(target(path, from));
    trail.pop();
    done.add(path);
  };
  for (const path of sources.keys()) visit(path);
  return found;
}

function judge(path: string, { area, one, sources }: { area: Area; one: Import; sources: Sources }): string[] {
  if (!one.from.startsWith('.')) {
    const allowed = one.typeOnly || area.packages.test(one.from);
    return allowed ? [] : [`${path} → ${one.from}: not a package for ${area.name}`];
  }
  const to = target(path, one.from);
  if (!sources.has(to)) return [`${path} → ${to}: no such file`];
  if (one.typeOnly) return [];
  const other = areaOf(to)?.name;
  const allowed = other !== undefined && (other === area.name || area.uses.includes(other));
  return allowed ? [] : [`${path} → ${to}: ${area.name} may not use ${other ?? 'it'}`];
}

function areaOf(path: string): Area | undefined {
  return AREAS.find((area) => area.files.test(path));
}

function target(path: string, from: string): string {
  return posix.join(posix.dirname(path), from);
}

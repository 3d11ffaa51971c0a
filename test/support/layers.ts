// Which part of the source may import which, and the scan that finds breaches of it.

import { posix } from 'node:path';
import type { Room } from './rooms.ts';

/** Sources by path from the repository's root, `lib/engine/session/turn.ts`. */
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
  /** Loaded when that line is run. */
  readonly isDynamic: boolean;
}

// A package that serves HTTP belongs to a door, never to the engine.
const NO_DOOR = /^(?!@?koa\b|helmet$|express$|fastify$|@?socket\.io\b|pino$|close-with-grace$|#)/;
const ENGINE = ['base', 'json', 'store', 'engine', 'machines'];
const LIBRARY = [
  ...ENGINE,
  ...[
    'json',
    'http',
    'flow',
    'diagram',
    'inspection',
    'account',
    'sms',
    'ussd',
    'domain',
    'delegation',
    'agent',
    'gateway',
    'client',
  ],
];
const SERVER = [...LIBRARY, 'the table of limits'];

/** The first area that matches a path is its area: the direction in which values may be imported. */
export const AREAS: readonly Area[] = [
  {
    name: 'the barrel',
    files: /^lib\/index\.ts$/,
    uses: [...ENGINE, 'flow', 'inspection', 'the table of limits'],
    packages: /^$/,
  },
  { name: 'the table of limits', files: /^lib\/limits\.ts$/, uses: LIBRARY, packages: /^$/ },
  { name: 'packages', files: /^lib\/packages\.ts$/, uses: [], packages: NO_DOOR },
  { name: 'base', files: /^lib\/[^/]+\.ts$/, uses: [], packages: /^node:/ },
  { name: 'json', files: /^lib\/json\//, uses: ['base'], packages: /^node:/ },
  { name: 'http', files: /^lib\/http\//, uses: ['base', 'json'], packages: NO_DOOR },
  { name: 'store', files: /^lib\/store\//, uses: ['base'], packages: NO_DOOR },
  { name: 'engine', files: /^lib\/engine\//, uses: ENGINE, packages: NO_DOOR },
  { name: 'flow', files: /^lib\/flow\//, uses: [...ENGINE, 'json', 'http', 'packages'], packages: NO_DOOR },
  { name: 'diagram', files: /^lib\/diagram\//, uses: ['base', 'flow'], packages: NO_DOOR },
  { name: 'inspection', files: /^lib\/inspection\//, uses: [...ENGINE, 'flow', 'diagram'], packages: NO_DOOR },
  { name: 'account', files: /^lib\/account\//, uses: ['base'], packages: NO_DOOR },
  { name: 'sms', files: /^lib\/sms\//, uses: [...ENGINE, 'flow', 'http', 'json'], packages: NO_DOOR },
  { name: 'ussd', files: /^lib\/ussd\//, uses: [...ENGINE, 'flow', 'json'], packages: NO_DOOR },
  { name: 'domain', files: /^lib\/domain\//, uses: [...ENGINE, 'json', 'http', 'packages'], packages: NO_DOOR },
  { name: 'delegation', files: /^lib\/delegation\//, uses: [...ENGINE, 'http'], packages: NO_DOOR },
  { name: 'agent', files: /^lib\/agent\//, uses: [...ENGINE, 'flow', 'delegation', 'http'], packages: NO_DOOR },
  { name: 'client', files: /^lib\/client\//, uses: ['base'], packages: /^$/ },
  { name: 'gateway', files: /^lib\/gateway\//, uses: ['base', 'json', 'packages'], packages: NO_DOOR },
  { name: 'testing', files: /^lib\/testing\//, uses: [...ENGINE, 'flow', 'ussd'], packages: /^(node:|fast-check$)/ },
  { name: 'machines', files: /^machines\//, uses: [], packages: /^xstate$/ },
  { name: 'server', files: /^server\//, uses: SERVER, packages: /./ },
];

const STATIC = /^(?:import|export)\s+(type\s+)?(?:[\w$*{}\s,]+?\s+from\s+)?['"]([^'"]+)['"]/gm;
const TYPE = /^(?:export )?(?:declare )?(?:abstract )?(?:interface|type|class|enum) ([A-Z]\w*)/gm;
const DYNAMIC = /\bimport\(\s*['"`]([^'"`]+)['"`]/g;

/**
 * The imports of one source, in order. `import { type A }` counts as a value: with verbatimModuleSyntax the file is
 * still loaded.
 */
export function importsOf(source: string): Import[] {
  const fixed = [...source.matchAll(STATIC)].map(([, type, from]) => ({
    from: from!,
    typeOnly: type !== undefined,
    isDynamic: false,
  }));
  const dynamic = [...source.matchAll(DYNAMIC)].map(([, from]) => ({ from: from!, typeOnly: false, isDynamic: true }));
  return [...fixed, ...dynamic];
}

/** Whether it is data rather than a module. */
export const isData = ({ from }: Pick<Import, 'from'>) => from.endsWith('.json');

/** Every import that the table does not allow, as `lib/x.ts → server/boot/app.ts: why`. */
export function forbiddenImports(sources: Sources): string[] {
  const found: string[] = [];
  for (const [path, source] of sources) {
    const area = areaOf(path);
    if (!area) found.push(`${path}: belongs to no area of test/support/layers.ts`);
    else for (const one of importsOf(source)) if (!isData(one)) found.push(...judge(path, { area, one, sources }));
  }
  return found;
}

/** Every import of another room that its row does not name, and every word of a row that no import needs. */
export function wrongRooms(sources: Sources, rooms: { readonly [folder: string]: Room }): string[] {
  const found: string[] = [];
  const needed = new Map<string, { readonly uses: Set<string>; readonly types: Set<string> }>();
  for (const [path, source] of sources) {
    const folder = posix.dirname(path);
    const row = needed.get(folder) ?? { uses: new Set(), types: new Set() };
    needed.set(folder, row);
    for (const { from, typeOnly } of importsOf(source)) {
      const to = from.startsWith('.') ? target(path, from) : path;
      const other = posix.dirname(to);
      if (other !== folder && sources.has(to)) row[typeOnly ? 'types' : 'uses'].add(other);
    }
  }
  for (const [folder, { uses, types }] of needed) {
    const row = rooms[folder];
    if (!row) found.push(`${folder}: has no row in test/support/rooms.ts`);
    found.push(...differences(folder, { kind: 'values', named: row?.uses, used: uses }));
    const only = new Set([...types].filter((other) => !uses.has(other)));
    found.push(...differences(folder, { kind: 'types', named: row?.types, used: only }));
  }
  return [...found, ...Object.keys(rooms).flatMap((folder) => (needed.has(folder) ? [] : `${folder}: is no room`))];
}

interface Row {
  readonly kind: 'values' | 'types';
  readonly named: string | undefined;
  readonly used: ReadonlySet<string>;
}

function differences(folder: string, { kind, named = '', used }: Row): string[] {
  const words = new Set(named.split(' ').filter(Boolean));
  const missing = [...used].filter((other) => !words.has(other)).sort();
  const stale = [...words].filter((other) => !used.has(other));
  return [
    ...missing.map((other) => `${folder} → ${other}: its row names no ${kind} of it`),
    ...stale.map((other) => `${folder} → ${other}: its row names ${kind} that nothing needs`),
  ];
}

/** Every name of a type that is declared in more than `roomsMax` folders, with these folders. */
export function scatteredTypes(sources: Sources, roomsMax: number): string[] {
  const folders = new Map<string, Set<string>>();
  for (const [path, source] of sources)
    for (const [, name] of source.matchAll(TYPE))
      folders.set(name!, (folders.get(name!) ?? new Set()).add(posix.dirname(path)));
  return [...folders].flatMap(([name, rooms]) => (rooms.size > roomsMax ? `${name}: ${[...rooms].join(' ')}` : []));
}

/**
 * Every import, types too, that does not lead to a lower floor, or stays in its room. A floor names rooms, which are folders with all that
 * is in them, or single files; the longest name that fits a path is its room.
 */
export function upwardImports(sources: Sources, floors: readonly string[]): string[] {
  const rooms = floors
    .flatMap((names, floor) => names.split(' ').map((name) => ({ name, floor })))
    .sort((a, b) => b.name.length - a.name.length);
  const findRoom = (path: string) => rooms.find(({ name }) => path === name || path.startsWith(`${name}/`));
  const found: string[] = [];
  for (const [path, source] of sources) {
    const own = findRoom(path);
    if (!own) found.push(`${path}: is on no floor`);
    for (const { from } of own ? importsOf(source) : []) {
      const to = target(path, from);
      const other = from.startsWith('.') && sources.has(to) ? findRoom(to) : undefined;
      if (other && other.name !== own!.name && other.floor >= own!.floor)
        found.push(`${path} → ${to}: not on a lower floor`);
    }
  }
  return found;
}

/** Every circle of imports, types too, once, as `a.ts → b.ts → a.ts`. */
export function cycles(sources: Sources): string[] {
  const found: string[] = [];
  const done = new Set<string>();
  const trail: string[] = [];
  const visit = (path: string): void => {
    const at = trail.indexOf(path);
    if (at >= 0) found.push([...trail.slice(at), path].join(' → '));
    if (at >= 0 || done.has(path)) return;
    trail.push(path);
    for (const { from } of importsOf(sources.get(path) ?? '')) if (from.startsWith('.')) visit(target(path, from));
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

const FUNCTION = /^(\s*)(?:export )?(?:default )?(?:async )?function\*? ?(\w*)/;
const METHOD = /^(\s+)(?:(?:static|async|get|set|override) )*\*?(#?\w+)(?:<[^(]*>)?\((?!.*;$)/;
const ARROW = /^(\s*)(?:(?:export )?(?:const|let) )?([\w'/ -]*)(?:[:=]|\().*=> \{$/;
const KEYWORDS = new Set(['if', 'for', 'while', 'switch', 'catch', 'return', 'await']);

/** The functions of more than `max` lines, as `path name`. Reads sources as the formatter leaves them: what ends a block is indented as its first line. */
export function longFunctions(sources: Sources, max: number): string[] {
  return [...sources].flatMap(([path, source]) => {
    const lines = source.split('\n');
    return lines.flatMap((line, at) => {
      const [, indent, name = ''] = FUNCTION.exec(line) ?? METHOD.exec(line) ?? ARROW.exec(line) ?? [];
      if (indent === undefined || KEYWORDS.has(name)) return [];
      const endOf = (from: number, ends: readonly string[]) => {
        const found = lines.findIndex(
          (other, place) => place > from && ends.some((end) => other.startsWith(indent + end)),
        );
        return found < 0 ? lines.length - 1 : found;
      };
      // The first line of the body is the last one of the header, which may have several.
      const isWhole = line.endsWith('{') && !line.endsWith('({');
      const body = isWhole ? at : endOf(at, [')', '}']);
      if (!lines[body]!.endsWith('{')) return [];
      return endOf(body, ['}']) - at + 1 > max ? [`${path} ${name.trim()}`] : [];
    });
  });
}

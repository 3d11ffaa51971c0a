// Where a flow names its screens: the start, ways, back keys and migrations. Works on flows with errors.

import { isObject } from '../../given.ts';
import type { Json, JsonObject } from '../../json/json.ts';
import type { Screen } from '../format/flow.ts';
import { pointerTo } from '../format/source.ts';
import { listWays } from '../format/way.ts';
import type { PartReader, Steps } from '../screens/kind.ts';
import { KINDS } from '../screens/kinds.ts';

/** A place that names a screen. */
export interface ScreenReference {
  readonly pointer: string;
  /** The id that stands there. */
  readonly to: string;
  /** The screen that the way leaves; undefined for the start and migrations. */
  readonly screen?: string;
}

/** All places of a flow that name a screen, in its order. */
export function listReferences(flow: Json | undefined): ScreenReference[] {
  if (!isObject(flow)) return [];
  const found: ScreenReference[] = [];
  if (typeof flow.start === 'string') found.push({ pointer: '/start', to: flow.start });
  for (const [id, screen] of Object.entries(isObject(flow.screens) ? flow.screens : {}))
    found.push(...listOwn(id, screen as Json));
  for (const [version, migration] of Object.entries(isObject(flow.migrate) ? flow.migrate : {})) {
    const renamed = isObject(migration) && isObject(migration.screens) ? migration.screens : {};
    for (const [old, to] of Object.entries(renamed))
      if (typeof to === 'string') found.push({ pointer: pointerTo('migrate', version, 'screens', old), to });
  }
  return found;
}

function listOwn(id: string, screen: Json): ScreenReference[] {
  if (!isObject(screen) || typeof screen.type !== 'string' || !Object.hasOwn(KINDS, screen.type)) return [];
  const found: ScreenReference[] = [];
  const target = (steps: Steps, to: unknown) => {
    if (typeof to === 'string') found.push({ pointer: pointerTo('screens', id, ...steps), to, screen: id });
  };
  target(['back'], screen.back);
  try {
    KINDS[screen.type as Screen['type']].parts(screen as never, targetReader(target));
  } catch {
    // A screen that lacks a part has the references before it.
  }
  return found;
}

function targetReader(target: (steps: Steps, to: unknown) => void): PartReader {
  const skip = () => {};
  return {
    ...{ text: skip, items: skip, values: skip, set: skip, save: skip },
    target,
    way: (steps, { to }) => target([...steps, 'to'], to),
    ways: (steps, ways) => {
      if (typeof ways === 'string') return target(steps, ways);
      for (const [at, { to }] of listWays(ways).entries()) target([...steps, at, 'to'], to);
    },
  };
}

/** The ids of the screens of a flow that may have errors. */
export function listScreens(flow: Json | undefined): string[] {
  return isObject(flow) && isObject(flow.screens) ? Object.keys(flow.screens as JsonObject) : [];
}

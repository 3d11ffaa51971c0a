// The variables of a flow that are kept between sessions of one caller: those that the dialled flow declares with `keep`.

import type { Keeping } from '../../engine/conversation.ts';
import type { Json, JsonObject } from '../../json/json.ts';
import { type Flow, holdsValue } from '../format/flow.ts';
import { durationMs } from '../format/way.ts';

/** What a flow keeps; undefined when it keeps nothing. Flows that it calls have no memory of their own. */
export function flowKeeping({ vars = {} }: Flow): Keeping | undefined {
  const kept = Object.entries(vars).filter(([, { keep, secret }]) => keep !== undefined && !secret);
  if (!kept.length) return undefined;
  const lifetimes = new Map(kept.map(([name, { keep }]) => [name, durationMs(keep!)!]));
  const names = [...lifetimes.keys()];
  return {
    read: (context) => {
      const [outermost = context] = (context.$frames as readonly JsonObject[] | undefined) ?? [];
      return pick(names, (name) => outermost[name]);
    },
    begin: (input) => pick(names, (name) => (Object.hasOwn(input, name) ? input[name] : vars[name]!.default)),
    lifetime: (name) => lifetimes.get(name)!,
    fits: (name, value) => lifetimes.has(name) && holdsValue(vars[name]!, value),
  };
}

const pick = (names: readonly string[], find: (name: string) => Json | undefined): JsonObject =>
  Object.fromEntries(names.map((name) => [name, find(name) ?? null]));

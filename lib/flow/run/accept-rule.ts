// What a rule of `accept` is, and how its settings are read.

import type { Json, JsonObject } from '../../store/store.ts';
import { suggest } from '../expression/suggest.ts';

/** The value for a text that has been trimmed, or undefined to refuse it. */
export type Check = (text: string, now: number) => Json | undefined;
/** Ends the compilation: what is wrong with the rule, and what to write. */
export type Refuse = (problem: string) => never;
export type Rule = (setting: Json, refuse: Refuse) => Check;

/** The settings of a rule; refuses what is no object and, with a suggestion, a setting that is not `known`. */
export function settings(setting: Json, known: readonly string[], refuse: Refuse): JsonObject {
  if (setting === true) return {};
  const how = `Write true, or an object of: ${known.join(', ')}`;
  if (setting === null || typeof setting !== 'object' || Array.isArray(setting)) return refuse(how);
  for (const name of Object.keys(setting)) {
    if (!known.includes(name)) refuse(`it has no "${name}".${suggest(name, known)} ${how}`);
  }
  return setting as JsonObject;
}

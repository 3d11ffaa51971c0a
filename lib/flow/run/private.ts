// Private values of a flow, masked: in its variables, in what a caller reads, and as texts that logs may not show.

import type { Reply, View } from '../../engine/conversation.ts';
import { MASK } from '../../redact.ts';
import type { Json, JsonObject } from '../../store/store.ts';
import { maskPrinted } from '../expression/template.ts';
import { renderScreen } from './render.ts';
import type { ScreenNode } from './scope.ts';

/** The variables with MASK in the place of private ones that have a value; also of flows that wait for a sub-flow. */
export function maskContext(context: JsonObject, names: ReadonlySet<string>): JsonObject {
  const shown: Record<string, Json> = {};
  for (const name in context) {
    const value = context[name]!;
    shown[name] = names.has(name) && (value ?? null) !== null ? MASK : value;
  }
  const frames = context.$frames as readonly JsonObject[] | undefined;
  if (frames) shown.$frames = frames.map((frame) => maskContext(frame, names));
  return shown;
}

/** What a caller reads, with `*` for each character of what private variables print. Pages may break elsewhere by a word. */
export function renderMasked(node: ScreenNode, { context }: Pick<View, 'context'>, names: ReadonlySet<string>): Reply {
  return renderScreen(node, { context: maskPrinted(context, names) });
}

/** Every text and number in private variables, also of flows that wait for a sub-flow. */
export function listPrivateTexts(context: JsonObject, names: ReadonlySet<string>): string[] {
  const own = [...names].flatMap((name) => listTexts(context[name] ?? null));
  const frames = (context.$frames as readonly JsonObject[] | undefined) ?? [];
  return [...own, ...frames.flatMap((frame) => listPrivateTexts(frame, names))];
}

function listTexts(value: Json): string[] {
  if (typeof value === 'object' && value !== null)
    return Object.values(value).flatMap((part) => listTexts(part as Json));
  return typeof value === 'string' || typeof value === 'number' ? [String(value)] : [];
}

// The kinds of screens by type. The schema of flow files and all tables of kinds are made from this one.

import type { SchemaPart } from '../format/schema.ts';
import { type BranchScreen, branch } from './branch.ts';
import { type CallScreen, call } from './call.ts';
import { type EndScreen, end } from './end.ts';
import { type FlowScreen, flow } from './flow.ts';
import { type InputScreen, input } from './input.ts';
import type { ScreenKind, ScreenSchema, ServiceUse } from './kind.ts';
import { type ListScreen, list } from './list.ts';
import { type MenuScreen, menu } from './menu.ts';

/** A screen of a flow, of any type. */
export type Screen = MenuScreen | InputScreen | ListScreen | CallScreen | BranchScreen | FlowScreen | EndScreen;
/** The types of screens; the list is closed. */
export type ScreenType = Screen['type'];

export const KINDS: { readonly [type in ScreenType]: ScreenKind<Extract<Screen, { type: type }>> } = {
  menu,
  input,
  list,
  call,
  branch,
  flow,
  end,
};

export function findKind(screen: Screen): ScreenKind<Screen> {
  return KINDS[screen.type];
}

/** A screen on which the conversation waits for the caller. */
export function isInteractive(screen: Screen): boolean {
  return KINDS[screen.type].waits;
}

/** The screens that a screen can lead to by itself or by an answer; not by back, home or exit. */
export function listTargets(screen: Screen): readonly string[] {
  return findKind(screen).targets(screen);
}

/** The services that a screen calls. */
export function listServiceUses(screen: Screen): readonly ServiceUse[] {
  return findKind(screen).services?.(screen) ?? [];
}

/** The definitions of screens in `menus/flow.schema.json`. */
export function screenDefinitions(): { readonly [name: string]: SchemaPart } {
  const kinds = Object.entries(KINDS);
  const definitions = kinds.flatMap(([type, { schema, waits }]) => [
    ...Object.entries(schema.definitions ?? {}),
    [type, screenDefinition(type, schema, waits)] as const,
  ]);
  const screen = {
    description: 'A screen; its `type` says which keys it has.',
    examples: [{ type: 'end', text: 'Goodbye.' }],
    type: 'object',
    discriminator: { propertyName: 'type' },
    oneOf: kinds.map(([type]) => ({ $ref: `#/definitions/${type}` })),
    defaultSnippets: kinds.map(([label, { schema }]) => ({
      label,
      description: schema.about,
      body: { type: label, ...schema.snippet },
    })),
  };
  return { screen, ...Object.fromEntries(definitions) };
}

function screenDefinition(
  type: string,
  { about, description, required, properties }: ScreenSchema,
  waits: boolean,
): SchemaPart {
  const shared = [...(waits ? ['keys'] : []), 'back', 'track', 'note'].map((key) => [
    key,
    { $ref: `#/definitions/${key}` },
  ]);
  return {
    description,
    type: 'object',
    required: ['type', ...required],
    additionalProperties: false,
    properties: { type: { description: about, const: type }, ...properties, ...Object.fromEntries(shared) },
  };
}

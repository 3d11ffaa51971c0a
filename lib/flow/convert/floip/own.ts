// Blocks that only Twinline writes into containers: lists, and calls of services. What FLOIP has no key for is kept as vendor metadata of
// its block; it is used only while the block is unchanged.

import { createHash } from 'node:crypto';
import type { Screen, Values } from '../../format/flow.ts';
import { translateWords } from '../excellent/words.ts';
import { asObject, asText, type Foreign, getOwn } from '../source.ts';
import type { Pick, Step, StepWay, Words } from '../steps/step.ts';
import type { FloipBlock, FloipExit } from './file.ts';
import type { BlockPlace } from './place.ts';
import { findWords } from './place.ts';

export const LIST_BLOCK = 'Twinline.List';
export const CALL_BLOCK = 'Twinline.Call';

type MakeOwn = (place: BlockPlace) => Step | undefined;

export const OWN_BLOCKS: { readonly [type: string]: MakeOwn } = {
  [LIST_BLOCK]: (place) => {
    const { flow, block, context } = place;
    const { config } = block;
    const text = (key: string) => readTexts(config[key], flow.langs);
    const [exit] = block.exits;
    const step: Pick = {
      kind: 'pick',
      node: block.uuid,
      name: block.name,
      said: translateWords(findWords(place, ['prompt']), block.uuid, context),
      items: asText(config.items) ?? '',
      row: text('row'),
      ...(config.empty !== undefined && { empty: text('empty') }),
      ...(config.error !== undefined && { error: text('error') }),
      ...(typeof config.save === 'string' && { save: config.save }),
      ...(exit && { way: { next: exit.next } }),
    };
    return step;
  },
  [CALL_BLOCK]: ({ block }) => {
    const { config } = block;
    const ways = (of: string): StepWay[] => block.exits.filter(({ name }) => name.startsWith(of)).map(readWay);
    return {
      kind: 'call',
      node: block.uuid,
      name: block.name,
      service: asText(config.service) ?? 'unknown',
      with: asObject(config.with) as Values,
      ...(typeof config.save === 'string' && { save: config.save }),
      ...(typeof config.timeout === 'string' && { timeout: config.timeout }),
      ...(typeof config.retry === 'number' && { retry: config.retry }),
      done: ways('done'),
      fail: ways('fail'),
    };
  },
};

// A text as flows have it: templates of ours, which no other program reads.
function readTexts(value: unknown, langs: readonly string[]): Words {
  if (typeof value === 'string') return { [langs[0]!]: value };
  const entries = Object.entries(asObject(value)).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  );
  return Object.fromEntries(entries);
}

// The tests of our own blocks are conditions of flows.
function readWay({ test, next }: FloipExit): StepWay {
  return { ...(test !== undefined && { when: test }), next };
}

/** A short hash of a value, to see whether it was changed. */
export function digest(value: unknown): string {
  return createHash('sha256')
    .update(JSON.stringify(value ?? null))
    .digest('base64url')
    .slice(0, 16);
}

/** A key of a screen that FLOIP cannot carry: its value, and the hash of what is read without it. */
export interface LostKey {
  readonly was: string;
  readonly is: unknown;
}

/** The screen with what is kept beside its block, where that still belongs to it; the keys where it does not. */
export function restoreScreen(
  screen: Screen,
  block: FloipBlock,
): { readonly screen: Screen; readonly stale: readonly string[] } {
  const kept = asObject(block.own.screen);
  const changed: Record<string, unknown> = { ...screen };
  const stale: string[] = [];
  for (const key of Object.keys(kept)) {
    const { was, is } = asObject(getOwn(kept, key)) as Partial<LostKey> & Foreign;
    if (was !== digest(getOwn(changed, key))) {
      stale.push(key);
      continue;
    }
    if (is === undefined || is === null) delete changed[key];
    else changed[key] = is;
  }
  return { screen: changed as unknown as Screen, stale };
}

// What an input means on a screen: a navigation key, or whatever the screen makes of it.

import type { EventObject } from 'xstate';
import type { Prove, View } from '../../engine/conversation.ts';
import { SHARED_LIMITS } from '../../shared-limits.ts';
import type { Json } from '../../store/store.ts';
import type { ScreenNode } from './node.ts';
import { screenPages } from './render.ts';
import { backTarget, canGoBack, depth } from './stack.ts';

export interface Reading {
  readonly view: View;
  readonly prove: Prove;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Path of the screen where the outermost flow begins. */
  readonly start: string;
}

/**
 * The event of an input, or undefined when the same screen is to be shown again: an empty answer, or any key but exit
 * while the caller waits. The text of a caller is only ever payload, never the type of an event.
 */
export function readInput(node: ScreenNode, raw: Json, reading: Reading): EventObject | undefined {
  const input = typeof raw === 'string' ? tidy(raw) : '';
  if (input === '') return undefined;
  const { keys } = node.scope;
  if (input === keys.exit) return { type: 'exit' };
  if (reading.view.waiting || !node.behaviour.read) return undefined;
  const { context } = reading.view;
  const move = navigation(node, input, reading);
  return move ?? node.behaviour.read({ input, context, prove: reading.prove, now: reading.now });
}

// Keys count only where they lead somewhere; elsewhere what is typed is an answer like any other.
function navigation(node: ScreenNode, input: string, { view, start }: Reading): EventObject | undefined {
  const { keys, path } = node.scope;
  const { context } = view;
  if (input === keys.back && canGoBack(node, context))
    return { type: typeof node.screen.back === 'string' ? 'back' : `back.${backTarget(path, context)}` };
  if (input === keys.home && (node.path !== start || depth(context) > 0)) return { type: 'home' };
  if (input === keys.more && (context.$page as number) < screenPages(node, context).length - 1) return { type: 'more' };
  return undefined;
}

const CONTROL = /\p{Cc}+/gu;

function tidy(raw: string): string {
  return raw.slice(0, SHARED_LIMITS.ussdTextChars).replace(CONTROL, ' ').trim();
}

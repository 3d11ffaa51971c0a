// What a caller reads: the screen's text and rows, its navigation lines, cut to the page that is open.

import type { Reply, View } from '../../engine/conversation.ts';
import type { JsonObject } from '../../store/store.ts';
import type { Label, NavigationKey } from '../format/flow.ts';
import { FLOW_LIMITS } from '../limits.ts';
import type { ScreenNode } from './node.ts';
import { cut, pagesOf } from './page.ts';
import { langOf } from './scope.ts';
import { canGoBack, depth } from './stack.ts';

/** The reply at a rest. A page number past the end shows the last page. */
export function renderScreen(node: ScreenNode, { context }: Pick<View, 'context'>): Reply {
  if (node.screen.type === 'end') {
    const { text } = node.behaviour.show(context, langOf(node.scope, context));
    return { kind: 'end', text: cut(text, charsOf(node)) };
  }
  const pages = screenPages(node, context);
  const page = Math.min(context.$page as number, pages.length - 1);
  return { kind: 'continue', text: pages[page]! };
}

/** Every page of a screen as it stands. */
export function screenPages(node: ScreenNode, context: JsonObject): string[] {
  const lang = langOf(node.scope, context);
  const shown = node.behaviour.show(context, lang);
  return pagesOf(shown, { chars: charsOf(node), footer: (hasMore) => footer(node, context, { lang, hasMore }) });
}

function charsOf({ scope }: ScreenNode): number {
  return Math.min(scope.flow.limits?.chars ?? FLOW_LIMITS.screenSeptets, FLOW_LIMITS.screenSeptets);
}

// Home has its line only where it leads elsewhere than Back does.
function footer(
  node: ScreenNode,
  context: JsonObject,
  { lang, hasMore }: { lang: string; hasMore: boolean },
): string[] {
  const shows: [NavigationKey & Label, boolean][] = [
    ['more', hasMore],
    ['back', canGoBack(node, context)],
    ['home', depth(context) > 1],
    ['exit', node.behaviour.listsExit],
  ];
  const lines: string[] = [];
  for (const [name, applies] of shows) {
    const key = node.scope.keys[name];
    if (applies && key !== false) lines.push(`${key}. ${node.scope.labels[name].render(context, lang)}`);
  }
  return lines;
}

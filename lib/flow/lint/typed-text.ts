// How long the text of a dialogue may become in the cumulative mode, where every request repeats all answers, joined by `*`.

import type { Flow, Option, Screen } from '../format/flow.ts';
import { listTargets } from '../screens/kinds.ts';
import type { Lint } from './rule.ts';

/** A screen of a path that is answered, and how long the text can be with its answer. */
export interface TypedStep {
  readonly id: string;
  readonly chars: number;
}

/**
 * The longest way from the start that enters no screen twice by the same answers; `answerChars` says how long the answer of an input
 * may be. Flows that are called count with their own longest way.
 */
export function findLongestPath(
  lint: Lint,
  answerChars: (flow: Flow, screen: Screen & { type: 'input' }) => number,
): readonly TypedStep[] {
  const { flow, graph, flows, meant } = lint;
  const calls = new Map<string, number>();
  const callChars = (name: string): number => {
    const called = flows?.get(name);
    if (!called || calls.has(name)) return calls.get(name) ?? 0;
    // A flow that calls itself is the matter of another rule.
    calls.set(name, 0);
    const { screens } = called;
    // Screens that are not there are told where they are meant.
    const next = new Map(Object.entries(screens).map(([id, screen]) => [id, listTargets(screen)]));
    const weigh = (id: string) => (Object.hasOwn(screens, id) ? ownChars(called, screens[id]!) : 0);
    const longest = walkLongest(called.start, next, weigh).at(-1);
    const sum = longest === undefined ? 0 : longest.chars + 1;
    calls.set(name, sum);
    return sum;
  };
  const ownChars = (owner: Flow, screen: Screen): number => {
    switch (screen.type) {
      case 'menu':
        return 1 + optionChars(screen.options);
      case 'list':
        return Math.max(screen.pick ? 4 : 2, 1 + optionChars(screen.options ?? []));
      case 'input':
        return 1 + answerChars(owner, screen);
      case 'flow':
        return callChars(screen.flow);
      default:
        return 0;
    }
  };
  const start = meant(flow.start);
  return start === undefined ? [] : walkLongest(start, graph.next, (id) => ownChars(flow, graph.screens.get(id)!));
}

function optionChars(options: readonly Option[]): number {
  const texts = options.flatMap(({ key, words = [] }, at) => [key ?? String(at + 1), ...Object.values(words).flat()]);
  return Math.max(0, ...texts.map((one) => one.length));
}

/** The path with the largest sum, without the edges that close a circle when all are walked depth first. */
function walkLongest(
  start: string,
  next: ReadonlyMap<string, readonly string[]>,
  weigh: (id: string) => number,
): readonly TypedStep[] {
  const done = new Map<string, { readonly chars: number; readonly to?: string | undefined }>();
  const open = new Set<string>();
  // Without recursion: flows have many screens.
  const trail: { readonly id: string; at: number }[] = [{ id: start, at: 0 }];
  for (let top = trail.at(-1); top; top = trail.at(-1)) {
    const { id } = top;
    open.add(id);
    const to = next.get(id)?.[top.at++];
    if (to !== undefined) {
      if (!done.has(to) && !open.has(to)) trail.push({ id: to, at: 0 });
      continue;
    }
    const best = (next.get(id) ?? [])
      .filter((one) => done.has(one))
      .sort((a, b) => done.get(b)!.chars - done.get(a)!.chars)[0];
    done.set(id, { chars: weigh(id) + (best === undefined ? 0 : done.get(best)!.chars), to: best });
    open.delete(id);
    trail.pop();
  }
  const steps: TypedStep[] = [];
  // The first answer has no `*` before it.
  let chars = -1;
  for (let id: string | undefined = start; id !== undefined; id = done.get(id)!.to) {
    if (weigh(id) === 0) continue;
    chars += weigh(id);
    steps.push({ id, chars });
  }
  return steps;
}

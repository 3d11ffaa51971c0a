// From what a machine did to what its drawing shows: arrows, or words on a card that stand for them.

import type { Edge } from './inspector-wire.ts';

/** One arrow of a drawing, or one of the words on a card that lead somewhere. */
interface Way {
  readonly mark: Element;
  readonly from: string;
  readonly to: string;
  readonly events: ReadonlySet<string>;
}

export interface Ways {
  /** What stands for an edge; several when it leads over states that nobody stays in; none when it is not drawn. */
  of(edge: Edge): readonly Element[];
  /** All arrows. */
  readonly arrows: readonly Element[];
}

/** Reads a drawing. */
export function waysOf(svg: Element): Ways {
  const arrows = [...svg.querySelectorAll('.edge')].map((mark) => wayOf(mark, mark.getAttribute('data-from') ?? ''));
  const chips = [...svg.querySelectorAll('.chip[data-to]')].map((mark) =>
    wayOf(mark, mark.closest('.state')?.getAttribute('data-state') ?? ''),
  );
  const passing = new Set(
    [...svg.querySelectorAll('.state[data-kind="branch"], .state[data-kind="call"], .state[data-kind="flow"]')].map(
      (state) => state.getAttribute('data-state') ?? '',
    ),
  );
  const of = ({ event, from, to }: Edge): readonly Element[] => {
    if (from === null) return [];
    const leaving = (ways: readonly Way[]) => ways.filter((way) => holds(way.from, from));
    const direct = best(
      leaving([...arrows, ...chips]).filter((way) => holds(way.to, to)),
      event,
    );
    if (direct) return [direct.mark];
    for (const first of leaving(arrows)) {
      const rest = passing.has(first.to) ? through(arrows, { from: first.to, to, passing }) : undefined;
      if (rest && (first.events.has(event) || !leaving(arrows).some(({ events }) => events.has(event))))
        return [first.mark, ...rest];
    }
    return [];
  };
  return { of, arrows: arrows.map(({ mark }) => mark) };
}

function wayOf(mark: Element, from: string): Way {
  const events = new Set((mark.getAttribute('data-events') ?? '').split(' '));
  return { mark, from, to: mark.getAttribute('data-to') ?? '', events };
}

// A state, or one that it stands in.
const holds = (outer: string, inner: string) => inner === outer || inner.startsWith(`${outer}.`);

function best(ways: readonly Way[], event: string): Way | undefined {
  const named = ways.filter(({ events }) => events.has(event));
  const length = ({ from, to }: Way) => from.length + to.length;
  return [...(named.length ? named : ways)].sort((a, b) => length(b) - length(a))[0];
}

const STEPS_MAX = 8;

function through(
  arrows: readonly Way[],
  { from, to, passing, steps = 0 }: { from: string; to: string; passing: ReadonlySet<string>; steps?: number },
): readonly Element[] | undefined {
  if (steps > STEPS_MAX) return undefined;
  for (const arrow of arrows.filter((one) => one.from === from)) {
    if (holds(arrow.to, to)) return [arrow.mark];
    const rest = passing.has(arrow.to) ? through(arrows, { from: arrow.to, to, passing, steps: steps + 1 }) : undefined;
    if (rest) return [arrow.mark, ...rest];
  }
  return undefined;
}

// A drawing as a Mermaid stateDiagram-v2, which GitHub and many editors render.

import { type Arrow, cutLine, type DiagramState, type Drawing, groupByParent } from './drawing.ts';

const LABEL_CHARS = 60;
const LABELS = 4;

// Mermaid keywords (case-insensitive), and the generated ids.
const TAKEN =
  /^(state|statediagram.*|note|direction|hide|scale|class|classdef|style|click|acctitle|accdescr|as|end|fork|join|choice|default|s\d+)$/i;

/** A `stateDiagram-v2`. A state whose path Mermaid could misread gets a generated id, with its title as text. */
export function mermaidText(drawing: Drawing): string {
  const isPlain = (id: string) => /^[A-Za-z]\w*$/.test(id) && !TAKEN.test(id);
  const ids = new Map(drawing.states.map(({ id }, at) => [id, isPlain(id) ? id : `s${at + 1}`]));
  const children = groupByParent(drawing);
  const write = (state: DiagramState, depth: number): string[] => {
    const id = ids.get(state.id)!;
    const name = id === state.title ? id : `state "${plain(state.title)}" as ${id}`;
    const inside = children.get(state.id);
    const begin = drawing.starts.has(state.id) ? [indent(`[*] --> ${id}`, depth)] : [];
    const end = state.kind === 'end' ? [indent(`${id} --> [*]`, depth)] : [];
    if (!inside) return [indent(name, depth), ...begin, ...end];
    const body = inside.flatMap((one) => write(one, depth + 1));
    return [indent(name, depth), indent(`state ${id} {`, depth), ...body, indent('}', depth), ...begin, ...end];
  };
  const states = (children.get(undefined) ?? []).flatMap((state) => write(state, 1));
  const arrows = [...drawing.arrows, ...failureArrows(drawing)].map((arrow) => indent(arrowLine(arrow, ids), 1));
  const title = ['---', `title: ${JSON.stringify(drawing.title)}`, '---'];
  return `${[...title, 'stateDiagram-v2', ...states, ...arrows].join('\n')}\n`;
}

// The SVG shows these as chips.
function failureArrows({ states }: Drawing): Arrow[] {
  return states.flatMap(({ id, chips }) =>
    chips.flatMap(({ sign, to, events = [] }) => {
      if (sign !== 'error' || to === undefined || !states.some((state) => state.id === to)) return [];
      return [{ from: id, to, ways: [{ event: events[0] ?? '', label: 'fail', role: 'error' } as const] }];
    }),
  );
}

function arrowLine({ from, to, ways }: Arrow, ids: ReadonlyMap<string, string>): string {
  const labels = [...new Set(ways.map(({ label }) => plain(cutLine(label, LABEL_CHARS))))];
  const rest = labels.length - LABELS + 1;
  const visible = rest > 1 ? [...labels.slice(0, LABELS - 1), `+ ${rest} more`] : labels;
  return `${ids.get(from)} --> ${ids.get(to)}: ${visible.join(', ')}`;
}

// Quotes end a name, `;` and line breaks a statement; `%` starts a comment, `#` an entity; `<` and `>` are markup.
function plain(text: string): string {
  return cutLine(text, 200).replace(/["#;:%<>{}\\]/g, (character) => `#${character.codePointAt(0)};`);
}

function indent(line: string, depth: number): string {
  return '  '.repeat(depth) + line;
}

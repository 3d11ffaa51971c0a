// Draws the twins around a twin, in the style of machine diagrams.

import type { Arrow, DiagramState, Drawing } from '../../../lib/diagram/drawing.ts';
import { drawSvg } from '../diagram/drawings.ts';
import { layout } from '../diagram/layout.ts';

/** The answer of `GET /v1/domains/:did/graph`. */
export interface TwinGraph {
  readonly root: string;
  readonly nodes: readonly { readonly [field: string]: unknown }[];
  readonly edges: readonly { readonly [field: string]: unknown }[];
}

export interface TwinDrawer {
  /** The graph as SVG. Rejects with ERR_INPUT if it is too large. */
  draw(graph: TwinGraph): Promise<string>;
  close(): Promise<void>;
}

/** Draws in a worker thread, started with the first graph. */
export function twinDrawer(): TwinDrawer {
  const worker = layout();
  return {
    draw: (graph) => drawSvg(twinDrawing(graph), { layout: worker, dress: 'embedded' }),
    close: () => worker.close(),
  };
}

/** Twins as states, relations as arrows. */
export function twinDrawing({ root, nodes, edges }: TwinGraph): Drawing {
  const states = nodes.map(({ did, name, type, status }): DiagramState => {
    const lines = [type, status].filter((text): text is string => typeof text === 'string');
    const title = typeof name === 'string' ? name : shortDid(String(did));
    return { id: String(did), kind: 'state', title, lines: lines.length ? [lines.join(' · ')] : [], chips: [] };
  });
  const relations = new Map<string, string[]>();
  for (const { from, to, relation } of edges) {
    const pair = `${from} ${to}`;
    relations.set(pair, [...(relations.get(pair) ?? []), String(relation)]);
  }
  const arrows = [...relations].map(([pair, names]): Arrow => {
    const [from, to] = pair.split(' ') as [string, string];
    return { from, to, ways: names.map((event) => ({ event, label: event, role: 'on' })) };
  });
  return { id: root, title: 'Twins', states, arrows, starts: new Set([root]) };
}

const SHOWN_CHARS = 28;

function shortDid(did: string): string {
  return did.length > SHOWN_CHARS ? `${did.slice(0, SHOWN_CHARS - 1)}…` : did;
}

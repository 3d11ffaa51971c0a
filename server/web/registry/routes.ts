// GET /registry: the page of twins and votes, whose script asks /v1 with the key of its reader; and the twins around one as a drawing.

import type { Arrow, DiagramState, Drawing } from '../../../lib/diagram/drawing.ts';
import { html } from '../../../lib/markup.ts';
import { PLAIN_ANSWERS } from '../../http/common-answers.ts';
import type { RouteGroup } from '../../http/route-table.ts';
import { drawSvg } from '../diagram/drawings.ts';
import { layout } from '../diagram/layout.ts';
import { type PageContent, pageRoute } from '../kit/frame.ts';

const REGISTRY_PAGE: PageContent = {
  title: 'Registry · Twinline',
  style: 'registry.css',
  script: 'registry.js',
  layout: 'wide',
  body: html`<div id="registry" class="registry stack"></div>
<noscript><p class="card">The registry needs JavaScript. Without it, see <a href="/docs">the routes of domains</a>.</p></noscript>`,
};

export const REGISTRY_ROUTES: RouteGroup<unknown> = {
  tag: 'Pages for all',
  description: 'Pages that hold nothing of their own.',
  access: 'public',
  answers: { 429: PLAIN_ANSWERS[429] },
  routes: [
    pageRoute({
      path: '/registry',
      id: 'getRegistry',
      summary: 'Twins and votes in a browser, for holders of an API key',
      page: () => REGISTRY_PAGE,
    }),
  ],
};

/** As `GET /v1/domains/:did/graph` answers. */
interface TwinGraph {
  readonly root: string;
  readonly nodes: readonly { readonly [field: string]: unknown }[];
  readonly edges: readonly { readonly [field: string]: unknown }[];
}

interface TwinDrawer {
  /** The graph as SVG. Rejects with ERR_INPUT when it is too large to be drawn. */
  draw(graph: TwinGraph): Promise<string>;
  close(): Promise<void>;
}

/** Draws in a worker that begins with the first graph. */
export function twinDrawer(): TwinDrawer {
  const worker = layout();
  return {
    draw: (graph) => drawSvg(twinDrawing(graph), { layout: worker, dress: 'embedded' }),
    close: () => worker.close(),
  };
}

/** States for twins, arrows for relations. */
function twinDrawing({ root, nodes, edges }: TwinGraph): Drawing {
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

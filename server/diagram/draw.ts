// From a drawing to its SVG: places from the layout, then lines and words.

import type { Drawing } from '../../lib/diagram/drawing.ts';
import { drawnSvg, type SvgOptions } from '../../lib/diagram/svg.ts';
import { elkGraph, placedBy } from './elk-graph.ts';
import type { Layout } from './layout.ts';

export interface DrawOptions extends SvgOptions {
  readonly layout: Layout;
}

/** The drawing as SVG. Rejects as {@link Layout.place} does. */
export async function drawSvg(drawing: Drawing, { layout, ...options }: DrawOptions): Promise<string> {
  return drawnSvg(placedBy(drawing, await layout.place(elkGraph(drawing))), options);
}

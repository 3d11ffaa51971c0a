// From a drawing to its SVG: places from the layout, then lines and words.

import type { Drawing } from '../../../lib/diagram/drawing.ts';
import { drawnSvg, type SvgOptions } from '../../../lib/diagram/svg.ts';
import { TwinlineError } from '../../../lib/errors.ts';
import { elkGraph, placedBy } from './elk-graph.ts';
import type { Layout } from './layout.ts';

export interface DrawOptions extends SvgOptions {
  readonly layout: Layout;
}

/** The drawing as SVG. Rejects as {@link Layout.place} does. */
export async function drawSvg(drawing: Drawing, { layout, ...options }: DrawOptions): Promise<string> {
  const laid = await layout.place(elkGraph(drawing, 'neat')).catch((error: unknown) => {
    if (!(error instanceof TwinlineError) || error.code !== 'ERR_INPUT') throw error;
    return layout.place(elkGraph(drawing, 'plain'));
  });
  return drawnSvg(placedBy(drawing, laid), options);
}

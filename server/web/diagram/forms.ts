// Output formats of a machine: SVG, Mermaid, and JSON for Stately's tools.

import { machineConfig } from '../../../lib/diagram/machine-drawing.ts';
import { mermaidText } from '../../../lib/diagram/mermaid.ts';
import { coverageOverlay } from '../../../lib/diagram/svg.ts';
import { makeView } from '../../../lib/diagram/view.ts';
import { isFlow } from '../../../lib/flow/run/compile.ts';
import type { Coverage } from '../../../lib/flow/testing/coverage.ts';
import { type Drawable, drawSvg, findDrawing, LIFECYCLES } from './drawings.ts';
import type { Layout } from './layout.ts';

export type FormName = 'svg' | 'mermaid' | 'xstate';

export interface DrawingRequest {
  readonly machine: string;
  /** Flows and machines by name, beside the lifecycles. */
  readonly drawables: ReadonlyMap<string, Drawable>;
  /** Center of a partial drawing. */
  readonly focus?: string | undefined;
  readonly coverage?: Coverage | undefined;
  readonly layout: Layout;
}

export interface DrawingText {
  readonly text: string;
  /** Set if the drawing is partial without `focus`. */
  readonly notice?: string;
}

interface DrawingForm {
  /** File name extension. */
  readonly ending: string;
  make(request: DrawingRequest): Promise<DrawingText>;
}

export const FORMS: { readonly [form in FormName]: DrawingForm } = {
  svg: {
    ending: '.svg',
    make: async ({ machine, drawables, focus, coverage, layout }) => {
      const whole = findDrawing(machine, drawables);
      const { drawing, focus: around } = makeView(whole, { focus, narrow: 'always' });
      const overlay = coverage ? coverageOverlay(whole, coverage) : {};
      const text = await drawSvg(drawing, { ...overlay, layout });
      if (around === undefined || focus !== undefined) return { text };
      const shown = `${drawing.states.length} of its ${whole.states.length} states are drawn, around "${around}"`;
      const others = '--focus <state> shows others; --mermaid and --xstate have all of them';
      return { text, notice: `${machine} is large: ${shown}. ${others}.` };
    },
  },
  mermaid: {
    ending: '.mmd',
    make: async ({ machine, drawables, focus }) => {
      const whole = findDrawing(machine, drawables);
      return { text: mermaidText(focus === undefined ? whole : makeView(whole, { focus, narrow: 'always' }).drawing) };
    },
  },
  xstate: {
    ending: '.machine.json',
    make: async ({ machine, drawables }) => {
      const found = drawables.get(machine);
      const source = found ? found.machine.source : LIFECYCLES[machine]!.machine();
      const config = found && isFlow(found) ? found.config : machineConfig(source);
      return { text: `${JSON.stringify(config, null, 2)}\n` };
    },
  },
};

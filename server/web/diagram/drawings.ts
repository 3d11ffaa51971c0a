// Diagrams of flows and lifecycles as SVG, cached until the machine changes.

import { LRUCache } from 'lru-cache';
import type { AnyStateMachine } from 'xstate';
import type { Drawing } from '../../../lib/diagram/drawing.ts';
import { flowDrawing } from '../../../lib/diagram/flow-drawing.ts';
import { machineDrawing } from '../../../lib/diagram/machine-drawing.ts';
import { renderSvg, type SvgOptions } from '../../../lib/diagram/svg.ts';
import { makeView, type ViewOptions } from '../../../lib/diagram/view.ts';
import type { Conversation } from '../../../lib/engine/conversation.ts';
import { TwinlineError } from '../../../lib/errors.ts';
import { suggest } from '../../../lib/flow/expression/suggest.ts';
import { isFlow } from '../../../lib/flow/run/compile.ts';
import { keepMade } from '../../../lib/retry.ts';
import { agentStream } from '../../../machines/agent-stream.ts';
import { delegationMachine } from '../../../machines/delegation.ts';
import { domainVerification } from '../../../machines/domain-verification.ts';
import { PAGE_LIMITS } from '../limits.ts';
import { elkGraph, readPlaces } from './elk-graph.ts';
import { type Layout, layout } from './layout.ts';

export interface Diagram {
  /** For a page that has `drawing.css` in its style sheet. */
  readonly svg: string;
  /** States of the machine, and how many of them the diagram shows. */
  readonly states: number;
  readonly shown: number;
  /** The state in the center of a partial diagram. */
  readonly focus?: string;
}

export interface Drawings {
  /** Of what is served, or else of a lifecycle. Rejects with ERR_NOT_FOUND for a machine that is not there, and as the layout does. */
  svg(machineId: string, view?: ViewOptions): Promise<Diagram>;
  /** Draws a machine that need not be served. */
  draw(machine: DrawnMachine, view?: ViewOptions): Promise<Diagram>;
  /** Ends the worker thread. */
  close(): Promise<void>;
}

export interface DrawnMachine {
  /** Unique name of this version of the machine. */
  readonly name: readonly string[];
  find(): Drawing | Promise<Drawing>;
}

/** A flow, or something else that has a machine. */
export type Drawable = Pick<Conversation, 'id'> & { readonly machine: Pick<Conversation['machine'], 'source'> };

export interface DrawingsOptions {
  /** What is served now, by its name. */
  served(): ReadonlyMap<string, Conversation>;
}

/** Draws on demand in a worker thread. Close it to end the thread. */
export function drawings({ served }: DrawingsOptions): Drawings {
  const worker = layout();
  const cache = new LRUCache<string, Promise<Diagram>>({ max: PAGE_LIMITS.diagramsKept });
  return {
    svg: (machineId, view = {}) => {
      const found = served().get(machineId);
      const name = [machineId, ...(found ? [`${found.version}:${found.hash}`] : [])];
      return drawOnce({ name, find: () => findDrawing(machineId, served()) }, view);
    },
    draw: (machine, view = {}) => drawOnce(machine, view),
    close: () => worker.close(),
  };

  function drawOnce({ name, find }: DrawnMachine, view: ViewOptions): Promise<Diagram> {
    const key = JSON.stringify([...name, view.focus, view.narrow]);
    return keepMade(cache, key, () => make(find, view));
  }

  async function make(find: DrawnMachine['find'], options: ViewOptions): Promise<Diagram> {
    const whole = await find();
    const { drawing, focus } = makeView(whole, options);
    const svg = await drawSvg(drawing, { layout: worker, dress: 'embedded' });
    const shown = drawing.states.length;
    return { svg, states: whole.states.length, shown, ...(focus !== undefined && { focus }) };
  }
}

/** The drawing of one of these, or else of a lifecycle. Throws ERR_NOT_FOUND with what there is. */
export function findDrawing(machineId: string, drawables: ReadonlyMap<string, Drawable>): Drawing {
  const found = drawables.get(machineId);
  if (found) return isFlow(found) ? flowDrawing(found) : machineDrawing(found.machine.source);
  const lifecycle = Object.hasOwn(LIFECYCLES, machineId) ? LIFECYCLES[machineId] : undefined;
  if (lifecycle) return machineDrawing(lifecycle.machine());
  const names = [...drawables.keys(), ...Object.keys(LIFECYCLES)];
  const words = `There is no machine "${machineId}".${suggest(machineId, names)}`;
  throw new TwinlineError('ERR_NOT_FOUND', `${words} There are: ${names.join(', ')}.`);
}

export interface DrawOptions extends SvgOptions {
  readonly layout: Layout;
}

/** The drawing as SVG. Rejects like {@link Layout.place}. */
export async function drawSvg(drawing: Drawing, { layout, ...options }: DrawOptions): Promise<string> {
  const laid = await layout.place(elkGraph(drawing, 'neat')).catch((error: unknown) => {
    if (!(error instanceof TwinlineError) || error.code !== 'ERR_INPUT') throw error;
    return layout.place(elkGraph(drawing, 'plain'));
  });
  return renderSvg(readPlaces(drawing, laid), options);
}

// Diagrams count no ballots.
const HANDS = { outcome: () => ({ kind: 'open' }) as const };

/** Lifecycles by name. */
export const LIFECYCLES: { readonly [name: string]: { readonly summary: string; machine(): AnyStateMachine } } = {
  'domain-verification': { summary: 'a proposal about a domain', machine: () => domainVerification(HANDS) },
  delegation: { summary: 'what a user lets the service do', machine: () => delegationMachine },
  'agent-stream': { summary: 'a run of an agent', machine: agentStream },
};

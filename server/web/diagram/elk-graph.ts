// Translates a drawing to the graph that elkjs lays out, and its result to positions.

import type { ElkExtendedEdge, ElkNode, LayoutOptions } from 'elkjs';
import { measureCard, measureLabel } from '../../../lib/diagram/card.ts';
import {
  type Box,
  type DiagramState,
  type Drawing,
  groupByParent,
  type Placed,
  type Point,
} from '../../../lib/diagram/drawing.ts';

const ROOT = 'root';

/**
 * `neat`: each state as close to the start as possible. `plain`: fewer features of elkjs, which has bugs where arrows cross
 * the border of a compound state.
 */
export type Manner = 'neat' | 'plain';

// Top to bottom; labels of arrows near their source.
const LAYERED: LayoutOptions = {
  'elk.algorithm': 'layered',
  'elk.direction': 'DOWN',
  'elk.edgeRouting': 'ORTHOGONAL',
  'elk.separateConnectedComponents': 'false',
  'elk.layered.layering.strategy': 'LONGEST_PATH_SOURCE',
  'elk.layered.edgeLabels.centerLabelPlacementStrategy': 'TAIL_LAYER',
  'elk.layered.nodePlacement.strategy': 'NETWORK_SIMPLEX',
  'elk.layered.nodePlacement.favorStraightEdges': 'true',
  'elk.layered.spacing.nodeNodeBetweenLayers': '34',
  'elk.layered.spacing.edgeNodeBetweenLayers': '16',
  'elk.layered.spacing.edgeEdgeBetweenLayers': '10',
  'elk.spacing.nodeNode': '30',
  'elk.spacing.edgeNode': '18',
  'elk.spacing.edgeEdge': '12',
  'elk.spacing.edgeLabel': '3',
  'elk.spacing.nodeSelfLoop': '14',
};

const MANNERS: { readonly [manner in Manner]: LayoutOptions } = {
  neat: {
    ...LAYERED,
    'elk.layered.cycleBreaking.strategy': 'MODEL_ORDER',
    'elk.layered.considerModelOrder.strategy': 'PREFER_NODES',
  },
  plain: { ...LAYERED, 'elk.layered.cycleBreaking.strategy': 'DEPTH_FIRST' },
};

// Straighter arrows would take three times as long.
const QUICK: LayoutOptions = { 'elk.layered.nodePlacement.strategy': 'BRANDES_KOEPF' };
const PLACED_STATES = 40;

const WHOLE: LayoutOptions = {
  'elk.padding': '[top=34,left=24,bottom=24,right=24]',
  'elk.json.shapeCoords': 'ROOT',
  'elk.json.edgeCoords': 'ROOT',
};
const HOLDER: LayoutOptions = { 'elk.padding': '[top=62,left=20,bottom=20,right=20]' };

/** Makes the graph of a drawing. */
export function elkGraph(drawing: Drawing, manner: Manner = 'neat'): ElkNode {
  const crosses = hasCrossing(drawing);
  const isLarge = drawing.states.length > PLACED_STATES;
  const options = { ...MANNERS[crosses ? 'plain' : manner], ...(isLarge && QUICK) };
  const children = groupByParent({ ...drawing, states: nearestFirst(drawing) });
  const targets = new Set(drawing.arrows.filter(({ from, to }) => from !== to).map(({ to }) => to));
  const node = (state: DiagramState): ElkNode => {
    const inside = children.get(state.id);
    if (inside) return { id: `s:${state.id}`, children: inside.map(node), layoutOptions: { ...options, ...HOLDER } };
    const { width, height } = measureCard(state);
    const layer = drawing.starts.has(state.id) ? 'FIRST' : targets.has(state.id) ? undefined : 'LAST';
    return {
      ...{ id: `s:${state.id}`, width, height },
      ...(layer && { layoutOptions: { 'elk.layered.layering.layerConstraint': layer } }),
    };
  };
  const edges = drawing.arrows.map((arrow, at): ElkExtendedEdge => {
    const { width, height, lines } = measureLabel(arrow);
    const label = { id: `l:${at}`, text: lines.join(' '), width, height };
    return { id: `a:${at}`, sources: [`s:${arrow.from}`], targets: [`s:${arrow.to}`], labels: [label] };
  });
  const hierarchyHandling = crosses ? 'INCLUDE_CHILDREN' : 'SEPARATE_CHILDREN';
  const layoutOptions = { ...options, ...WHOLE, 'elk.hierarchyHandling': hierarchyHandling };
  return { id: ROOT, layoutOptions, children: (children.get(undefined) ?? []).map(node), edges };
}

function hasCrossing({ states, arrows }: Drawing): boolean {
  const parents = new Map(states.map(({ id, parent }) => [id, parent]));
  return arrows.some(({ from, to }) => parents.get(from) !== parents.get(to));
}

/**
 * States in breadth-first order from the starts, those without outgoing arrows last. Arrows against this order are drawn
 * upwards.
 */
function nearestFirst({ states, arrows, starts }: Drawing): DiagramState[] {
  const next = new Map<string, string[]>();
  for (const { from, to } of arrows) if (from !== to) next.set(from, [...(next.get(from) ?? []), to]);
  const order = new Set(starts);
  for (const id of order) for (const to of next.get(id) ?? []) order.add(to);
  const places = new Map([...order].map((id, at) => [id, at]));
  const place = ({ id }: DiagramState) => (next.has(id) ? 0 : order.size + 1) + (places.get(id) ?? order.size);
  return [...states].sort((one, other) => place(one) - place(other));
}

/** Reads the positions from the result of elkjs. */
export function readPlaces(drawing: Drawing, graph: ElkNode): Placed {
  const boxes = new Map<string, Box>();
  const note = (node: ElkNode): void => {
    if (node.id !== ROOT) boxes.set(node.id.slice(2), makeBox(node));
    for (const child of node.children ?? []) note(child);
  };
  note(graph);
  const arrows = (graph.edges ?? []).map(({ sections = [], labels = [] }) => {
    const [section] = sections;
    const points: Point[] = section ? [section.startPoint, ...(section.bendPoints ?? []), section.endPoint] : [];
    return { points, label: makeBox(labels[0] ?? {}) };
  });
  return { drawing, width: graph.width ?? 0, height: graph.height ?? 0, boxes, arrows };
}

function makeBox({ x = 0, y = 0, width = 0, height = 0 }: Partial<Box>): Box {
  return { x, y, width, height };
}

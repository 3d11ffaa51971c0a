// Diagrams laid out for real: nothing lies on anything else, and no graph can hold up or hurt the process.

import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Box, type Drawing, groupArrows, type Placed } from '../../../lib/diagram/drawing.ts';
import { flowDrawing } from '../../../lib/diagram/flow-drawing.ts';
import { DIAGRAM_LIMITS } from '../../../lib/diagram/limits.ts';
import { machineDrawing } from '../../../lib/diagram/machine-drawing.ts';
import { renderSvg } from '../../../lib/diagram/svg.ts';
import { makeView } from '../../../lib/diagram/view.ts';
import { TwinlineError } from '../../../lib/errors.ts';
import { compileFlow } from '../../../lib/flow/run/compile.ts';
import { drawSvg, LIFECYCLES } from '../../../server/web/diagram/drawings.ts';
import { elkGraph, readPlaces } from '../../../server/web/diagram/elk-graph.ts';
import { type Layout, layout } from '../../../server/web/diagram/layout.ts';
import { PAGE_LIMITS } from '../../../server/web/limits.ts';
import { everything, largeFlow, shipped } from '../../diagram/machines.ts';
import { smallFlow } from '../../flow/lint-cases/walk.ts';
import { chooseSize, sample } from '../../support/size.ts';

const test = suite('diagram layout');

const RUNS = { numRuns: chooseSize({ short: 5, day: 15, whole: 15 }) };

let worker: Layout;
test.before(() => {
  worker = layout({ ms: 60_000 });
});
test.after(() => worker.close());

const place = async (drawing: Drawing): Promise<Placed> => readPlaces(drawing, await worker.place(elkGraph(drawing)));

const lieOver = (one: Box, other: Box): boolean =>
  one.x < other.x + other.width &&
  other.x < one.x + one.width &&
  one.y < other.y + other.height &&
  other.y < one.y + one.height;

/** What lies on something else: cards on cards of the same frame, labels on cards, what stands outside of its frame. */
function faults({ drawing, boxes, arrows }: Placed): string[] {
  const found: string[] = [];
  const holders = new Set(drawing.states.map(({ parent }) => parent));
  for (const [at, state] of drawing.states.entries()) {
    const box = boxes.get(state.id)!;
    for (const other of drawing.states.slice(at + 1))
      if (other.parent === state.parent && lieOver(box, boxes.get(other.id)!)) found.push(`${state.id} on ${other.id}`);
    if (!holders.has(state.id))
      for (const [index, { label }] of arrows.entries())
        if (lieOver(box, label)) found.push(`label ${index} on ${state.id}`);
    const frame = state.parent === undefined ? undefined : boxes.get(state.parent)!;
    if (
      frame &&
      !(
        box.x >= frame.x &&
        box.y >= frame.y &&
        box.x + box.width <= frame.x + frame.width &&
        box.y + box.height <= frame.y + frame.height
      )
    )
      found.push(`${state.id} out of ${state.parent}`);
  }
  for (const [index, { label }] of arrows.entries())
    for (const [other, { label: second }] of arrows.entries())
      if (other > index && lieOver(label, second)) found.push(`label ${index} on label ${other}`);
  return found;
}

const drawings = new Map([
  ...[...shipped, ['everything', everything] as const].map(([name, flow]) => [name, flowDrawing(flow)] as const),
  ...Object.entries(LIFECYCLES).map(([name, { machine }]) => [name, machineDrawing(machine())] as const),
]);

for (const [name, drawing] of sample([...drawings], 2))
  test(`${name}: no card lies on another, no label on a card, every arrow joins its states, the start is on top`, async () => {
    const placed = await place(drawing);
    assert.equal(faults(placed), []);
    for (const [at, { from, to }] of drawing.arrows.entries()) {
      const { points } = placed.arrows[at]!;
      assert.ok(points.length >= 2, `${from} → ${to} has a line`);
      assert.ok(isAtEdge(points[0]!, placed.boxes.get(from)!), `${from} → ${to} begins at ${from}`);
      assert.ok(isAtEdge(points.at(-1)!, placed.boxes.get(to)!), `${from} → ${to} ends at ${to}`);
    }
    const [start] = drawing.starts;
    const top = Math.min(...[...placed.boxes.values()].map(({ y }) => y));
    assert.ok(placed.boxes.get(start!)!.y - top < 1, `${start} is on top`);
    for (const { x, y, width, height } of placed.boxes.values())
      assert.ok(x >= 0 && y >= 0 && x + width <= placed.width && y + height <= placed.height);
  });

function isAtEdge({ x, y }: { x: number; y: number }, box: Box): boolean {
  const near = (one: number, other: number) => Math.abs(one - other) < 1.5;
  const isBeside = near(x, box.x) || near(x, box.x + box.width);
  const isAbove = near(y, box.y) || near(y, box.y + box.height);
  return (
    (isBeside && y >= box.y - 1 && y <= box.y + box.height + 1) ||
    (isAbove && x >= box.x - 1 && x <= box.x + box.width + 1)
  );
}

test('any small flow is drawn, and nothing lies on anything else', async () => {
  await fc.assert(
    fc.asyncProperty(smallFlow, async (flow) => {
      const placed = await place(flowDrawing(compileFlow(flow)));
      assert.equal(faults(placed), []);
      assert.match(renderSvg(placed), /<\/svg>\n$/);
    }),
    RUNS,
  );
});

test('any machine with states in states and arrows across them is drawn', async () => {
  const nested = fc
    .tuple(
      fc.array(fc.nat(5), { minLength: 2, maxLength: 14 }),
      fc.array(fc.tuple(fc.nat(13), fc.nat(13)), { maxLength: 30 }),
    )
    .map(([parents, pairs]) => nestedDrawing(parents, pairs));
  await fc.assert(
    fc.asyncProperty(nested, async (drawing) => {
      assert.match(await drawSvg(drawing, { layout: worker }), /<\/svg>\n$/);
    }),
    RUNS,
  );
});

/** `parents[i]`: the state that holds state i, when that is an earlier one. */
function nestedDrawing(parents: readonly number[], pairs: readonly (readonly [number, number])[]): Drawing {
  const ids: string[] = [];
  const states = parents.map((holder, at) => {
    const parent = holder < at ? ids[holder] : undefined;
    const id = parent === undefined ? `n${at}` : `${parent}.n${at}`;
    ids.push(id);
    const kind = 'state' as const;
    return { id, kind, title: `n${at}`, lines: [], chips: [], ...(parent !== undefined && { parent }) };
  });
  const known = pairs.filter(([from, to]) => from < ids.length && to < ids.length);
  const way = { event: 'E', label: 'E', role: 'on' } as const;
  const steps = known.map(([from, to]) => ({ ...way, from: ids[from]!, to: ids[to]! }));
  return { id: 'nested', title: 'Nested', states, arrows: groupArrows(steps), starts: new Set([ids[0]!]) };
}

test('of a thousand states a part is drawn, in a worker of the usual memory', async () => {
  const { drawing } = makeView(flowDrawing(largeFlow(1_000)), { focus: 's500' });
  assert.match(await drawSvg(drawing, { layout: worker }), /data-state="s500"/);
  assert.ok(drawing.states.length <= DIAGRAM_LIMITS.drawnStates);
});

async function refusal(work: Promise<unknown>): Promise<TwinlineError> {
  const error = await work.then(
    () => undefined,
    (error: unknown) => error,
  );
  assert.instance(error, TwinlineError);
  return error as TwinlineError;
}

const dense = elkGraph(flowDrawing(largeFlow(1_000, 12)));
const small = elkGraph(flowDrawing(shipped.get('assistant')!));

test('a layout that takes too long is given up, and the next graph gets a new worker', async () => {
  const short = layout({ ms: 300 });
  try {
    const [error, second] = await Promise.all([refusal(short.place(dense)), refusal(short.place(dense))]);
    assert.equal([error.code, second.code], ['ERR_TIMEOUT', 'ERR_TIMEOUT']);
    assert.match(error.message, /not laid out within 300 ms\. Show a part of it/);
  } finally {
    await short.close();
  }
});

test('a layout that takes too much memory ends its worker and not the process, and the next graph gets a new one', async () => {
  const tight = layout({ ms: 60_000, memoryMb: 24 });
  try {
    const error = await refusal(tight.place(dense));
    assert.is(error.code, 'ERR_INPUT', error.message);
    assert.match(error.message, /takes more than 24 MB/);
    assert.ok((await tight.place(small)).width! > 100);
  } finally {
    await tight.close();
  }
});

test('what elkjs cannot lay out is refused, and the worker goes on', async () => {
  const graph = { id: 'root', children: [], edges: [{ id: 'e', sources: ['nowhere'], targets: ['nowhere'] }] };
  const error = await refusal(worker.place(graph));
  assert.is(error.code, 'ERR_INPUT');
  assert.ok((await worker.place(small)).width! > 100);
});

test('only so many graphs wait, and closing refuses those that do', async () => {
  const busy = layout({ ms: 60_000 });
  const [one, ...rest] = [...Array(PAGE_LIMITS.layoutQueue + 2)].map((_, at) => busy.place(at === 0 ? dense : small));
  const all = [one!, ...rest].map(refusal);
  assert.is((await all.at(-1)!).code, 'ERR_BUSY');
  await busy.close();
  for (const error of await Promise.all(all.slice(0, -1))) assert.match(error.message, /closed/);
  assert.match((await refusal(busy.place(small))).message, /closed/);
});

test.run();

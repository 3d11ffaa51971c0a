// Parts of drawings that are too large: near their focus, within the limits, saying what they leave out.

import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Drawing, groupArrows } from '../../lib/diagram/drawing.ts';
import { flowDrawing } from '../../lib/diagram/flow-drawing.ts';
import { DIAGRAM_LIMITS } from '../../lib/diagram/limits.ts';
import { makeView } from '../../lib/diagram/view.ts';
import { everything, largeFlow, shipped } from './machines.ts';

const test = suite('diagram view');

/** States by number, arrows by the numbers of their ends. */
function drawingOf(count: number, pairs: readonly (readonly [number, number])[]): Drawing {
  const states = [...Array(count).keys()].map((at) => ({
    ...{ id: `s${at}`, kind: 'state' as const, title: `s${at}`, lines: [], chips: [] },
  }));
  const steps = pairs.map(([from, to]) => ({
    ...{ from: `s${from % count}`, to: `s${to % count}`, event: 'E', label: 'E', role: 'on' as const },
  }));
  return { id: 'any', title: 'Any', states, arrows: groupArrows(steps), starts: new Set(['s0']) };
}

const ids = ({ states }: Drawing) => states.map(({ id }) => id);

test('what is small enough is shown whole, also with a focus', () => {
  const drawing = flowDrawing(shipped.get('main')!);
  assert.equal(makeView(drawing), { drawing });
  assert.equal(makeView(drawing, { focus: 'help' }), { drawing });
});

test('two arrows around a focus, both ways, and how many arrows are not shown', () => {
  const drawing = drawingOf(7, [
    [0, 1],
    [1, 2],
    [2, 3],
    [3, 4],
    [4, 5],
    [5, 6],
  ]);
  const { drawing: part, focus } = makeView(drawing, { focus: 's3', narrow: 'always' });
  assert.is(focus, 's3');
  assert.equal(ids(part), ['s1', 's2', 's3', 's4', 's5']);
  assert.equal(
    part.states.filter(({ chips }) => chips.length).map(({ id, chips }) => `${id} ${chips[0]!.text}`),
    [...['s1 1 not shown', 's5 1 not shown']],
  );
  assert.equal(part.arrows.length, 4);
});

test('a focus on a state that holds others shows what it holds', () => {
  const { drawing, focus } = makeView(flowDrawing(everything), { focus: 'pay.', narrow: 'always' });
  assert.is(focus, 'pay.');
  assert.equal(ids(drawing), ['pay.', 'pay.amount', 'pay.send', 'pay.paid', 'pay.sorry']);
  const inner = makeView(flowDrawing(everything), { focus: 'pay.paid', narrow: 'always' });
  assert.equal(ids(inner.drawing).slice(0, 2), ['pay.', 'pay.amount'], 'with the state around it');
});

test('a thousand states show what is near the start, or near the focus; an unknown focus is none', () => {
  const whole = flowDrawing(largeFlow(1_000));
  for (const [focus, centre] of [
    [undefined, 's0'],
    ['s777', 's777'],
    ['nowhere', 's0'],
  ] as const) {
    const { drawing, focus: around } = makeView(whole, { focus });
    assert.is(around, centre);
    assert.ok(ids(drawing).includes(centre));
    assert.ok(drawing.states.length > 10 && drawing.states.length <= DIAGRAM_LIMITS.nearStates);
  }
});

test('any drawing: a part is within the limits, holds its focus, and its arrows have both ends', () => {
  const any = fc
    .tuple(fc.integer({ min: 1, max: 400 }), fc.integer({ min: 0, max: 3 }))
    .chain(([count, density]) =>
      fc.tuple(
        fc.constant(count),
        fc.array(fc.tuple(fc.nat(count * 7), fc.nat(density === 3 ? 2 : count * 5)), { maxLength: 1_500, size: 'max' }),
        fc.nat(count - 1),
      ),
    );
  fc.assert(
    fc.property(any, ([count, pairs, focus]) => {
      const whole = drawingOf(count, pairs);
      const { drawing, focus: around } = makeView(whole, { focus: `s${focus}`, narrow: 'always' });
      const shown = new Set(ids(drawing));
      assert.ok(shown.has(around!));
      assert.ok(shown.size <= DIAGRAM_LIMITS.nearStates);
      assert.ok(drawing.arrows.length <= DIAGRAM_LIMITS.nearArrows, `${drawing.arrows.length} arrows`);
      for (const { from, to } of drawing.arrows) assert.ok(shown.has(from) && shown.has(to));
    }),
    { numRuns: 30 },
  );
});

test.run();

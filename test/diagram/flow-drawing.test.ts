// Drawings of flows: nothing of a flow is missing, nothing is made up.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Drawing } from '../../lib/diagram/drawing.ts';
import { flowDrawing } from '../../lib/diagram/flow-drawing.ts';
import { type CompiledFlow, compileFlow } from '../../lib/flow/run/compile.ts';
import { listTargets } from '../../lib/flow/screens/kinds.ts';
import { flowOf, menuTo } from '../flow/phone.ts';
import { everything, nodesOf, shipped } from './machines.ts';

const test = suite('flow drawing');

const pair = (from: string, to: string) => `${from} → ${to}`;

/** Every way that the screens of a flow name, from their own JSON. */
function waysIn({ screens }: CompiledFlow): string[] {
  const ways = [...screens.values()].flatMap(({ path, screen, prefix }) => [
    ...listTargets(screen).map((to) => pair(path, prefix + to)),
    ...(screen.type === 'flow' ? [pair(path, `${screen.flow}.`)] : []),
  ]);
  return [...new Set(ways)].sort();
}

/** Every way that a drawing shows: arrows, and chips of failures. */
function waysDrawn({ arrows, states }: Drawing): string[] {
  const chips = states.flatMap(({ id, chips }) =>
    chips.filter(({ sign }) => sign === 'error').map(({ to }) => pair(id, to!)),
  );
  return [...new Set([...arrows.map(({ from, to }) => pair(from, to)), ...chips])].sort();
}

for (const [name, compiled] of [...shipped, ['everything', everything] as const])
  test(`${name}: every screen is a state, every way and call an arrow or a chip, and no more`, () => {
    const drawing = flowDrawing(compiled);
    const frames = new Set([...compiled.screens.values()].map(({ prefix }) => prefix));
    frames.delete('');
    assert.equal(drawing.states.map(({ id }) => id).sort(), [...compiled.screens.keys(), ...frames].sort());
    assert.equal(waysDrawn(drawing), waysIn(compiled));
    assert.is(new Set(drawing.arrows.map(({ from, to }) => pair(from, to))).size, drawing.arrows.length);
  });

test('every target of the compiled machine is reached by an arrow or a chip with that event', () => {
  const drawing = flowDrawing(everything);
  const told = new Set([
    ...drawing.arrows.flatMap(({ from, ways }) => ways.map(({ event }) => `${from} ${event}`)),
    ...drawing.states.flatMap(({ id, chips }) =>
      chips.flatMap(({ events = [] }) => events.map((one) => `${id} ${one}`)),
    ),
  ]);
  const nodes = nodesOf(everything.machine.source).filter(({ path }) => path.length > 0);
  const missing = nodes.flatMap(({ path, transitions, always = [] }) => {
    const id = path.join('.');
    const events = [...transitions.values()].flat().concat(always);
    const leading = events.filter(({ target, eventType }) => target && !eventType.startsWith('back.'));
    return leading.map(({ eventType }) => `${id} ${eventType || 'always'}`).filter((one) => !told.has(one));
  });
  const returns = [...everything.machine.source.root.transitions.keys()].filter((event) => event.startsWith('return.'));
  assert.is(returns.length, 2);
  missing.push(...returns.map((event) => `${event.slice('return.'.length)} ${event}`).filter((one) => !told.has(one)));
  assert.equal(missing, []);
  assert.ok(nodes.length > 10);
});

test('a failure is an arrow where nothing else leads to its screen, else a chip', () => {
  const { arrows, states } = flowDrawing(everything);
  const chips = states.find(({ id }) => id === 'asks')!.chips.filter(({ sign }) => sign === 'error');
  assert.equal(
    chips.map(({ text }) => text),
    ['which'],
  );
  const [lost] = arrows.filter(({ to }) => to === 'lost');
  assert.equal([lost?.from, lost?.ways[0]?.role, lost?.ways[0]?.label], ['asks', 'error', 'fail']);
});

test('a called flow is drawn once, in a frame with its start, to which each call leads', () => {
  const { states, starts, arrows } = flowDrawing(everything);
  const inside = states.filter(({ parent }) => parent === 'pay.').map(({ id }) => id);
  assert.equal(inside, ['pay.amount', 'pay.send', 'pay.paid', 'pay.sorry']);
  assert.equal([...starts].sort(), ['first', 'pay.amount']);
  assert.ok(states.findIndex(({ id }) => id === 'pay.') < states.findIndex(({ id }) => id === 'pay.amount'));
  const calls = arrows.filter(({ to }) => to === 'pay.').map(({ from }) => from);
  assert.equal(calls, ['pay', 'again']);
});

test('a card says which keys are its own and where a called flow ends the session, an arrow where an answer is refused', () => {
  const asks = { type: 'input', text: 'Code?', save: 'code', keys: { back: '#', home: false }, to: 'look' } as const;
  const look = {
    type: 'branch',
    branch: [
      { when: "code == '1'", to: 'done' },
      { to: 'ask', error: 'No.' },
    ],
  } as const;
  const screens = { ask: asks, look, done: { type: 'end', text: 'Bye', ends: true } } as const;
  const shop = flowOf(screens, { flow: 'shop', vars: { code: { type: 'string' } } });
  const main = flowOf({ a: { type: 'flow', flow: 'shop', done: 'b' }, b: { type: 'end', text: '' } });
  const { states, arrows } = flowDrawing(compileFlow(main, { flows: new Map([['shop', shop]]) }));
  const chips = (id: string) =>
    states.find((state) => state.id === id)!.chips.map(({ sign, text }) => `${sign}: ${text}`);
  assert.equal(chips('shop.ask'), ['key: back #, no home']);
  assert.equal(chips('shop.done'), ['ends: ends the session']);
  assert.equal(
    arrows.filter(({ from }) => from === 'shop.look').flatMap(({ ways }) => ways.map(({ label }) => label)),
    ["[code == '1']", 'refuses'],
  );
});

test('the exit leads to the screen that says goodbye, and there is none without a key', () => {
  const flow = { a: menuTo('a') };
  const withKey = flowDrawing(compileFlow(flowOf(flow, { keys: { exit: '*' } })));
  assert.equal(
    withKey.states.map(({ id }) => id),
    ['a', '$goodbye'],
  );
  assert.equal(withKey.states[1]!.chips, [{ sign: 'exit', text: 'from any screen', events: ['exit'] }]);
  const without = flowDrawing(compileFlow(flowOf(flow)));
  assert.equal(
    without.states.map(({ id }) => id),
    ['a'],
  );
});

test.run();

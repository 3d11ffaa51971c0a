// Drawings and JSON of machines: the lifecycles, and every construct that XState has.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type AnyStateMachine, type AnyStateNode, createMachine } from 'xstate';
import { machineConfig, machineDrawing } from '../../lib/diagram/machine-drawing.ts';
import { LIFECYCLES } from '../../server/web/diagram/drawings.ts';
import { everything, nodesOf, shipped } from './machines.ts';

const test = suite('machine drawing');

const machines = new Map(Object.entries(LIFECYCLES).map(([name, { machine }]) => [name, machine()]));

/** Every transition with a target, as `from event → to`, sorted. */
function leads(machine: AnyStateMachine): string[] {
  const nodes = nodesOf(machine);
  return nodes
    .flatMap((node) => {
      const transitions = [...(node.always ?? []), ...[...node.transitions.values()].flat()];
      return transitions.flatMap(({ eventType, target = [] }) =>
        (target as readonly AnyStateNode[]).map(
          (to) => `${node.path.join('.')} ${eventType || 'always'} → ${to.path.join('.')}`,
        ),
      );
    })
    .sort();
}

const states = (machine: AnyStateMachine) =>
  nodesOf(machine)
    .map(({ path }) => path.join('.'))
    .sort();

for (const [name, machine] of machines)
  test(`${name}: every state and every transition is drawn`, () => {
    const drawing = machineDrawing(machine);
    assert.equal(['', ...drawing.states.map(({ id }) => id)].sort(), states(machine));
    const drawn = drawing.arrows.flatMap(({ from, to, ways }) => ways.map(({ event }) => `${from} ${event} → ${to}`));
    assert.equal(drawn.sort(), leads(machine));
    assert.equal([...drawing.starts], [machine.root.initial.target![0]!.key]);
  });

const ODD = {
  id: 'odd',
  initial: 'a',
  on: { RESET: '.a', STOP: { target: '.end' } },
  states: {
    a: {
      initial: 'one',
      states: { one: { on: { GO: 'two', OUT: '#odd.b.left' } }, two: { type: 'final' } },
      onDone: 'b',
      after: { 1000: 'end' },
    },
    b: {
      type: 'parallel',
      states: {
        left: {
          initial: 'x',
          states: { x: { always: { guard: ({ context }: { context: unknown }) => !context, target: 'y' } }, y: {} },
        },
        right: { on: { TICK: { actions: [() => {}, 'beep'] } } },
      },
      on: { '*': 'a' },
    },
    end: { type: 'final' },
  },
};

test('nested, parallel and root transitions are drawn', () => {
  const { states, starts, arrows } = machineDrawing(createMachine(ODD as never));
  const one = (id: string) => states.find((state) => state.id === id)!;
  assert.is(one('a.one').parent, 'a');
  assert.is(one('b').kind, 'flow');
  assert.equal([...starts].sort(), ['a', 'a.one', 'b.left', 'b.left.x', 'b.right']);
  assert.ok(arrows.some(({ from, to }) => from === 'a.one' && to === 'b.left'));
  assert.equal(one('end').chips, [{ sign: 'exit', text: 'STOP from any state', to: 'end', events: ['STOP'] }]);
  assert.equal(
    one('a').chips.map(({ text }) => text),
    ['1000 ms', 'RESET from any state'],
  );
  assert.equal(one('b.right').lines, ['TICK']);
});

for (const [name, machine] of [...machines, ['odd', createMachine(ODD as never) as AnyStateMachine] as const])
  test(`${name}: its JSON makes a machine with the same states and targets`, () => {
    const json = JSON.stringify(machineConfig(machine));
    const again = createMachine(JSON.parse(json)) as AnyStateMachine;
    assert.is(again.id, machine.id);
    assert.equal(states(again), states(machine));
    assert.equal(leads(again), leads(machine));
  });

for (const [name, { config, machine }] of [...shipped, ['everything', everything] as const])
  test(`the JSON of the flow ${name} makes a machine with the same states and targets`, () => {
    const again = createMachine(JSON.parse(JSON.stringify(config))) as AnyStateMachine;
    assert.equal(states(again), states(machine.source));
    assert.equal(leads(again), leads(machine.source));
  });

test('actions and guards keep their names and parameters, and functions are none', () => {
  const config = machineConfig(machines.get('agent-stream')!) as {
    states: { running: { on: { END: unknown[] } } };
    context?: unknown;
  };
  const end = {
    guard: { type: 'endsAs', params: { status: 'finished' } },
    target: 'finished',
    actions: 'end',
  };
  assert.equal(config.states.running.on.END[0], end);
  assert.is(config.context, undefined);
  const odd = machineConfig(createMachine(ODD as never)) as {
    states: { b: { states: { right: { on: { TICK: unknown } } } } };
  };
  assert.equal(odd.states.b.states.right.on.TICK, { actions: [{ type: 'inline' }, 'beep'] });
});

test.run();

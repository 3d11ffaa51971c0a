// The engine against XState itself: an actor with real promises, persisted through JSON and restored for every turn.

import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type AnyActorRef, type AnyMachineSnapshot, createActor, fromPromise, type StateValue, waitFor } from 'xstate';
import { refusal } from '../../lib/engine/calls.ts';
import type { Reply } from '../../lib/engine/conversation.ts';
import type { TurnReport } from '../../lib/engine/engine.ts';
import { toPath } from '../../lib/engine/machine/state-path.ts';
import type { CompiledFlow } from '../../lib/flow/run/compile.ts';
import type { ScreenNode } from '../../lib/flow/run/scope.ts';
import type { JsonObject } from '../../lib/json/json.ts';
import { chooseSize } from '../support/size.ts';
import { marketFlow, marketServices } from './market.ts';
import { begin, KEY, place, say } from './support.ts';

const test = suite('differential');
const TURNS = chooseSize({ short: 800, day: 4_000, whole: 4_000 });

interface Where {
  readonly state: StateValue;
  readonly context: JsonObject;
  readonly reply: Reply;
}

/** The flow as an XState actor that lives for one turn at a time. */
function actorOf({ machine, read, render }: CompiledFlow) {
  const actors = Object.entries(marketServices).map(([name, service]) => [
    name,
    fromPromise(async ({ input }) => {
      const call = { signal: new AbortController().signal, idempotencyKey: '', session: { id: KEY } };
      return service(input as JsonObject, call).catch((error) => {
        const { error: plain } = refusal(error) as { error: object };
        throw plain;
      });
    }),
  ]);
  const real = machine.source.provide({ actors: Object.fromEntries(actors) });
  let kept = '';

  const turn = async (work: (actor: ReturnType<typeof restored>) => void): Promise<Where> => {
    const actor = restored();
    actor.start();
    work(actor);
    const rest = await waitFor(actor, isAtRest);
    kept = JSON.stringify(actor.getPersistedSnapshot());
    actor.stop();
    const { value, context } = JSON.parse(kept) as { value: StateValue; context: JsonObject };
    const reply = render({ state: value, context, waiting: false });
    return { state: value, context, reply: rest.status === 'done' ? { ...reply, kind: 'end' } : reply };
  };
  const restored = () => createActor(real, kept ? { snapshot: JSON.parse(kept) } : { input: {} });

  return {
    begin: () => {
      kept = '';
      return turn(() => {});
    },
    say: (input: string) =>
      turn((actor) => {
        const { value, context } = actor.getSnapshot() as AnyMachineSnapshot;
        const view = { state: value as StateValue, context: context as JsonObject, waiting: false };
        const event = read(view, input, () => '');
        if (event) actor.send(event);
      }),
  };
}

const isAtRest = ({ status, children }: AnyMachineSnapshot) =>
  status !== 'active' ||
  Object.values(children).every((child) => (child as AnyActorRef).getSnapshot().status !== 'active');

const odd = fc.constantFrom(
  'xstate.stop',
  'xstate.init',
  '*',
  '__proto__',
  'constructor',
  '💸',
  ' 1 ',
  '',
  'x'.repeat(10_000),
);
const input = fc.oneof(
  { weight: 12, arbitrary: fc.constantFrom('1', '1', '2', '3', '4', '5') },
  { weight: 4, arbitrary: fc.constantFrom('0', '00', '98', '9', '#') },
  { weight: 3, arbitrary: fc.constantFrom('7', '13', '20', 'hello', 'Tariro') },
  { weight: 1, arbitrary: odd },
  { weight: 1, arbitrary: fc.string({ maxLength: 8 }) },
);
const walk = fc.array(input, { minLength: 40, maxLength: 60 });

test(`in ${TURNS.toLocaleString('en')} random turns the engine and an XState actor are never at different places`, async () => {
  const flow = marketFlow();
  const actor = actorOf(flow);
  const events = new Set<string>();
  const states = new Set<string>();
  let turns = 0;
  const property = fc.asyncProperty(walk, async (inputs) => {
    const reports: TurnReport[] = [];
    const here = place(flow, { services: marketServices, onTurn: (report) => reports.push(report) });
    const engine = here.engine();
    let result = await begin(engine);
    let expected = await actor.begin();
    for (const typed of [...inputs, undefined]) {
      turns++;
      const { rest, ended } = reports.at(-1)!;
      assert.equal(result.kind === 'replied' && result.reply, expected.reply);
      assert.equal(rest.state, expected.state);
      assert.equal(rest.context, expected.context);
      assert.equal(JSON.parse(JSON.stringify(rest.context)), rest.context);
      if (!ended) assert.equal(here.record().rest, rest);
      states.add(toPath(rest.state));
      if (typed === undefined) break;
      [result, expected] = ended
        ? [await begin(engine), await actor.begin()]
        : [await say(engine, typed), await actor.say(typed)];
    }
    for (const type of reports.flatMap((report) => report.events)) events.add(type);
  });
  await fc.assert(property, { numRuns: Math.ceil(TURNS / 40) });
  assert.ok(turns >= TURNS, `${turns} turns`);
  // The walks have seen the whole flow, and no event that is not of its alphabet.
  const isRest = ({ screen: { type }, path }: ScreenNode) =>
    !['call', 'branch', 'flow'].includes(type) && !(type === 'end' && path.includes('.'));
  const rests = [...flow.screens.values()].filter(isRest).map((node) => node.path);
  assert.equal([...states].sort(), rests.sort());
  const alphabet = new Set<string>([...flow.machine.source.events]);
  assert.equal(
    [...events].filter((type) => !alphabet.has(type)),
    [],
  );
  assert.ok(events.size > 15, [...events].join(' '));
});

test.run();

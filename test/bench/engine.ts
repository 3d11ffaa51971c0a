// The engine's step against what it replaces: an XState actor restored for every turn, and a reducer written by hand.

import { createActor } from 'xstate';
import { compileFlow } from '../../lib/flow/run/compile.ts';
import { menuFlow } from './flows.ts';
import { measure, type Row, us } from './measure.ts';

const WALK = ['opt.go0', 'opt.go1', 'opt.go2', 'invalid', 'opt.go3', 'opt.go4'];
// The back stack stays short when callers go home, and is full (20 screens, most of the record) when they never do.
const DEEP = WALK.map((type) => ({ type }));
const SHORT = [...DEEP, { type: 'home' }];
type Events = readonly { readonly type: string }[];

export async function engineRows(): Promise<Row[]> {
  return [...(await rowsFor(SHORT, 'six turns, then home')), ...(await rowsFor(DEEP, 'back stack full'))];
}

async function rowsFor(events: Events, walk: string): Promise<Row[]> {
  const flow = compileFlow(menuFlow(100));
  const cases = [engineStep(flow, events), restoredActor(flow, events), handWritten(events)];
  const [step, actor, reducer] = await measure(cases, { count: 20_000, rounds: 21 });
  return [
    {
      what: `engine step (resume, transition, rest as JSON) against an XState actor restored per turn; ${walk}`,
      measured: `${us(step!.cpuUs)} · ${us(actor!.cpuUs)}`,
      ratio: actor!.cpuUs / step!.cpuUs,
      target: { atLeast: 3 },
    },
    {
      what: `engine step against a reducer written by hand for this menu, with the same JSON; ${walk}`,
      measured: `${us(step!.cpuUs)} · ${us(reducer!.cpuUs)}`,
      ratio: step!.cpuUs / reducer!.cpuUs,
      target: undefined,
    },
  ];
}

type Compiled = ReturnType<typeof compileFlow>;

function engineStep({ machine }: Compiled, events: Events) {
  let text = JSON.stringify(machine.rest(machine.begin({}).live));
  const run = (count: number) => {
    for (let at = 0; at < count; at++) {
      const live = machine.resume(JSON.parse(text));
      text = JSON.stringify(machine.rest(machine.step(live, events[at % events.length]!).live));
    }
  };
  return { name: 'engine step', run };
}

function restoredActor({ machine }: Compiled, events: Events) {
  let text = JSON.stringify(createActor(machine.source, { input: {} }).start().getPersistedSnapshot());
  const run = (count: number) => {
    for (let at = 0; at < count; at++) {
      const actor = createActor(machine.source, { snapshot: JSON.parse(text) }).start();
      actor.send(events[at % events.length]!);
      text = JSON.stringify(actor.getPersistedSnapshot());
      actor.stop();
    }
  };
  return { name: 'actor restored per turn', run };
}

interface Hand {
  state: number;
  context: { visits: number; stack: number[]; page: number; bad: number };
}

function handWritten(events: Events) {
  const steps = [1, 7, 31, 97, 211];
  let text = JSON.stringify({ state: 0, context: { visits: 0, stack: [], page: 0, bad: 0 } } satisfies Hand);
  const next = ({ state, context }: Hand, type: string): Hand => {
    if (type === 'home') return { state: 0, context: { ...context, stack: [], page: 0, bad: 0 } };
    const option = type.startsWith('opt.go') ? Number(type[6]) : -1;
    if (option < 0) return { state, context: { ...context, bad: Math.min(context.bad + 1, 99) } };
    const visits = option === 0 ? context.visits + 1 : context.visits;
    const stack = [...context.stack, state].slice(-20);
    return { state: (state + steps[option]!) % 100, context: { visits, stack, page: 0, bad: 0 } };
  };
  const run = (count: number) => {
    for (let at = 0; at < count; at++)
      text = JSON.stringify(next(JSON.parse(text) as Hand, events[at % events.length]!.type));
  };
  return { name: 'reducer written by hand', run };
}

/** Compile time from 500 to 5,000 screens: 10 times the screens, how many times the time. */
export async function compileRows(): Promise<Row[]> {
  const flows = [menuFlow(500), menuFlow(5_000)];
  const compile = (flow: (typeof flows)[number]) => ({ name: flow.flow, run: () => void compileFlow(flow) });
  const [small, large] = await measure(flows.map(compile), { rounds: 11, count: 1 });
  return [
    {
      what: 'compile 5,000 screens against 10 × 500 screens',
      measured: `${us(large!.cpuUs)} · ${us(small!.cpuUs * 10)}`,
      ratio: large!.cpuUs / (small!.cpuUs * 10),
      target: { atMost: 1.5 },
    },
  ];
}

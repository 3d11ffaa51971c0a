// The engine's step against what it replaces: an XState actor restored for every turn.

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
  const cases = [engineStep(flow, events), restoredActor(flow, events)];
  const [step, actor] = await measure(cases, { count: 20_000, rounds: 21 });
  return [
    {
      what: `engine step (resume, transition, rest as JSON) against an XState actor restored per turn; ${walk}`,
      measured: `${us(step!.cpuUs)} · ${us(actor!.cpuUs)}`,
      ratio: actor!.cpuUs / step!.cpuUs,
      target: { atLeast: 3 },
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

/** Compile time from 500 to 5,000 screens: 10 times the screens, how many times the time. */
export async function compileRows(): Promise<Row[]> {
  const flows = [menuFlow(500), menuFlow(5_000)];
  const compile = (flow: (typeof flows)[number]) => ({ name: flow.flow, run: () => void compileFlow(flow).machine });
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

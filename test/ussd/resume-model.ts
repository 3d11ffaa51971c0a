// Dialogues that are cut and go on, against the same dialogue without a cut: every screen and every call of a service is the same. Two
// engines on one store take turns, and callers hang up with and without a word of the telecom, also while a call goes on.

import * as assert from 'uvu/assert';
import { createEngine, type Engine } from '../../lib/engine/engine.ts';
import { toPath } from '../../lib/engine/machine/state-path.ts';
import type { CallerMemory } from '../../lib/engine/memory/memory.ts';
import type { Service } from '../../lib/engine/service.ts';
import { type Decision, takeTurn } from '../../lib/engine/session/turn.ts';
import { viewSession } from '../../lib/engine/sessions.ts';
import { TwinlineError } from '../../lib/errors.ts';
import type { CompiledFlow } from '../../lib/flow/run/compile.ts';
import { asksForSecret } from '../../lib/flow/run/scope.ts';
import { listServiceUses } from '../../lib/flow/screens/kinds.ts';
import type { DrivenClock } from '../../lib/flow/testing/session.ts';
import type { Json } from '../../lib/json/json.ts';
import type { Keyring } from '../../lib/keyring.ts';
import type { SnapshotStore } from '../../lib/store/store.ts';
import { hangUp } from '../../lib/ussd/hang-up.ts';

const QUESTION = 'continue Continue where you stopped?\n1. Continue\n2. Start again';
const WAIT = 'continue Please wait.\n1. Continue';
const PHONE = '+260971234567';
const ENDED = {
  ...{ sessionId: '', serviceCode: '', text: '' },
  phoneNumber: PHONE,
  event: 'end',
  mode: 'latest',
} as const;

export interface ResumeGround {
  readonly clock: DrivenClock;
  readonly keyring: Keyring;
  readonly open: () => { readonly store: SnapshotStore; readonly memory: CallerMemory };
  readonly random: () => number;
}

type Answer = (service: string, count: number) => { readonly output: Json; readonly ms: number } | 'fails';

interface Line {
  /** One turn, and what its caller reads after all waiting; `isCut`: they may hang up while a call goes on. */
  turn(decision: Decision, isCut?: boolean): Promise<string>;
  readonly calls: string[];
  /** How often a caller hung up while a call went on. */
  readonly counts: { waiting: number };
  /** The next turns are those of another engine and another session. */
  redial(): Promise<string>;
  readonly screen: () => Promise<string | undefined>;
}

function openLine(flow: CompiledFlow, ground: ResumeGround, answer: Answer): Line {
  const { clock, keyring, open, random } = ground;
  const { store, memory } = open();
  const calls: string[] = [];
  const serve =
    (name: string): Service =>
    async (input) => {
      const outcome = answer(name, calls.length);
      calls.push(`${name} ${JSON.stringify(input)}`);
      if (outcome === 'fails') throw new TwinlineError('ERR_SERVICE', 'no');
      if (outcome.ms) await clock.wait(outcome.ms);
      return outcome.output;
    };
  const uses = [...flow.screens.values()].flatMap(({ screen }) => listServiceUses(screen));
  const services = Object.fromEntries(uses.map(({ service }) => [service, serve(service)]));
  const start = (): Engine => createEngine({ store, clock, keyring, memory, services, conversations: [flow] });
  const engines = [start(), start()] as const;
  let dials = 0;
  const counts = { waiting: 0 };
  const nameSession = () => `s${dials}`;
  const takeOne = async (decision: Decision): Promise<string> => {
    const engine = engines[dials % 2]!;
    const result = await clock.drive(takeTurn(engine, { key: nameSession(), decide: () => decision }));
    assert.is(result.kind, 'replied', JSON.stringify(result));
    return `${result.reply!.kind} ${result.reply!.text}`;
  };
  const redial = async (): Promise<string> => {
    if (random() < 0.5) await hangUp(engines[dials % 2]!, nameSession(), ENDED);
    dials++;
    return takeOne(dial(flow));
  };
  const take = async (decision: Decision, isCut = false): Promise<string> => {
    let reply = await takeOne(decision);
    for (let tries = 0; reply === WAIT && tries < 20; tries++) {
      // The call goes on without its caller.
      if (isCut && random() < 0.5) {
        assert.ok((await redial()).startsWith(QUESTION), 'a call goes on');
        counts.waiting++;
      }
      reply = await takeOne({ kind: 'input', input: '1' });
    }
    return reply;
  };
  return {
    calls,
    counts,
    turn: take,
    redial,
    screen: async () => {
      const view = await viewSession(engines[dials % 2]!, nameSession());
      return view && !view.ended ? toPath(view.rest.state) : undefined;
    },
  };
}

const dial = ({ id }: CompiledFlow): Decision => {
  const door = { phoneNumber: PHONE, serviceCode: '*1#' };
  return { kind: 'begin', conversation: id, door, input: { sessionId: 's', phoneNumber: PHONE } };
};

interface Cuts {
  /** How often a dialogue went on after a cut; and of these, how often it was cut while a call went on. */
  readonly resumed: number;
  readonly waiting: number;
}

/** Throws where they differ. */
export async function compareCuts(
  flow: CompiledFlow,
  ground: ResumeGround,
  { turns, answer, inputs }: { readonly turns: number; readonly answer: Answer; readonly inputs: readonly string[] },
): Promise<Cuts> {
  const { random } = ground;
  const [whole, cut] = [openLine(flow, ground, answer), openLine(flow, ground, answer)];
  let shown = await whole.turn(dial(flow));
  assert.is(await cut.turn(dial(flow)), shown);
  let [resumed, secrets] = [0, 0];
  const typed: string[] = [];
  for (let turn = 0; turn < turns; turn++) {
    const input = inputs[Math.floor(random() * inputs.length)]!;
    const where = await whole.screen();
    if (asksForSecret(where === undefined ? undefined : flow.screens.get(where))) secrets++;
    typed.push(input);
    shown = await whole.turn({ kind: 'input', input });
    assert.is(await cut.turn({ kind: 'input', input }, !secrets), shown, `${flow.id}: ${typed.join(', ')}`);
    if (shown.startsWith('end ')) break;
    if (random() < 0.5) continue;
    // Past a secret it begins anew.
    if (secrets) break;
    const reply = await cut.redial();
    assert.ok(reply.startsWith(QUESTION), `${flow.id}: ${typed.join(', ')}, redialled: ${reply}`);
    // Cut at the question, too.
    if (random() < 0.3) assert.is(await cut.redial(), reply);
    assert.is(await cut.turn({ kind: 'input', input: '1' }), shown, `${flow.id}: ${typed.join(', ')}, continued`);
    resumed++;
  }
  assert.equal(cut.calls, whole.calls, `${flow.id}: ${typed.join(', ')}`);
  const { waiting } = cut.counts;
  return { resumed: resumed + waiting, waiting };
}

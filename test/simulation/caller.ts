// A caller and the network before him: types, waits, asks again, and gets copies of old answers.

import type { TurnResult } from '../../lib/engine/session/turn.ts';
import type { UssdRequest } from '../../lib/ussd/request.ts';
import type { Instance } from './instance.ts';
import { WAIT } from './machine.ts';
import type { Options } from './options.ts';
import type { Random } from './random.ts';
import type { Faulty } from './store.ts';

export interface Caller {
  readonly session: string;
  readonly inputs: readonly string[];
  readonly lastText: string;
  readonly isDone: boolean;
}

export interface Line extends Faulty {
  readonly options: Options;
  /** A living process; undefined while the one that was chosen is starting. */
  readonly anyInstance: () => Instance | undefined;
}

const COPIES_MAX = 3;
const LOOKS_MAX = 60;

/** Lets one caller dial and type `options.turns` inputs, one after the other. */
export function startCaller(session: string, line: Line): Caller {
  const { world, tally, watch, faults, options, anyInstance } = line;
  const { random } = world;
  const script = scriptOf(random, options.turns);
  const inputs: string[] = [];
  const caller = { session, inputs, lastText: '', isDone: false };
  let turn = 0;
  let isAnswered = false;
  let looks = 0;
  /** Copies of the dial that a process may still take. */
  let dials = 0;
  const count = (at: number, by: number) => {
    if (at === 0) dials += by;
  };

  const request = (): UssdRequest => {
    const common = { sessionId: session, serviceCode: '*123#', phoneNumber: '+260971234567', event: 'turn' } as const;
    if (!options.numbered) return { ...common, mode: 'cumulative', text: inputs.join('*') };
    return { ...common, mode: 'latest', text: inputs.at(-1) ?? '', fresh: turn === 0, turnId: String(turn) };
  };

  const travel = () => {
    if (!random.chance(faults().delay)) return 1 + random.below(15);
    tally.late++;
    return random.below(10_000);
  };

  const sendCopy = (sent: UssdRequest, at: number) => {
    if (random.chance(faults().lostRequest)) {
      tally.lostRequests++;
      return;
    }
    count(at, 1);
    world.after(travel(), () => {
      const instance = anyInstance();
      if (!instance) {
        count(at, -1);
        return;
      }
      world.note(session, `${instance.name}: takes turn ${at} "${sent.text}"`);
      const over = (answer: TurnResult | Error) => {
        count(at, -1);
        reply(answer, at);
      };
      watchCrash(instance, () => count(at, -1), instance.take(sent).then(over, over));
    });
  };

  const reply = (answer: TurnResult | Error, at: number) => {
    if (random.chance(faults().lostReply)) {
      tally.lostReplies++;
      return;
    }
    world.after(travel(), () => receive(answer, at));
  };

  const receive = (answer: TurnResult | Error, at: number) => {
    if (answer instanceof Error) {
      const { code } = answer as Error & { code?: string };
      world.note(session, `is told ${code} of turn ${at}`);
      if (!code || !PASSING.has(code)) watch.failed(session, `turn ${at} failed: ${answer.stack}`);
      return;
    }
    if (answer.kind !== 'replied') {
      watch.failed(session, `turn ${at} was ${answer.kind}: ${answer.reason}`);
      return;
    }
    const { kind, text } = answer.reply;
    world.note(session, `is answered ${kind} "${text}" to turn ${at}`);
    watch.answered({ session, turn: at, kind, text, inputs, isLatest: at === turn });
    if (at !== turn || isAnswered) return;
    isAnswered = true;
    caller.lastText = text;
    world.after(random.below(400), next);
  };

  const next = () => {
    if (dials > 0 && isQuietNeeded()) {
      world.after(500, next);
      return;
    }
    const isWaiting = caller.lastText.endsWith(`:${WAIT}`);
    const letter = isWaiting ? 'w' : script.shift();
    if (letter === undefined || (isWaiting && ++looks > LOOKS_MAX)) {
      caller.isDone = !isWaiting;
      return;
    }
    turn++;
    inputs.push(letter + turn);
    isAnswered = false;
    tally.turns++;
    send();
  };

  // What no protocol can know: a copy of the dial that comes later is a new dial under an id that is used again; where
  // texts hold the whole history, only after the end.
  const isQuietNeeded = () => options.numbered > 0 || script[0] === 'q';

  const send = () => {
    const sent = request();
    const at = turn;
    const copies = random.chance(faults().duplicate) ? 2 + random.below(COPIES_MAX - 1) : 1;
    tally.duplicates += copies - 1;
    for (let copy = 0; copy < copies; copy++) sendCopy(sent, at);
    world.after(2_000 + random.below(4_000), () => {
      if (at !== turn || isAnswered) return;
      tally.retries++;
      send();
    });
  };

  world.after(random.below(50), send);
  return caller;
}

const PASSING: ReadonlySet<string> = new Set(['ERR_STORE', 'ERR_CONFLICT', 'ERR_BUSY']);

// More calls and timers than in life, and an end in some.
function scriptOf(random: Random, turns: number): string[] {
  const letters = 'aappdstt';
  const script = Array.from({ length: turns }, () => letters[random.below(letters.length)]!);
  if (random.chance(0.3)) script.push('q');
  return script;
}

function watchCrash(instance: Instance, lost: () => void, done: Promise<unknown>): void {
  let isOver = false;
  void done.finally(() => {
    isOver = true;
  });
  instance.onCrash.push(() => {
    if (!isOver) lost();
  });
}

// The conversation that is simulated: it writes down every input that it took, so none can be lost or doubled unseen.
//
//   a  adds            t  sets a timer, which ticks once         q  ends
//   p  pays: a call    d  pays, then has it delivered: two calls
//   s  pays with a secret, and gives up after a while            w  looks: changes nothing
//
// A call that failed is written down as x, one that was given up as g.

import { assign, createMachine, type EventObject, raise } from 'xstate';
import type { Conversation } from '../../lib/engine/conversation.ts';
import { compileMachine } from '../../lib/engine/machine/transition.ts';

export type Context = {
  readonly id: string;
  /** The input that is being worked on, `p2`. */
  readonly token: string;
  readonly log: readonly string[];
  readonly ticks: readonly string[];
};

type Args = { context: Context; event: { token: string } };

/** Letters that an input may be written down as; the first is success. */
export const OUTCOMES: { readonly [letter: string]: string } = { a: 'a', t: 't', q: 'q', p: 'px', d: 'dx', s: 'sxg' };

const TIMER_MS = 700;
const GIVE_UP_MS = 2_600;
export const CALL = { timeoutMs: 1_500, retries: 1 } as const;

// biome-ignore lint/suspicious/noExplicitAny: XState would have the types of a machine that is not written yet
const change = (to: (args: Args) => Partial<Context>) => assign(to as any) as any;
const begun = change(({ event }) => ({ token: event.token }));
const taken = change(({ context, event }) => ({ log: [...context.log, event.token] }));
const ticked = change(({ context, event }) => ({ ticks: [...context.ticks, event.token] }));
const written = (letter: string) =>
  change(({ context }) => ({ log: [...context.log, letter + context.token.slice(1)] }));
const tick = ({ event }: Args): EventObject & { token: string } => ({ type: 'tick', token: event.token });
const input = ({ context }: Args) => ({ id: context.id, token: context.token });
const call = (id: string, onDone: unknown) => ({
  invoke: { id, src: id, input, onDone, onError: { target: 'open', actions: written('x') } },
});
const doneAs = (letter: string) => ({ target: 'open', actions: written(letter) });
const open = (target: string) => ({ target, actions: begun });

const machine = compileMachine(
  createMachine({
    id: 'simulated',
    initial: 'open',
    context: ({ input }: { input: { sessionId: string } }) => ({ id: input.sessionId, token: '', log: [], ticks: [] }),
    on: { tick: { actions: ticked } },
    states: {
      open: {
        on: {
          a: { actions: taken },
          t: { actions: [taken, raise(tick as never, { delay: TIMER_MS })] },
          p: open('paying'),
          d: open('ordering'),
          s: open('proving'),
          q: { target: 'over', actions: taken },
        },
      },
      paying: call('charge', doneAs('p')),
      ordering: call('order', 'delivering'),
      delivering: call('deliver', doneAs('d')),
      proving: { ...call('prove', doneAs('s')), after: { [GIVE_UP_MS]: doneAs('g') } },
      over: { type: 'final' },
    },
  } as never),
);

export const WAIT = 'wait';

export const conversation: Conversation = {
  id: 'simulated',
  version: 1,
  hash: '',
  machine,
  read: (view, input) => {
    const token = String(input);
    return view.waiting || !Object.hasOwn(OUTCOMES, token.charAt(0))
      ? undefined
      : ({ type: token.charAt(0), token } as { type: string });
  },
  render: ({ context }) => ({ kind: 'continue', text: `${context.id}:${(context as Context).log.join(',')}` }),
  waitText: ({ context }) => `${context.id}:${WAIT}`,
  redact: (context) => context,
  callPolicy: (id) => ({ ...CALL, secret: id === 'prove' }),
};

/** The services that its states call. */
export const SERVICES = ['charge', 'order', 'deliver', 'prove'] as const;

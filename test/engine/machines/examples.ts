// biome-ignore-all lint/suspicious/noExplicitAny: the machines are as various as their types
// Machines as people write them, one for each thing that XState is used for, with what happens to them.

import {
  type AnyStateMachine,
  and,
  assign,
  cancel,
  createMachine,
  emit,
  enqueueActions,
  not,
  or,
  raise,
  sendTo,
  stateIn,
} from 'xstate';
import type { ScriptStep } from '../oracle/generate.ts';

interface Example {
  readonly machine: AnyStateMachine;
  readonly script: readonly ScriptStep[];
}

type Step = string | number;

const example = (config: any, steps: readonly Step[], implementations: any = {}): Example => ({
  machine: createMachine(config, implementations) as AnyStateMachine,
  script: steps.map((step) => (typeof step === 'number' ? { ms: step } : { ms: 0, event: { type: step, v: 1 } })),
});
type C = { readonly context: { readonly [name: string]: number } };
const add = (name: string, by = 1) => assign(({ context }: C) => ({ [name]: context[name]! + by }) as never);

export const EXAMPLES: { readonly [name: string]: Example } = {
  'a switch that counts': example(
    {
      id: 'switch',
      initial: 'off',
      context: { times: 0 },
      states: { off: { on: { PRESS: { target: 'on', actions: add('times') } } }, on: { on: { PRESS: 'off' } } },
    },
    ['PRESS', 'PRESS', 'OTHER', 'PRESS'],
  ),
  'traffic lights with a pedestrian inside red': example(
    {
      id: 'lights',
      initial: 'green',
      states: {
        green: { after: { 300: 'yellow' } },
        yellow: { after: { 100: 'red' } },
        red: {
          initial: 'walk',
          states: { walk: { after: { 100: 'hurry' } }, hurry: { after: { 50: 'stop' } }, stop: { type: 'final' } },
          onDone: 'green',
        },
        broken: {},
      },
      on: { FAIL: '.broken' },
    },
    [310, 95, 120, 60, 1000, 'FAIL', 500],
  ),
  'a text editor with regions': example(
    {
      id: 'editor',
      type: 'parallel',
      states: {
        bold: { initial: 'off', states: { off: { on: { BOLD: 'on' } }, on: { on: { BOLD: 'off' } } } },
        list: {
          initial: 'none',
          states: { none: { on: { LIST: 'dots' } }, dots: { on: { LIST: 'numbers', CLEAR: 'none' } }, numbers: {} },
        },
      },
      on: { CLEAR: { target: ['.bold.off', '.list.none'] } },
    },
    ['BOLD', 'LIST', 'LIST', 'CLEAR', 'BOLD'],
  ),
  'a player that remembers where it was': example(
    {
      id: 'player',
      initial: 'on',
      states: {
        on: {
          type: 'parallel',
          states: {
            past: { history: 'deep' },
            sound: { initial: 'loud', states: { loud: { on: { MUTE: 'mute' } }, mute: { on: { MUTE: 'loud' } } } },
            track: { initial: 'one', states: { one: { on: { NEXT: 'two' } }, two: { on: { NEXT: 'one' } } } },
          },
          on: { POWER: 'off' },
        },
        off: { on: { POWER: 'on.past' } },
      },
    },
    ['POWER', 'POWER', 'MUTE', 'NEXT', 'POWER', 'POWER', 'NEXT'],
  ),
  'a wizard that goes back to its last page': example(
    {
      id: 'wizard',
      initial: 'pages',
      states: {
        pages: {
          initial: 'name',
          states: { name: { on: { NEXT: 'address' } }, address: { on: { NEXT: '#paid' } }, last: { history: true } },
          on: { HELP: 'help' },
        },
        help: { on: { BACK: 'pages.last' } },
        paid: { id: 'paid', type: 'final' },
      },
      output: { done: true },
    },
    ['NEXT', 'HELP', 'BACK', 'NEXT'],
  ),
  'a fetch that is tried again, or left': example(
    {
      id: 'fetch',
      initial: 'idle',
      context: { tries: 0 },
      states: {
        idle: { on: { FETCH: 'loading' } },
        loading: {
          entry: add('tries'),
          invoke: { src: 'bad', onDone: 'done', onError: 'failed' },
          on: { CANCEL: 'idle' },
        },
        failed: {
          after: { backoff: { guard: ({ context }: C) => context.tries! < 3, target: 'loading' } },
          on: { RETRY: 'loading' },
        },
        done: { type: 'final' },
      },
    },
    ['FETCH', 5, 'CANCEL', 50, 'FETCH', 20, 500, 'RETRY', 3],
    { delays: { backoff: ({ context }: C) => 50 * context.tries! } },
  ),
  'three answers that come in any order': example(
    {
      id: 'bureaus',
      initial: 'asking',
      context: { sum: 0 },
      states: {
        asking: {
          type: 'parallel',
          states: Object.fromEntries(
            ['quick', 'slow', 'bad'].map((src) => [
              src,
              {
                initial: 'open',
                states: {
                  open: {
                    invoke: { src, input: { n: 1 }, onDone: { target: 'end', actions: add('sum') }, onError: 'end' },
                  },
                  end: { type: 'final' },
                },
              },
            ]),
          ),
          onDone: 'known',
        },
        known: {},
      },
    },
    [10, 10, 200],
  ),
  'a debounce': example(
    {
      id: 'search',
      initial: 'idle',
      context: { n: 0 },
      states: {
        idle: { on: { TYPE: 'typing' } },
        typing: {
          on: { TYPE: { target: 'typing', reenter: true } },
          after: { 200: { target: 'idle', actions: add('n') } },
        },
      },
    },
    ['TYPE', 150, 'TYPE', 150, 'TYPE', 250, 'TYPE', 300],
  ),
  'a stopwatch': example(
    {
      id: 'stopwatch',
      initial: 'stopped',
      context: { ticks: 0 },
      states: {
        stopped: { on: { START: 'running', RESET: { actions: assign({ ticks: 0 }) } } },
        running: {
          after: { 10: { target: 'running', reenter: true, actions: add('ticks') } },
          on: { STOP: 'stopped' },
        },
      },
    },
    ['START', 95, 300, 'STOP', 50, 'START', 25, 'STOP', 'RESET'],
  ),
  'an admission by conditions': example(
    {
      id: 'admission',
      type: 'parallel',
      states: {
        form: { initial: 'open', states: { open: { on: { SIGN: 'signed' } }, signed: {} } },
        fee: { initial: 'due', states: { due: { on: { PAY: 'paid' } }, paid: {} } },
        door: {
          initial: 'shut',
          states: {
            shut: {
              always: { guard: and([stateIn({ form: 'signed' }), stateIn('#admission.fee.paid')]), target: 'open' },
            },
            open: {
              on: {
                LEAVE: { guard: or([not(stateIn({ fee: 'paid' })), stateIn({ form: 'signed' })]), target: 'shut' },
              },
            },
          },
        },
      },
    },
    ['PAY', 'SIGN', 'LEAVE'],
  ),
  'an order of regions that were moved': example(
    {
      id: 'regions',
      type: 'parallel',
      context: { log: [] },
      states: Object.fromEntries(
        ['a', 'b'].map((key) => [
          key,
          {
            initial: 'one',
            states: {
              one: { on: { [`GO_${key}`]: 'two' } },
              two: {
                always: {
                  guard: stateIn({ a: 'two', b: 'two' }),
                  target: 'end',
                  actions: assign({
                    log: ({ context }: any) => [...(context as unknown as { log: string[] }).log, key],
                  } as any),
                },
              },
              end: {},
            },
          },
        ]),
      ),
    },
    ['GO_a', 'GO_b'],
  ),
  'events of its own': example(
    {
      id: 'chain',
      initial: 'a',
      context: { n: 0 },
      states: {
        a: {
          on: {
            GO: {
              actions: [sendTo(({ self }) => self, { type: 'LATER' }), raise({ type: 'NOW' }), add('n')],
            },
            NOW: { actions: emit({ type: 'now' }) },
            LATER: 'b',
          },
        },
        b: { entry: [emit({ type: 'there' }), raise({ type: 'BACK' }, { delay: 30 })], on: { BACK: 'a' } },
      },
    },
    ['GO', 40, 'GO', 10],
  ),
  'two reminders of one name, and one that is cancelled': example(
    {
      id: 'reminders',
      initial: 'on',
      context: { n: 0 },
      states: {
        on: {
          on: {
            REMIND: { actions: raise({ type: 'BELL' }, { id: 'bell', delay: 100 }) },
            QUIET: { actions: cancel('bell') },
            BELL: { actions: add('n') },
          },
        },
      },
    },
    ['REMIND', 50, 'REMIND', 20, 'QUIET', 100, 'REMIND', 30, 'REMIND', 80, 'QUIET', 100],
  ),
  'a bill by rules': example(
    {
      id: 'bill',
      initial: 'open',
      context: { cups: 0, free: 0 },
      states: {
        open: {
          on: {
            CUP: {
              actions: enqueueActions(({ enqueue, check, context }: any) => {
                enqueue.assign({ cups: context.cups + 1 });
                if (check('isTenth')) enqueue('giveOne');
              }),
            },
            'pay.*': 'paid',
            '*': { actions: 'odd' },
          },
        },
        paid: { type: 'final' },
      },
      output: ({ context }: C) => context.cups! - context.free!,
    },
    ['CUP', 'CUP', 'WHAT', 'CUP', 'pay.cash'],
    {
      guards: { isTenth: ({ context }: C) => context.cups! % 2 === 1 },
      actions: { giveOne: add('free'), odd: emit({ type: 'odd' }) },
    },
  ),
  'a chain of delays beside a watch': example(
    {
      id: 'watch',
      type: 'parallel',
      states: {
        chain: {
          initial: 'a',
          states: { a: { after: { 100: 'b' } }, b: { after: { 100: 'c' } }, c: { after: { 100: 'd' } }, d: {} },
        },
        watch: {
          initial: 'waiting',
          states: {
            waiting: { after: { 350: [{ guard: stateIn({ chain: 'd' }), target: 'done' }, { target: 'early' }] } },
            done: {},
            early: {},
          },
        },
      },
    },
    [400],
  ),
  'many timers at one moment': example(
    {
      id: 'crowd',
      type: 'parallel',
      states: Object.fromEntries(
        Array.from({ length: 60 }, (_, nth) => [
          `r${nth}`,
          { initial: 'w', states: { w: { after: { 100: 'd' } }, d: {} } },
        ]),
      ),
    },
    [200],
  ),
  'a call that nothing takes': example(
    { id: 'deaf', initial: 'a', states: { a: { invoke: { src: 'bad' }, on: { LOOK: {} } } } },
    ['LOOK', 20, 'LOOK'],
  ),
};

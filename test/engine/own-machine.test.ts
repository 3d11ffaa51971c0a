// Machines of your own as callers and watchers meet them: what texts mean, what is refused, and that of values only those that are
// named are shown, whichever way `render` reads them.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { assign, fromPromise, setup } from 'xstate';
import type { InspectionEvent } from '../../lib/engine/conversation.ts';
import { type MachineOptions, machineConversation } from '../../lib/engine/machine/machine-conversation.ts';
import { showSession } from '../../lib/engine/sessions.ts';
import { parseKeyring } from '../../lib/keyring.ts';
import { begin, gate, KEY, place, rejection, say, settled, textOf } from './support.ts';

const test = suite('machines of your own');

const PIN = '58213';
const STREET = 'Mukamuri Close 7';

interface Kept {
  n: number;
  street: string;
  pin?: string;
}

const types = {
  context: {} as Kept,
  events: {} as { type: '1' } | { type: 'STREET'; street: string } | { type: 'PIN'; pin: string } | { type: 'OFF' },
};
/** For the types alone: the engine calls the service of this name. */
const ask = fromPromise<string, { pin: string }>(async () => '');
const stall = setup({ types, actors: { ask } }).createMachine({
  id: 'stall',
  initial: 'open',
  context: { n: 0, street: STREET },
  states: {
    open: {
      on: {
        1: { actions: assign({ n: ({ context }) => context.n + 1 }) },
        STREET: { actions: assign({ street: ({ event }) => event.street }) },
        PIN: { target: 'asking', actions: assign({ pin: ({ event }) => event.pin }) },
        OFF: 'shut',
        '*': { actions: assign({ n: 100 }) },
      },
    },
    asking: {
      invoke: {
        id: 'ask',
        src: 'ask',
        input: ({ context }) => ({ pin: context.pin ?? '' }),
        onDone: 'open',
        onError: 'open',
      },
    },
    shut: { type: 'final' },
  },
});

type Options = MachineOptions<typeof stall>;
const keyring = parseKeyring('8f1de1e2c1a53b2d7f6a90e4b35c7d2818aa4cfe0b61d9f3e27c5b8490ad6f13');

/** The stall, and what its watchers were told. */
function placeStall(options: Options = {}, ask = async () => 'yes' as const) {
  const told: InspectionEvent[] = [];
  const inspector = { isWatched: () => true, emit: (event: InspectionEvent) => void told.push(event) };
  const talk = machineConversation(stall, { render: ({ context }) => `Cups: ${context.n}`, ...options });
  const here = place(talk, { services: { ask }, keyring });
  return { ...here, told, engine: () => here.engine({ inspector }) };
}

test('a text is the event that `read` makes of it, or by default the one of its name; words refuse it; others change nothing', async () => {
  const plain = placeStall();
  assert.is(await textOf(begin(plain.engine())), 'Cups: 0');
  for (const text of [' 1 ', '', 'xstate.stop', 'xstate.done.actor.ask', 'CLOSE', '*']) await say(plain.engine(), text);
  assert.is(await textOf(say(plain.engine(), '?')), 'Cups: 1');
  const read: Options['read'] = (snapshot, text) =>
    text === '+' && snapshot.context.n < 2 && snapshot.can({ type: '1' })
      ? { type: '1' }
      : text === '?'
        ? undefined
        : 'Only + here.';
  const own = placeStall({ read });
  await begin(own.engine());
  const replies = [];
  for (const text of ['+', '-', '?', '+', '+']) replies.push(await textOf(say(own.engine(), text)));
  assert.equal(replies, ['Cups: 1', 'Only + here.\nCups: 1', 'Cups: 1', 'Cups: 2', 'Only + here.\nCups: 2']);
});

test('a final state ends it, whatever `render` says; events of programs are taken as they are', async () => {
  const here = placeStall();
  await begin(here.engine());
  const ended = await say(here.engine(), { type: 'OFF' });
  assert.equal(ended.kind === 'replied' && ended.reply, { kind: 'end', text: 'Cups: 0' });
});

test('what `read` and `render` throw, or an event of the engine, fails the turn in words without values', async () => {
  const broken: Options[] = [
    { render: ({ context }) => context.n.toFixed(-context.n) },
    {
      read: () => {
        throw new Error(STREET);
      },
    },
    { read: () => ({ type: 'xstate.stop' }) as never },
  ];
  for (const options of broken) {
    const here = placeStall(options);
    await begin(here.engine());
    const { code, message } = await rejection(say(here.engine(), '1'));
    assert.match(code, /^ERR_(MACHINE|INPUT)$/);
    assert.not.match(message, STREET);
  }
});

test('a secret is in no record, no event and no later turn; its call is not made again after a crash', async () => {
  const ask = gate();
  const here = placeStall(
    { secrets: ['pin'], shown: 'all', read: (_, text) => ({ type: 'PIN', pin: text }) },
    ask.service as never,
  );
  await begin(here.engine());
  const asked = say(here.engine(), PIN);
  await settled();
  assert.not.match(here.stored().record, PIN);
  ask.answer('yes');
  await asked;
  assert.not.match(here.stored().record, PIN);
  assert.not.match(JSON.stringify(here.told), PIN);
  assert.is(here.told.at(-1)!.turn!.typed[0]!.text, null);
});

const READS: { readonly [how: string]: (context: Kept) => unknown } = {
  'a name': ({ street }) => street,
  'a spread': (context) => Object.keys({ ...context }).length,
  JSON: (context) => JSON.stringify(context).length,
  'whether it is there': (context) => 'street' in context,
  entries: (context) => Object.entries(context).length,
  'a key that is not there': (context) => (context as { other?: string }).other,
};

for (const [how, look] of Object.entries(READS))
  test(`a screen that reads hidden values by ${how} is not shown, one that reads only named ones is`, async () => {
    const render: Options['render'] = ({ context }) => (context.n ? `It: ${look(context)}` : `Cups: ${context.n}`);
    const here = placeStall({ render, shown: ['n'] });
    await begin(here.engine());
    await say(here.engine(), '1');
    assert.equal(
      here.told.map(({ turn }) => turn!.reply!.slice(0, 9)),
      ['Cups: 0', '**** This'],
    );
    const shown = await showSession(here.engine(), KEY);
    assert.equal([shown!.rest.context, shown!.reply().slice(0, 4)], [{ n: 1, street: '****' }, '****']);
    assert.not.match(JSON.stringify(here.told) + here.stored().record, STREET);
  });

test('the type of an event that may be made of what was typed is shown as the machine names it', async () => {
  const here = placeStall({ shown: ['n'] });
  await begin(here.engine());
  await say(here.engine(), { type: PIN });
  assert.equal(
    here.told.flatMap(({ transitions }) => transitions.map(({ event }) => event)),
    ['xstate.init', '*'],
  );
});

test('with `shown: all` watchers see it as it is: values, texts, answers, screens', async () => {
  const here = placeStall({ shown: 'all', read: (_, street) => ({ type: 'STREET', street }) });
  await begin(here.engine());
  await say(here.engine(), 'High Street');
  const { rest, turn } = here.told.at(-1)!;
  assert.equal([rest.context.street, turn!.typed[0]!.text, turn!.reply], ['High Street', 'High Street', 'Cups: 0']);
});

test.run();

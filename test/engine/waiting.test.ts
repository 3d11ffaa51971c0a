// What happens around calls that take long, or answer what their flow cannot use.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SimulatedClock } from '../../lib/clock.ts';
import { createEngine } from '../../lib/engine/engine.ts';
import type { Service } from '../../lib/engine/service.ts';
import { takeTurn } from '../../lib/engine/session/turn.ts';
import { compileFlow } from '../../lib/flow/run/compile.ts';
import { memorySnapshots } from '../../lib/store/memory/index.ts';
import { flowFixture } from '../support/flow-fixture.ts';

const test = suite('waiting');

const FLOW = flowFixture('slow');

function talk(ask: Service) {
  const clock = new SimulatedClock();
  const engine = createEngine({
    store: memorySnapshots({ clock }),
    clock,
    services: { ask },
    conversations: [compileFlow(FLOW)],
  });
  let number = 0;
  const say = async (input: string) => {
    const turn = takeTurn(engine, {
      key: 'k',
      turnKey: `t${number++}`,
      decide: (seen) => (seen.kind === 'live' ? { kind: 'input', input } : { kind: 'begin', conversation: 'slow' }),
    });
    for (let at = 0; at < 20; at++) await clock.advance(500);
    const result = await turn;
    assert.is(result.kind, 'replied');
    return result.kind === 'replied' ? `${result.reply.kind} ${result.reply.text}` : '';
  };
  return { engine, say };
}

test('the exit key ends the session at once, however often its caller was told to wait', async () => {
  let aborted = false;
  const { say } = talk((_input, { signal }) => {
    signal.addEventListener('abort', () => {
      aborted = true;
    });
    return new Promise(() => {});
  });
  await say('');
  const wait = 'continue Please wait.\n1. Continue';
  assert.is(await say('1'), wait);
  assert.is(await say('1'), wait);
  assert.is(await say('*'), 'end Bye');
  assert.is(aborted, false, 'a call that was begun is not taken back');
});

test('an answer that the conditions of the flow throw on is a failed call, not a session that is stuck', async () => {
  const { say } = talk(async () => 7);
  await say('');
  assert.is(await say('1'), 'end Failed');
});

test.run();

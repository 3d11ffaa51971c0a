// The machines of machines/ as XState users write them: setup and a literal, typed, and readable for what is stored.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { compileMachine } from '../../lib/engine/machine/transition.ts';
import { compileFlow } from '../../lib/flow/run/compile.ts';
import type { JsonObject } from '../../lib/json/json.ts';
import { agentStream, type RunCall, type RunContext } from '../../machines/agent-stream.ts';
import { delegationMachine } from '../../machines/delegation.ts';
import { domainVerification } from '../../machines/domain-verification.ts';
import { ussdMenu } from '../../machines/ussd-menu.ts';
import { ROOT } from '../package/manifest.ts';
import { flowFixture } from '../support/flow-fixture.ts';

const test = suite('machines');

// Where XState takes a function beside a name, so that an editor shows it as code.
const MAY_COMPUTE: ReadonlySet<string> = new Set(['context', 'input', 'params']);

/** Where a config holds what is no JSON: an editor would lose it. */
function lostInJson(value: unknown, path: string): string[] {
  const last = path.slice(path.lastIndexOf('.') + 1);
  if (typeof value === 'function') return MAY_COMPUTE.has(last) ? [] : [path];
  if (value === null || ['string', 'number', 'boolean', 'undefined'].includes(typeof value)) return [];
  if (Array.isArray(value)) return value.flatMap((item, at) => lostInJson(item, `${path}.${at}`));
  if (typeof value !== 'object' || Object.getPrototypeOf(value) !== Object.prototype) return [path];
  return Object.entries(value).flatMap(([name, part]) => lostInJson(part, `${path}.${name}`));
}

test('an editor can read the config of every machine', () => {
  const outcome = () => ({ kind: 'open' as const });
  for (const { id, config } of [agentStream(), delegationMachine, domainVerification({ outcome }), ussdMenu])
    assert.equal(lostInJson(config, id), []);
});

test('the files of machines need XState and each other, nothing else', () => {
  for (const name of readdirSync(join(ROOT, 'machines')).filter((file) => file !== 'index.ts'))
    for (const [, from] of readFileSync(join(ROOT, 'machines', name), 'utf8').matchAll(
      /^import (?!type )[^;]* from '(.*)';/gm,
    ))
      assert.ok(from === 'xstate' || /^\.\/[a-z-]+\.ts$/.test(from!), `${name}: ${from}`);
});

const FLOW = flowFixture('ussd-menu');

test('the menu that is written as a machine is what its flow is compiled to', () => {
  assert.equal(JSON.parse(JSON.stringify(ussdMenu.config)), compileFlow(FLOW).config);
});

// As the release before stored them.
const CALL: RunCall = { id: 'c1', kind: 'browser', name: 'look', until: 2_000, args: { at: 1 } };
const STORED: RunContext = {
  session: 's',
  turn: 3,
  inLine: false,
  holder: 'one',
  fence: 2,
  leaseUntil: 1_000,
  claims: 1,
  abortRequested: false,
  calls: [CALL],
  sealed: false,
};

test('a stored run goes on where it is, in each of its states', () => {
  const machine = compileMachine(agentStream());
  const take = (state: string, event: JsonObject) => {
    const live = machine.resume({ state, context: STORED as unknown as JsonObject });
    const { state: to, context } = machine.rest(machine.step(live, { at: 1_500, ...event } as never).live);
    return [to, context] as const;
  };
  const { args: _, ...handedOut } = CALL;
  const answer = { ok: true, output: 1 };
  assert.equal(take('waiting', { type: 'HAND_OUT', call: 'c1' }), ['waiting', { ...STORED, calls: [handedOut] }]);
  assert.equal(take('waiting', { type: 'RESULT', call: 'c1', result: answer }), [
    'running',
    { ...STORED, calls: [{ ...CALL, result: answer }] },
  ]);
  assert.equal(take('running', { type: 'RENEW', fence: 2, leaseMs: 10 }), [
    'running',
    { ...STORED, leaseUntil: 1_510 },
  ]);
  assert.equal(take('running', { type: 'RENEW', fence: 1, leaseMs: 10 }), ['running', STORED]);
  for (const status of ['finished', 'aborted', 'interrupted', 'failed']) {
    const end = { type: 'END', fence: 2, status, leaseMs: 10 };
    assert.equal(take('waiting', end), [status, { ...STORED, endedAt: 1_500, leaseUntil: 1_510, calls: [] }]);
    assert.equal(take(status, { type: 'SEAL', fence: 2, keepMs: 5 }), [
      status,
      { ...STORED, sealed: true, leaseUntil: 1_505 },
    ]);
  }
  assert.equal(take('queued', { type: 'CLAIM', holder: 'two', leaseMs: 10 }), [
    'running',
    { ...STORED, holder: 'two', fence: 3, claims: 2, leaseUntil: 1_510 },
  ]);
});

test.run();

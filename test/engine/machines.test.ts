// The machines of machines/ as XState users write them: setup and a literal, typed, and readable for what is stored.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { transformSync } from 'esbuild';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import * as xstate from 'xstate';
import { compileMachine } from '../../lib/engine/machine/transition.ts';
import { compileFlow } from '../../lib/flow/run/compile.ts';
import type { JsonObject } from '../../lib/store/store.ts';
import { agentStream, type RunCall, type RunContext } from '../../machines/agent-stream.ts';
import { ussdMenu } from '../../machines/ussd-menu.ts';
import { ROOT } from '../package/manifest.ts';
import { flowFixture } from '../support/flow-fixture.ts';

const test = suite('machines');

/** What a file of machines/ gives when it is all that there is, beside XState. */
function evaluateAlone(name: string): Record<string, unknown> {
  const source = readFileSync(join(ROOT, 'machines', name), 'utf8');
  const { code } = transformSync(source, { loader: 'ts', format: 'cjs' });
  const module = { exports: {} as Record<string, unknown> };
  const load = (from: string) => {
    assert.is(from, 'xstate', `${name} loads ${from}`);
    return xstate;
  };
  new Function('module', 'exports', 'require', code)(module, module.exports, load);
  return module.exports;
}

interface Alone {
  readonly machine: string;
  /** Where the export is a function that gives the machine, what it takes. */
  readonly given?: readonly unknown[];
  readonly input?: object;
  readonly starts: string;
}

const RULES = { votingPeriodSeconds: 60, allowRevoting: false, timelockSeconds: 0 };
const ALONE: { readonly [name: string]: Alone } = {
  'agent-stream.ts': {
    machine: 'agentStream',
    given: [],
    input: { at: 1, session: 's', turn: 1, inLine: false, holder: 'one', leaseMs: 10 },
    starts: 'running',
  },
  'delegation.ts': {
    machine: 'delegationMachine',
    input: { at: 1, sealed: 's', expiresAt: 60_000, keys: [] },
    starts: 'authorized',
  },
  'domain-verification.ts': {
    machine: 'domainVerification',
    given: [{ outcome: () => ({ kind: 'open' }) }],
    input: { at: 1, kind: 'verify', subject: 'did:x:1', rules: RULES, voters: [] },
    starts: 'open',
  },
  'ussd-menu.ts': { machine: 'ussdMenu', starts: 'welcome' },
};

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

test('each machine starts from its own file and XState alone, and an editor can read its config', () => {
  for (const [name, { machine: exported, given, input, starts }] of Object.entries(ALONE)) {
    const found = evaluateAlone(name)[exported] as
      | xstate.AnyStateMachine
      | ((...given: unknown[]) => xstate.AnyStateMachine);
    const machine = typeof found === 'function' ? found(...given!) : found;
    const actor = xstate.createActor(machine, { input });
    actor.start();
    assert.is(actor.getSnapshot().value, starts, name);
    actor.stop();
    assert.equal(lostInJson(machine.config, name), []);
  }
  const folder = readdirSync(join(ROOT, 'machines'));
  const withMachines = folder.filter((name) =>
    /\.createMachine\(\{/.test(readFileSync(join(ROOT, 'machines', name), 'utf8')),
  );
  assert.equal(withMachines.sort(), Object.keys(ALONE));
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

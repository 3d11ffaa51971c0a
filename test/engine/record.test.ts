// What is stored of a session: lossless, sealed, checked before use, and without any secret.

import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createMachine } from 'xstate';
import { machineConversation } from '../../lib/engine/machine/machine-conversation.ts';
import { compileMachine } from '../../lib/engine/machine/transition.ts';
import {
  decodeRecord,
  encodeRecord,
  type RecordProblem,
  readRecordHead,
  type SessionRecord,
} from '../../lib/engine/session/record.ts';
import { type SessionState, takeTurn } from '../../lib/engine/session/turn.ts';
import { compileFlow } from '../../lib/flow/run/compile.ts';
import { parseKeyring } from '../../lib/keyring.ts';
import type { SnapshotStore } from '../../lib/store/store.ts';
import { flowFixture } from '../support/flow-fixture.ts';
import { begin, gate, KEY, place, say, settled, textOf } from './support.ts';

const test = suite('record');

const SEAL = { kid: 'seven', key: Buffer.alloc(32, 7) };
const OTHER = { kid: 'eight', key: Buffer.alloc(32, 8) };

const RECORD: SessionRecord = {
  conversation: 'shop',
  version: 3,
  hash: 'abc',
  rest: { state: { open: 'idle' }, context: { n: 1 }, history: { 'shop.open.last': ['shop.open.idle'] } },
  turn: 4,
  startedAt: 1_700_000_000_000,
  door: { phoneNumber: '+263770000001' },
  timers: [{ id: 't', at: 1_700_000_001_000, event: { type: 'late' } }],
  calls: [{ id: 'ask', service: 'ask', key: 'k', until: 1_700_000_002_000, input: { n: 1 } }],
  busy: 'turn',
  waiting: true,
};

// Any UTF-16 code units, also halves of pairs.
const text = fc.array(fc.nat(0xffff), { maxLength: 12 }).map((units) => String.fromCharCode(...units));
const context = fc.dictionary(text, fc.option(fc.jsonValue(), { nil: undefined }), {
  maxKeys: 6,
  noNullPrototype: true,
});

test('every record comes back as it was, with values that are undefined, sealed or not', () => {
  fc.assert(
    fc.property(context, fc.jsonValue(), fc.boolean(), (variables, value, isSealed) => {
      const record = { ...RECORD, rest: { ...RECORD.rest, context: { ...variables, value } as never } };
      const stored = encodeRecord(KEY, record, isSealed ? SEAL : undefined);
      const back = decodeRecord(KEY, stored, isSealed ? [SEAL] : []) as SessionRecord;
      // JSON writes -0 as 0; nothing else changes.
      assert.equal(back, { ...record, rest: { ...record.rest, context: plainZeros(record.rest.context) } });
      assert.equal(Object.keys(back.rest.context).sort(), Object.keys(record.rest.context).sort());
    }),
    { numRuns: 300, seed: 1 },
  );
});

test('the head of a record is read without its seal, and of what is none there is no head', () => {
  const head = { format: 1, conversation: 'shop', version: 3 };
  assert.equal(readRecordHead(encodeRecord(KEY, RECORD, undefined)), head);
  assert.equal(readRecordHead(encodeRecord(KEY, RECORD, SEAL)), { ...head, kid: SEAL.kid });
  assert.equal(readRecordHead('{"r":9,"f":"shop","v":3}'), { ...head, format: 9 }, 'of a later format');
  const others = ['', 'x', '{', '{}', '1', 'null', '{"f":"shop","v":3}', '{"r":1,"v":3}', '{"r":1,"f":"shop"}'];
  for (const other of [...others, '{"r":"1","f":"shop","v":3}', '{"r":1,"f":1,"v":3}', '{"r":1,"f":"shop","v":-1}'])
    assert.is(readRecordHead(other), undefined, other);
});

test('the same record gives the same bytes', () => {
  assert.is(encodeRecord(KEY, RECORD, SEAL), encodeRecord(KEY, structuredClone(RECORD), SEAL));
});

test('a small record is small', () => {
  const { timers: _timers, calls: _calls, busy: _busy, waiting: _waiting, ...base } = RECORD;
  const small = { ...base, rest: { state: 'home', context: { $stack: [], $page: 0, $bad: 0 } }, timers: [], calls: [] };
  assert.ok(encodeRecord(KEY, small, SEAL).length < 200);
  assert.equal(decodeRecord(KEY, encodeRecord(KEY, small, SEAL), [SEAL]), small, 'and nothing is added to it');
  const whole = { ...small, sealed: 'text', isOvertaken: true };
  assert.equal(decodeRecord(KEY, encodeRecord(KEY, whole, SEAL), [SEAL]), whole);
});

test('no character of a sealed record can be changed', () => {
  const stored = encodeRecord(KEY, RECORD, SEAL);
  const kidAt = stored.lastIndexOf(SEAL.kid);
  for (let at = 0; at < stored.length; at++) {
    const changed = stored.slice(0, at) + (stored[at] === 'x' ? 'y' : 'x') + stored.slice(at + 1);
    // Where the name of the key itself was changed, another one seems to have sealed it.
    const isInKid = at >= kidAt && at < kidAt + SEAL.kid.length;
    assert.is(decodeRecord(KEY, changed, [SEAL]), isInKid ? 'other-key' : 'tampered', `at ${at}`);
  }
  const others = [stored.slice(16), '', 'short', stored.slice(0, 16), `${stored} `];
  for (const other of others) assert.is(decodeRecord(KEY, other, [SEAL]), 'tampered', other);
});

test('a record that another key sealed is told apart from one that was changed', () => {
  assert.is(decodeRecord(KEY, encodeRecord(KEY, RECORD, OTHER), [SEAL]), 'other-key');
  const forged = encodeRecord(KEY, RECORD, { ...OTHER, kid: SEAL.kid });
  assert.is(decodeRecord(KEY, forged, [SEAL]), 'tampered', 'it names our key, and ours did not seal it');
});

test('a sealed record cannot be moved to another session', () => {
  const stored = encodeRecord(KEY, RECORD, SEAL);
  assert.is(decodeRecord('another', stored, [SEAL]), 'tampered');
});

test('a record that an older key of the keyring sealed can still be read', () => {
  const stored = encodeRecord(KEY, RECORD, OTHER);
  assert.equal(decodeRecord(KEY, stored, [SEAL, OTHER]), RECORD);
});

const machine = compileMachine(
  createMachine({
    id: 'shop',
    initial: 'start',
    context: { n: 0 },
    states: { start: { on: { go: 'deep' } }, deep: { initial: 'in', states: { in: { on: { go: '#shop.start' } } } } },
  }),
);

type Damage = readonly [what: string, patch: { readonly [field: string]: unknown }, reason: RecordProblem];
const atState = (state: unknown): Damage => [`the state ${JSON.stringify(state)}`, { s: state }, 'unknown-state'];

// What is changed in the parsed record, and what the engine must then say.
const DAMAGE: readonly Damage[] = [
  ['format 2', { r: 2 }, 'future'],
  ['no format', { r: undefined }, 'malformed'],
  ['format 0', { r: 0 }, 'malformed'],
  ...['f', 'v', 'h', 'n', 'b', 's', 'c', 'd'].map((name): Damage => [`no ${name}`, { [name]: undefined }, 'malformed']),
  ['a negative turn', { n: -1 }, 'malformed'],
  ['a list as context', { c: [] }, 'malformed'],
  ['history that is no list', { y: { x: 5 } }, 'malformed'],
  ['a timer without an event', { t: [{ id: 'a', at: 1 }] }, 'malformed'],
  ['a timer at no time', { t: [{ id: 'a', at: null, event: { type: 'x' } }] }, 'malformed'],
  ['a call without a service', { k: [{ id: 'a', key: 'k', until: 1 }] }, 'malformed'],
  ['a name that is no text', { u: [1] }, 'malformed'],
  ['active states that are no list of ids', { z: [1] }, 'malformed'],
  ['sealed values that are no text', { e: 1 }, 'malformed'],
  ['another flow', { f: 'bank' }, 'foreign'],
  ['a flow called constructor', { f: 'constructor' }, 'foreign'],
  ['a later version', { v: 9 }, 'future'],
  ['other content of this version', { h: 'other' }, 'outdated'],
  ...['gone', 'constructor', '__proto__', 'toString', 'hasOwnProperty', '', 'deep', 'shop.start'].map(atState),
  ...[{ start: {} }, {}, { deep: {} }, { deep: 'constructor' }, { deep: 'in', start: 'x' }].map(atState),
  atState(JSON.parse('{"__proto__":"in"}')),
];

for (const [what, patch, reason] of DAMAGE)
  test(`a record with ${what} is ${reason}: it is never a new beginning`, async () => {
    const problems: string[] = [];
    const here = place(machineConversation(machine), { onProblem: (problem) => problems.push(problem.reason) });
    await begin(here.engine());
    await say(here.engine(), { type: 'go' });
    const { revision, ...same } = here.stored();
    await here.store.commit(KEY, revision, {
      ...same,
      record: JSON.stringify({ ...JSON.parse(same.record), ...patch }),
    });
    const stored = here.stored();
    let seen: SessionState | undefined;
    const result = await takeTurn(here.engine(), {
      key: KEY,
      decide: (found) => {
        seen = found;
        return { kind: 'input', input: { type: 'go' } };
      },
    });
    assert.equal(result, { kind: 'unreadable', reason });
    assert.equal(seen, { kind: 'unreadable', reason });
    assert.equal(problems, [reason]);
    assert.is(here.stored(), stored);
  });

test('a record that is no JSON, or that another operator sealed, is told apart', async () => {
  const here = place(machineConversation(machine));
  await begin(here.engine());
  const keyring = keyringOf('another operator');
  assert.equal(await say(here.engine({ keyring }), { type: 'go' }), { kind: 'unreadable', reason: 'tampered' });
  const { revision, ...same } = here.stored();
  let at = revision;
  for (const record of ['{', '', '[1]', 'null', '1']) {
    await here.store.commit(KEY, at++, { ...same, record });
    assert.equal(await say(here.engine(), { type: 'go' }), { kind: 'unreadable', reason: 'malformed' }, record);
  }
});

const PIN = '739184';
const login = flowFixture('login');
test('no byte of a secret is stored or told to watchers: not in intents, outcomes, turn keys or replies', async () => {
  const check = gate();
  const told: string[] = [];
  const here = place(compileFlow(login), { services: { check: check.service }, keyring: keyringOf('operator') });
  const store: SnapshotStore = {
    ...here.store,
    commit: (key, expected, next) => {
      told.push(JSON.stringify(next));
      return here.store.commit(key, expected, next);
    },
  };
  const watch = (report: unknown) => void told.push(JSON.stringify(report));
  const engine = () => here.engine({ store, onTurn: watch, onFact: watch, onProblem: watch });
  await begin(engine());
  assert.is(await textOf(say(engine(), PIN)), 'Again\n0. Back');
  const turn = textOf(say(engine(), PIN));
  await settled();
  check.answer(true);
  assert.match(await turn, /^Home/);
  assert.ok(
    told.some((line) => line.includes('check')),
    'the call was announced',
  );
  assert.equal(
    told.filter((line) => line.includes(PIN) || line.includes(Buffer.from(PIN).toString('base64').slice(0, 7))),
    [],
  );
});

test('the proof of a secret works in later turns and processes with the same keyring, and for this session only', async () => {
  const here = place(compileFlow(login), { services: { check: async () => true }, keyring: keyringOf('operator') });
  await begin(here.engine());
  await say(here.engine(), PIN);
  assert.match(await textOf(say(here.engine(), '000000')), /^Not the same\./);
  assert.match(await textOf(say(here.engine(), PIN)), /^Home/);
  const engine = here.engine();
  assert.is(engine.prove('a', PIN), here.engine().prove('a', PIN));
  assert.is.not(engine.prove('a', PIN), engine.prove('b', PIN));
  assert.is.not(engine.prove('a', PIN), here.engine({ keyring: keyringOf('another operator') }).prove('a', PIN));
});

test('of an ended session no variables are left', async () => {
  const here = place(compileFlow(login), { services: { check: async () => 'private' } });
  const engine = here.engine();
  await begin(engine, { inputs: [PIN, PIN] });
  await say(engine, '1');
  assert.is(here.stored().ended, true);
  assert.equal(here.record().rest.context, {});
});

test.run();

function keyringOf(operator: string) {
  return parseKeyring(createHash('sha256').update(operator).digest('hex'));
}

function plainZeros<T>(value: T): T {
  if (Object.is(value, -0)) return 0 as T;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(plainZeros) as T;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, plainZeros(inner)])) as T;
}

// What a phone request means for its session, decided from the marks of earlier requests alone.

import { createHash } from 'node:crypto';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Decision, SessionState } from '../../lib/engine/session/turn.ts';
import type { JsonObject } from '../../lib/json/json.ts';
import { parseKeyring } from '../../lib/keyring.ts';
import { readDialledFlows } from '../../lib/ussd/codes.ts';
import { type DialRules, markSim, readDial, type UnknownSession } from '../../lib/ussd/dial.ts';
import type { UssdRequest } from '../../lib/ussd/request.ts';

const test = suite('dial');

const [NEW_KEY, OLD_KEY] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
const PHONE = '+260971234567';
const CODE = '*2233#';
const CALLER = { sessionId: 's1', serviceCode: CODE, phoneNumber: PHONE, event: 'turn' } as const;

const rulesOf = (more: Partial<DialRules> = {}): DialRules => ({
  flow: 'main',
  keys: [NEW_KEY],
  unknownSession: 'end',
  markSim: (imsi) => `mark of ${imsi}`,
  ...more,
});

type More = Partial<UssdRequest>;
const cumulative = (text: string, more: More = {}): UssdRequest => ({ ...CALLER, mode: 'cumulative', text, ...more });
const latest = (text: string, more: More = {}): UssdRequest => ({ ...CALLER, mode: 'latest', text, ...more });
const ask = (request: UssdRequest, seen: SessionState, rules: DialRules = rulesOf()) =>
  readDial(request, rules).decide(seen);

const NONE: SessionState = { kind: 'none' };
const UNREADABLE: SessionState = { kind: 'unreadable', reason: 'tampered' };
const live = (door: JsonObject, turn = 2): SessionState => ({ kind: 'live', door, turn });
const ended = (door: JsonObject): SessionState => ({ kind: 'ended', door, turn: 2 });
const refused = (reason: string): Decision => ({ kind: 'refuse', reason });
const REPEAT: Decision = { kind: 'repeat' };

function doorOf(decision: Decision): JsonObject {
  assert.ok((decision.kind === 'begin' || decision.kind === 'input') && decision.door);
  return decision.door;
}

/** The door after a dial and these texts, each of which is what the phone had sent by then. */
function doorAfter(texts: readonly string[], make: (text: string, at: number) => UssdRequest, rules = rulesOf()) {
  return texts.reduce<JsonObject>((door, text, at) => {
    const seen = at === 0 ? NONE : live(door, at);
    return doorOf(ask(make(text, at), seen, rules));
  }, {});
}
const typed = (...texts: string[]) => doorAfter(texts, (text) => cumulative(text));

test('service codes start their flows, the longest that fits, with what follows the code as the first answers', () => {
  const codes = readDialledFlows(['*700#:shop', '*700*4#:bus', 'main', '*700*44#:awards']);
  const begun = (serviceCode: string, text = '') => {
    const rules = rulesOf({ ...codes, unknownSession: 'forward' });
    const decision = ask(cumulative(text, { serviceCode }), NONE, rules) as unknown as {
      conversation: string;
      inputs: string[];
    };
    return [decision.conversation, ...decision.inputs];
  };
  const table: readonly (readonly [code: string, ...begun: string[]])[] = [
    ['*700#', 'shop'],
    ['*700*4#', 'bus'],
    ['*700*4*1*2#', 'bus', '1', '2'],
    ['*700*44*1#', 'awards', '1'],
    ['*700*5*0#', 'shop', '5', '0'],
    ['*7000#', 'main'],
    ['*70*4*1#', 'main'],
    ['*2233#', 'main'],
  ];
  for (const [code, ...expected] of table) assert.equal(begun(code), expected, code);
  assert.equal(begun('*700*4*1#', '7'), ['bus', '1', '7']);
  assert.equal(begun('*700*4*1#', '1*7'), ['bus', '1', '7'], 'a gateway that repeats it in the text');
  assert.equal(ask(cumulative('', { serviceCode: '*700*4*1#' }), NONE), {
    ...(ask(cumulative('', { serviceCode: '*700*4*1#' }), NONE) as object),
    conversation: 'main',
    inputs: [],
  });
});

test('an empty text begins, with what the flow is told and what the door remembers', () => {
  const decision = ask(cumulative(''), NONE);
  const door = { sessionId: 's1', phoneNumber: PHONE, serviceCode: CODE, marks: doorOf(decision).marks! };
  const input = { sessionId: 's1', phoneNumber: PHONE, msisdn: PHONE, serviceCode: CODE };
  assert.equal(decision, { kind: 'begin', conversation: 'main', input, door, inputs: [] });
  assert.match(String(door.marks), /^0:[\w-]{16};$/);
});

test('the SIM card is kept as a mark where it is named, and else not at all', () => {
  assert.is(doorOf(ask(cumulative('', { imsi: '648041234567890' }), NONE)).sim, 'mark of 648041234567890');
  assert.not('sim' in doorOf(ask(cumulative(''), NONE)));
});

test('an IMSI is marked under every key, the active one first, and each mark is another', () => {
  const key = (name: string) => `${name}:${createHash('sha256').update(name).digest('hex')}`;
  const marks = markSim(parseKeyring(`${key('new')},${key('old')}`), '648041234567890').split(' ');
  assert.equal(
    marks.map((mark) => mark.split(':')[0]),
    ['new', 'old'],
  );
  assert.is.not(marks[0]!.split(':')[1], marks[1]!.split(':')[1]);
  assert.equal(markSim(parseKeyring(key('old')), '648041234567890'), marks[1]);
  assert.not.match(marks.join(), '648041234567890');
  assert.is.not(markSim(parseKeyring(key('old')), '648041234567891'), marks[1], 'another card');
});

test('the turn key is the same for the same request, and another for any other', () => {
  const keyOf = (more: More, text = '1') => readDial(cumulative(text, more), rulesOf()).turnKey;
  assert.is(keyOf({}), keyOf({}));
  const others = [{ sessionId: 's2' }, { phoneNumber: '+260970000000' }, { serviceCode: '*1#' }].map((more) =>
    keyOf(more),
  );
  assert.is(new Set([keyOf({}), keyOf({}, '2'), ...others]).size, 5);
  const turnKey = (more: More) => readDial(latest('1', more), rulesOf()).turnKey;
  assert.is(turnKey({}), undefined, 'nothing tells a retry');
  const numbered = [
    { turnId: '1' },
    { turnId: '2' },
    { turnId: '1', sessionId: 's2' },
    { turnId: '1', phoneNumber: '' },
  ];
  assert.is(new Set(numbered.map(turnKey)).size, 4);
  assert.is(readDial(latest('x', { turnId: '1' }), rulesOf()).turnKey, turnKey({ turnId: '1' }));
});

test('what is longer than the last text by a star and more is the next answer', () => {
  const first = ask(cumulative('1'), live(typed('')));
  assert.is(first.kind === 'input' && first.input, '1');
  const second = ask(cumulative('1*25'), live(typed('', '1')));
  assert.is(second.kind === 'input' && second.input, '25');
  const starred = ask(cumulative('1**'), live(typed('', '1')));
  assert.is(starred.kind === 'input' && starred.input, '*', 'a star may be an answer');
  const marks = String(doorOf(second).marks).split(';');
  assert.equal(
    marks.map((mark) => mark.split(':')[0]),
    ['0', '1', '4', ''],
  );
  assert.is(doorOf(second).phoneNumber, PHONE);
});

test('a text that does not go on from the last one is refused', () => {
  for (const text of ['2*5', '15', '1x5', '2', '12*5'])
    assert.equal(ask(cumulative(text), live(typed('', '1'))), refused('mismatch'), text);
  assert.equal(ask(cumulative('1*2*3'), live(typed('', '1', '1*5'))), refused('mismatch'));
});

test('an older text changes nothing; the last one shows what became of it', () => {
  const door = typed('', '1', '1*2', '1*2*3');
  for (const text of ['', '1', '1*2']) assert.equal(ask(cumulative(text), live(door)), REPEAT, text);
  assert.equal(ask(cumulative('1*2*3'), live(door)), { kind: 'input', input: '', door });
});

test('a mark is known as a whole only: the length is part of it', () => {
  const door = typed('', '1', '1*2345678901');
  const marks = String(door.marks);
  const last = marks.slice(0, -1).split(';').at(-1)!;
  assert.match(last, /^12:/);
  const cut = { ...door, marks: `${marks.slice(0, marks.lastIndexOf(last))}1${last};` };
  assert.equal(ask(cumulative('1*2345678901'), live(cut)), refused('mismatch'));
});

test('a request of another phone or for another code is not of this session; one that leaves them out is', () => {
  const door = typed('', '1');
  for (const more of [{ phoneNumber: '+260970000000' }, { serviceCode: '*1#' }])
    assert.equal(ask(cumulative('1*2', more), live(door)), refused('not-yours'));
  const silent = {
    ...door,
    marks: doorAfter(['', '1'], (text) => cumulative(text, { phoneNumber: '', serviceCode: '' })).marks!,
  };
  assert.is(ask(cumulative('1*2', { phoneNumber: '', serviceCode: '' }), live(silent)).kind, 'input');
  const numbered = doorAfter(['', '1'], (text, at) => latest(text, { turnId: `${at}` }));
  for (const more of [{ phoneNumber: '+260970000000' }, { serviceCode: '*1#' }])
    assert.equal(ask(latest('2', { turnId: '9', ...more }), live(numbered)), refused('not-yours'));
});

test('after the end an empty text begins anew, an older text is shown the end, and any other is of no session', () => {
  const door = typed('', '1');
  assert.is(ask(cumulative(''), ended(door)).kind, 'begin');
  assert.equal(ask(cumulative('1'), ended(door)), REPEAT);
  assert.equal(ask(cumulative('1*2'), ended(door)), refused('unknown'));
  assert.equal(ask(cumulative('1*2'), ended(door), rulesOf({ unknownSession: 'menu' })).kind, 'begin');
});

test('a first request with a text is refused, begins, or begins and takes its answers, as the operator says', () => {
  const inputs = (unknownSession: UnknownSession, request = cumulative('1*2')) => {
    const decision = ask(request, NONE, rulesOf({ unknownSession }));
    return decision.kind === 'begin' ? decision.inputs : decision;
  };
  assert.equal(inputs('end'), refused('unknown'));
  assert.equal(inputs('menu'), []);
  assert.equal(inputs('forward'), ['1', '2']);
  assert.equal(inputs('forward', latest('1*2')), ['1*2'], 'one answer in a dialect that sends the last only');
  assert.equal(inputs('end', latest('1')), refused('unknown'));
});

test('what begins anew has no answers yet, except those of an unknown session', () => {
  const rules = rulesOf({ unknownSession: 'forward' });
  const inputs = (request: UssdRequest, seen: SessionState) => {
    const decision = ask(request, seen, rules);
    return decision.kind === 'begin' ? decision.inputs : decision;
  };
  const door = typed('', '1');
  for (const seen of [NONE, UNREADABLE, ended(door)]) {
    assert.equal(inputs(cumulative(''), seen), [], seen.kind);
    assert.equal(inputs(latest(''), seen), [], seen.kind);
  }
  assert.equal(inputs(latest(''), live(door, 2)), []);
  assert.equal(inputs(latest(CODE, { dialled: CODE }), NONE), []);
  assert.equal(inputs(cumulative('1*2'), ended(door)), ['1', '2']);
  assert.equal(inputs(latest('1*2'), ended(door)), ['1*2']);
});

test('what cannot be read is begun anew by a dial, and by nothing else', () => {
  const rules = rulesOf({ unknownSession: 'forward' });
  assert.is(ask(cumulative(''), UNREADABLE, rules).kind, 'begin');
  assert.equal(ask(cumulative('1'), UNREADABLE, rules), refused('unknown'));
  assert.is(ask(latest('', { fresh: true }), UNREADABLE, rules).kind, 'begin');
  assert.is(ask(latest(CODE, { dialled: CODE }), UNREADABLE, rules).kind, 'begin');
  assert.equal(ask(latest('1'), UNREADABLE, rules), refused('unknown'));
});

test('after a change of keys, what was marked under the older one is known, and what follows is marked anew', () => {
  const before = rulesOf({ keys: [OLD_KEY] });
  const after = rulesOf({ keys: [NEW_KEY, OLD_KEY] });
  const door = doorAfter(['', '1', '1*2'], (text) => cumulative(text), before);
  assert.equal(ask(cumulative('1'), live(door), after), REPEAT);
  assert.equal(ask(cumulative('1*2'), live(door), after), { kind: 'input', input: '', door });
  assert.equal(ask(cumulative('1'), ended(door), after), REPEAT);
  const next = ask(cumulative('1*2*3'), live(door), after);
  assert.is(next.kind === 'input' && next.input, '3');
  const now = readDial(cumulative('1*2*3'), rulesOf()).turnKey;
  assert.ok(String(doorOf(next).marks).endsWith(`5:${now};`));
  assert.equal(ask(cumulative('1*2*3'), live(door), rulesOf()), refused('mismatch'), 'without the older key');
  const numbered = doorAfter(['', '1', '2'], (text, at) => latest(text, { turnId: `${at}` }), before);
  assert.equal(ask(latest('1', { turnId: '1' }), live(numbered, 3), after), REPEAT);
  assert.equal(ask(latest('1', { turnId: '1' }), ended(numbered), after), REPEAT);
  assert.equal(ask(latest('2', { turnId: '2' }), live(numbered, 3), after), {
    kind: 'input',
    input: '',
    door: numbered,
  });
});

test('of a very long session the oldest marks are forgotten, one for each new one', () => {
  let door = typed('');
  let text = '';
  let longest = 0;
  for (let at = 1; at <= 90; at++) {
    text = text === '' ? '1' : `${text}*1`;
    const decision = ask(cumulative(text), live(door, at));
    assert.is(decision.kind, 'input', `answer ${at}`);
    door = doorOf(decision);
    longest = Math.max(longest, String(door.marks).length);
  }
  assert.ok(longest > 1_300 && longest <= 1_344 + 24, String(longest));
  assert.match(String(door.marks), /^\d+:[\w-]{16};/, 'whole marks');
  assert.equal(ask(cumulative(text), live(door)), { kind: 'input', input: '', door });
  assert.equal(ask(cumulative(text.slice(0, -2)), live(door)), REPEAT);
  // A mark of a number has 19 characters.
  const added = (marks: string) => doorOf(ask(latest('1', { turnId: '7' }), live({ ...door, marks }, 5))).marks;
  assert.is(String(added(`x${'y;'.repeat(662)}`)).length, 1_344, 'as long as it may be');
  assert.is(String(added('y;'.repeat(663))).length, 1_343, 'without the oldest');
});

test('where only the last answer is sent, the first request begins and the next are answers', () => {
  for (const first of [latest(''), latest('', { fresh: true }), latest(CODE, { dialled: CODE })])
    assert.is(ask(first, NONE).kind, 'begin');
  const door = doorOf(ask(latest('', { turnId: '1' }), NONE));
  const second = ask(latest('5', { turnId: '2' }), live(door, 1));
  assert.is(second.kind === 'input' && second.input, '5');
  assert.is(String(doorOf(second).marks).split(';').length, 3);
  const unnumbered = ask(latest('5'), live(door, 1));
  assert.equal(unnumbered, { kind: 'input', input: '5', door }, 'nothing to mark');
  assert.is(doorOf(ask(latest(''), NONE)).marks, '');
});

test('a request that is marked as not the first is none, though its text is empty', () => {
  const door = doorOf(ask(latest('', { turnId: '1' }), NONE));
  const decision = ask(latest('', { fresh: false, turnId: '2' }), live(door, 2));
  assert.is(decision.kind === 'input' && decision.input, '');
  assert.equal(ask(latest('', { fresh: false }), NONE), refused('unknown'));
});

test('the first request again is a retry; later in a session it is a new dial', () => {
  const door = doorOf(ask(latest(''), NONE));
  assert.equal(ask(latest(''), live(door, 1)), REPEAT);
  assert.is(ask(latest(''), live(door, 2)).kind, 'begin');
  assert.equal(ask(latest(CODE, { dialled: CODE }), live(door, 1)), REPEAT);
  const other = ask(latest('*99#', { dialled: '*99#' }), live(door, 1));
  assert.is(other.kind === 'input' && other.input, '*99#', 'another code is what was typed');
  const typedCode = ask(latest(CODE, { dialled: CODE }), live(door, 2));
  assert.is(typedCode.kind === 'input' && typedCode.input, CODE);
});

test('a copy of a numbered message changes nothing, also after the end; one that begins a dial is a new dial', () => {
  const door = doorAfter(['', '1', '2'], (text, at) => latest(text, { turnId: `${at}` }));
  assert.equal(ask(latest('1', { turnId: '1' }), live(door, 3)), REPEAT);
  assert.equal(ask(latest('1', { turnId: '1' }), ended(door)), REPEAT);
  assert.equal(ask(latest('2', { turnId: '2' }), live(door, 3)), { kind: 'input', input: '', door });
  assert.is(ask(latest('', { turnId: '0' }), live(door, 3)).kind, 'begin');
  assert.is(ask(latest('', { turnId: '0' }), ended(door)).kind, 'begin');
  assert.equal(ask(latest('5', { turnId: '5' }), ended(door)), refused('unknown'));
  assert.equal(ask(latest('5'), ended(door)), refused('unknown'), 'without a number nothing is known again');
});

test('the service code of a session is the one that was dialled where the request names none', () => {
  const decision = ask(latest(CODE, { serviceCode: '', dialled: CODE }), NONE);
  assert.is(doorOf(decision).serviceCode, CODE);
  assert.is(doorOf(ask(latest('', { serviceCode: '' }), NONE)).serviceCode, '');
});

test.run();

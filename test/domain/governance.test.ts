// A rules file is taken whole or refused with every problem at once, each by its place.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { DEFAULT_GOVERNANCE, governanceView, parseGovernance } from '../../lib/domain/voting/governance.ts';
import { TwinlineError } from '../../lib/errors.ts';
import { canonicalJson } from '../../lib/json/compare.ts';
import { fixture } from '../support/fixture.ts';

const test = suite('governance file');

const problems = (text: string): string[] => {
  try {
    parseGovernance(text, 'rules.json');
  } catch (error) {
    assert.ok(error instanceof TwinlineError && error.code === 'ERR_CONFIG');
    for (const { field, error: why } of error.details)
      assert.ok(error.message.includes(why), `${field} is missing in the message`);
    return error.details.map(({ field }) => field);
  }
  return [];
};
const problemsIn = (value: object) => problems(JSON.stringify(value));
const voter = (did: string, power: unknown = '1') => ({ did, power });

test('an empty file is the default, and the documented sample is taken', () => {
  assert.equal(parseGovernance('{}'), DEFAULT_GOVERNANCE);
  const sample = {
    threshold: { kind: 'percent', value: '0.5' },
    quorum: '0.2',
    votingPeriodSeconds: 604_800,
    allowRevoting: false,
    timelockSeconds: 0,
    recuseController: false,
    representatives: ['did:ixo:rep'],
    voters: [voter('did:ixo:a'), voter('did:ixo:b', '340282366920938463463374607431768211454')],
  };
  assert.equal(parseGovernance(JSON.stringify(sample)), sample);
  for (const threshold of [{ kind: 'majority' }, { kind: 'percent', value: '2/3' }])
    assert.equal(problemsIn({ threshold }), []);
});

test('a count is a number or digits, and brings its own quorum unless the file gives one', () => {
  const { threshold, quorum } = parseGovernance('{"threshold":{"kind":"count","value":3}}');
  assert.equal([threshold, quorum], [{ kind: 'count', value: '3' }, '0']);
  assert.is(parseGovernance('{"threshold":{"kind":"count","value":"3"},"quorum":"0.5"}').quorum, '0.5');
});

test('clients are told what becomes of a tie', () => {
  const tie = (threshold: object) => governanceView(parseGovernance(JSON.stringify({ threshold }))).tie;
  assert.is(tie({ kind: 'majority' }), 'fails');
  assert.is(tie({ kind: 'percent', value: '0.5' }), 'passes');
  assert.is(tie({ kind: 'percent', value: '0.500000000000000001' }), 'fails');
  assert.is(tie({ kind: 'count', value: 2 }), null);
});

test('every problem of a broken file is told, by its place', () => {
  const { broken, places } = fixture<{ broken: object; places: string[] }>('domain/broken-rules.json');
  assert.equal(problemsIn(broken).sort(), places);
});

test('fractions are never JSON numbers, which are not exact', () => {
  assert.equal(problemsIn({ quorum: 0.2 }), ['/quorum']);
  assert.equal(problemsIn({ threshold: { kind: 'percent', value: 0.5 } }), ['/threshold/value']);
  assert.equal(problems('{"voters":[{"did":"did:a:b","power":9007199254740993}]}'), ['/voters/0/power', '/voters']);
});

test('voters without power, with too much, or too few for the count are refused', () => {
  assert.equal(problemsIn({ voters: [voter('did:a:b', '0')] }), ['/voters']);
  const most = String(2n ** 128n - 1n);
  assert.equal(problemsIn({ voters: [voter('did:a:b', most)] }), []);
  assert.equal(problemsIn({ voters: [voter('did:a:b', most), voter('did:a:c')] }), ['/voters']);
  const count = { kind: 'count', value: 3 };
  assert.equal(problemsIn({ threshold: count, voters: [voter('did:a:b', '2')] }), ['/threshold/value']);
  assert.equal(problemsIn({ threshold: count, voters: [voter('did:a:b', '3')] }), []);
  const many = Array.from({ length: 1_001 }, (_, i) => voter(`did:a:${i}`));
  assert.equal(problemsIn({ voters: many }), ['/voters']);
});

test('what is no JSON object is refused in words', () => {
  for (const text of ['', '{', '[]', 'null', '"x"', '{"a":1,}']) assert.equal(problems(text)[0], '', text);
});

test('a rule that is given twice, and a number that would be rounded, are refused with their place', () => {
  assert.equal(problems('{"quorum":"0.2","quorum":"0.9"}'), ['/quorum']);
  assert.equal(problems('{"votingPeriodSeconds":9007199254740993}'), ['/votingPeriodSeconds']);
});

test('names of prototypes are unknown keys like any other', () => {
  assert.equal(problems('{"__proto__":{},"constructor":1}'), ['/__proto__', '/constructor']);
});

// RFC 8785, 3.2.2 and 3.2.3, and its appendix on numbers.
test('canonical JSON is that of the standard', () => {
  const numbers = '{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001]}';
  assert.is(canonicalJson(JSON.parse(numbers)), '{"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27]}');
  const sorted = {
    '€': 'Euro Sign',
    '\r': 'Carriage Return',
    '\ufb33': 'Hebrew',
    '1': 'One',
    '😀': 'Smiley',
    '\u0080': 'Control',
    ö: 'o',
  };
  const names = [...canonicalJson(sorted).matchAll(/:"(\w+)/g)].map(([, name]) => name);
  assert.equal(names, ['Carriage', 'One', 'Control', 'o', 'Euro', 'Smiley', 'Hebrew']);
  assert.is(
    canonicalJson({ b: '\u20ac$\u000f\nA\'B"\\\\"/', a: [null, true] }),
    '{"a":[null,true],"b":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
  );
});

test.run();

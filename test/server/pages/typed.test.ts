// What phones and chats make of texts: secrets that are hidden and replaced, choices that are found.

import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { textParts } from '../../../server/web/browser/chat/choices.ts';
import { maskText, replaceSecrets, requestText } from '../../../server/web/browser/phone/requests.ts';

const test = suite('typed');

const secret = fc.stringMatching(/^[0-9]{4,6}$/).map((text) => ({ text, secret: true }));
const plain = fc.stringMatching(/^[a-z*]{0,8}$/).map((text) => ({ text, secret: false }));
const typed = fc.array(fc.oneof(secret, plain), { maxLength: 12 });

test('what is sent is all answers or the last one, and what is shown is the same without secrets', () => {
  const one = [
    { text: '2', secret: false },
    { text: '48291', secret: true },
    { text: 'a*b', secret: false },
  ];
  assert.is(requestText(one, 'cumulative'), '2*48291*a*b');
  assert.is(requestText(one, 'latest'), 'a*b');
  assert.is(maskText(one, 'cumulative'), '2*••••*a*b');
  assert.is(maskText(one.slice(0, 2), 'latest'), '••••');
  assert.equal([requestText([], 'cumulative'), requestText([], 'latest')], ['', '']);
  fc.assert(
    fc.property(typed, fc.constantFrom('cumulative', 'latest'), (all, mode) => {
      const shown = maskText(all, mode);
      for (const { text, secret: isSecret } of all) if (isSecret) assert.not.ok(shown.includes(text));
    }),
  );
});

test('in a test another secret stands for each: as long, of digits, the same for the same, and never a real one', () => {
  fc.assert(
    fc.property(typed, (all) => {
      const others = replaceSecrets(all);
      const real = new Set(all.filter((one) => one.secret).map(({ text }) => text));
      const pairs = new Map<string, string>();
      for (const [at, one] of all.entries()) {
        const other = others[at]!;
        if (!one.secret) {
          assert.is(other, one.text);
          continue;
        }
        assert.ok(!real.has(other), `${other} was typed`);
        assert.match(other, /^\d+$/);
        assert.is(other.length, one.text.length);
        assert.is(pairs.get(one.text) ?? other, other);
        pairs.set(one.text, other);
      }
      assert.is(new Set(pairs.values()).size, pairs.size, 'different ones stay different');
    }),
  );
});

test('lines with a number and a dot are choices, and nothing of a text is lost', () => {
  assert.equal(textParts('Hello.\nWhat?\n1. One\n2) Two\n*. Out\nOr ask.\n00. Home'), [
    { lines: 'Hello.\nWhat?' },
    {
      choices: [
        { key: '1', label: 'One' },
        { key: '2', label: 'Two' },
        { key: '*', label: 'Out' },
      ],
    },
    { lines: 'Or ask.' },
    { choices: [{ key: '00', label: 'Home' }] },
  ]);
  assert.equal(textParts('1.5 litres\n100. Far\n1.'), [{ lines: '1.5 litres\n100. Far\n1.' }]);
  fc.assert(
    fc.property(fc.string(), (text) => {
      const lines = textParts(text).map((part) =>
        'lines' in part ? part.lines : part.choices.map(({ key, label }) => `${key}. ${label}`).join('\n'),
      );
      assert.is(lines.join('\n').replace(/[.)] +/g, '. '), text.replace(/[.)] +/g, '. '));
    }),
  );
});

test.run();

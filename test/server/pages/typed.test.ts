// What phones and chats make of texts: secrets that are hidden and replaced, choices that are found, frames that are read.

import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { textParts } from '../../../server/web/browser/chat/choices.ts';
import { readFrames } from '../../../server/web/browser/chat/service.ts';
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

test('frames are read however their bytes are cut, and what has no number is none', async () => {
  const frame = (n: number, data: string) => `event: message\nid: ${n}\ndata: ${JSON.stringify(data)}\n\n`;
  const data = fc.array(fc.string({ unit: 'grapheme' }), { maxLength: 5 });
  const cuts = fc.array(fc.nat(400), { maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(data, cuts, async (texts, places) => {
      const shutdown = 'event: shutdown\ndata: {}\n\n';
      const whole = `: still here\n\n${texts.map((text, at) => frame(at + 1, text)).join(': still here\n\n')}${shutdown}`;
      const bytes = new TextEncoder().encode(whole);
      const ends = [...places.filter((place) => place < bytes.length).sort((a, b) => a - b), bytes.length];
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          for (const [at, end] of ends.entries()) controller.enqueue(bytes.slice(ends[at - 1] ?? 0, end));
          controller.close();
        },
      });
      const read: unknown[] = [];
      for await (const { n, event, data: said } of readFrames(body)) read.push([n, event, JSON.parse(said)]);
      assert.equal(
        read,
        texts.map((text, at) => [at + 1, 'message', text]),
      );
    }),
    { numRuns: 50 },
  );
});

test.run();

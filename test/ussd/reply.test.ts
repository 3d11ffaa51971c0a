// Answers in XML, for dialects that speak it: whatever a screen shows, the document is well-formed and says the same.

import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { escapeXml, xmlReply } from '../../lib/ussd/reply.ts';

const test = suite('replies in XML');

const READ: { readonly [entity: string]: string } = {
  ...{ amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" },
  '#13': '\r',
};
/** As a parser reads a text: entities, and a carriage return of the document as a line feed. */
const readXml = (text: string) =>
  text.replace(/\r\n?/g, '\n').replace(/&([a-z]+|#13);/g, (_, entity: string) => READ[entity]!);

test('any text comes back from between tags and from quotes; what XML 1.0 cannot hold is replaced', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const written = escapeXml(text);
      assert.not.match(written, /[<>"']|&(?!(?:amp|lt|gt|quot|apos|#13);)/);
      assert.is(
        readXml(written),
        text.replace(/[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu, '\ufffd'),
      );
    }),
  );
  assert.is(escapeXml('a\u0000b\ud800c\uffff\r'), 'a\ufffdb\ufffdc\ufffd&#13;');
});

test('fields are elements in their order, numbers too', () => {
  const { status, type, body } = xmlReply('ussd', { type: 2, msg: '1. Tea & "milk"\n2. None' });
  assert.equal([status, type], [200, 'text/xml; charset=utf-8']);
  assert.is(
    body,
    '<?xml version="1.0" encoding="UTF-8"?><ussd><type>2</type><msg>1. Tea &amp; &quot;milk&quot;\n2. None</msg></ussd>',
  );
});

test.run();

// Server-sent events, however their bytes are cut and their lines end.

import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { readEvents, type StreamedEvent } from '../../lib/event-stream.ts';

const test = suite('event streams');

const field = fc.stringMatching(/^[a-z0-9.]{0,8}$/);
const event = fc.record({
  event: field,
  id: field,
  lines: fc.array(
    fc.string({ unit: 'grapheme' }).map((text) => text.replace(/[\r\n]/g, '')),
    { minLength: 1, maxLength: 3 },
  ),
});

test('events are read however their bytes are cut and their lines end; what has no data is none', () =>
  fc.assert(
    fc.asyncProperty(
      fc.array(event, { maxLength: 5 }),
      fc.array(fc.nat(400), { maxLength: 8 }),
      fc.constantFrom('\n', '\r\n', '\r'),
      fc.boolean(),
      async (events, places, end, cut) => {
        const texts = events.map(({ event, id, lines }) => {
          const data = lines.map((line) => `data: ${line}\n`).join('');
          return `${event && `event:${event}\n`}${id && `id: ${id}\n`}${data}\n`;
        });
        const whole = `\ufeff: still here\n\n${texts.join(':\n\nevent\n\nretry: 7\nid: 9\n\n')}id: 9\ndata:cut`;
        const bytes = new TextEncoder().encode(whole.replaceAll('\n', end));
        const stops = [...places.filter((place) => place < bytes.length).sort((a, b) => a - b), bytes.length];
        const chunks = stops.map((stop, at) => bytes.slice(stops[at - 1] ?? 0, stop));
        const read: StreamedEvent[] = [];
        for await (const one of readEvents(chunks, { cut })) read.push(one);
        const right = events.map(({ lines, ...one }) => ({ ...one, data: lines.join('\n') }));
        assert.equal(read, [...right, ...(cut ? [{ event: '', id: '9', data: 'cut' }] : [])]);
      },
    ),
    { numRuns: 200 },
  ));

test.run();

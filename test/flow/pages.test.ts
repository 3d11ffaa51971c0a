// Pages: nothing is lost, split or doubled on the way to small screens, and every page fits in the encoding it needs.

import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Flow } from '../../lib/flow/format/flow.ts';
import { FLOW_LIMITS } from '../../lib/flow/limits.ts';
import { compileFlow } from '../../lib/flow/run/compile.ts';
import { cut, cutPages, fitsScreen, room, septets } from '../../lib/flow/run/render.ts';
import { flowOf, lines, phone } from './phone.ts';

const test = suite('pages');

const ROOM = FLOW_LIMITS.screenSeptets;

/** Whether a text fits its screen, counted in octets as a telecom does: seven bits, or two octets for each unit. */
function isScreen(text: string, chars: number): boolean {
  const used = septets(text);
  const octets = Math.ceil((chars * 7) / 8);
  return used === undefined ? text.length * 2 <= Math.min(octets + 1, 160) : used <= chars;
}

const alphabets = ['abc defgh', 'ab{}[]~^|€', 'añö', 'aя ж', 'a😀b', 'ΔΦ €x'].map((signs) => [...signs]);
const words = (maxLength: number) =>
  fc
    .constantFrom(...alphabets)
    .chain((signs) => fc.array(fc.constantFrom(...signs), { minLength: 1, maxLength }))
    .map((letters) => letters.join('').replace(/ +/g, ' ').trim() || 'x');

const FOOTERS = [[], ['0. Back'], ['0. Back', '00. Home', '*. Exit'], ['0. Назад', '*. Exit']] as const;
const footers = fc.constantFrom(...FOOTERS);
// Rows and titles of the tests fit one page of this size, also where a character halves the room.
const chars = fc.integer({ min: 172, max: ROOM });

test('the pages of a list are its rows in order, none lost, split or doubled, and every page fits', () => {
  fc.assert(
    fc.property(fc.array(words(8), { maxLength: 40 }), words(8), footers, chars, (rows, text, footer, limit) => {
      // Distinct rows, so that one in the place of another is seen.
      const numbered = rows.map((row, at) => `${at}:${row}`);
      const pages = cutPages(
        { text, rows: numbered },
        { chars: limit, footer: (more) => [...(more ? ['98. More'] : []), ...footer] },
      );
      const seen: string[] = [];
      for (const [at, page] of pages.entries()) {
        assert.ok(isScreen(page, limit), page);
        const isLast = at === pages.length - 1;
        const own = isLast ? footer : ['98. More', ...footer];
        const all = lines(page);
        assert.equal(all.slice(all.length - own.length), own);
        const shown = all.slice(0, all.length - own.length);
        assert.is(shown.shift(), text, 'the title is on every page');
        assert.ok(isLast || shown.length > 0, 'a page before the last has a row');
        seen.push(...shown);
      }
      assert.equal(seen, numbered);
    }),
    { numRuns: 400 },
  );
});

test('a page is full: the first row of the next one would not have fitted', () => {
  fc.assert(
    fc.property(fc.array(words(10), { minLength: 5, maxLength: 40 }), chars, (rows, limit) => {
      const numbered = rows.map((row, at) => `${at}:${row}`);
      const pages = cutPages(
        { text: 'T', rows: numbered },
        { chars: limit, footer: (more) => (more ? ['98. More'] : []) },
      );
      for (let at = 0; at + 1 < pages.length; at++) {
        const next = lines(pages[at + 1]!)[1]!;
        const longer = [...lines(pages[at]!).slice(0, -1), next, '98. More'].join('\n');
        assert.not.ok(fitsScreen(longer, limit), longer);
      }
    }),
    { numRuns: 150 },
  );
});

test('a text of any length comes whole, word by word, and every page fits', () => {
  fc.assert(
    fc.property(fc.array(words(8), { minLength: 1, maxLength: 200 }), footers, chars, (parts, footer, limit) => {
      const text = parts.join(' ');
      const pages = cutPages(
        { text, rows: [] },
        { chars: limit, footer: (more) => [...(more ? ['98. More'] : []), ...footer] },
      );
      const shown = pages.map((page, at) => {
        assert.ok(isScreen(page, limit), page);
        const own = at === pages.length - 1 ? footer.length : footer.length + 1;
        const all = lines(page);
        return all.slice(0, all.length - own).join('\n');
      });
      assert.equal(shown.join(' ').split(/\s+/), text.split(/\s+/));
    }),
    { numRuns: 300 },
  );
});

test('a word that is longer than a page is cut, never inside of a character', () => {
  fc.assert(
    fc.property(
      fc.constantFrom('x', 'я', '😀', '€', 'a😀'),
      fc.integer({ min: 1, max: 400 }),
      chars,
      (sign, count, limit) => {
        const text = sign.repeat(count);
        const pages = cutPages({ text, rows: [] }, { chars: limit, footer: (more) => (more ? ['98. More'] : []) });
        for (const page of pages) {
          assert.ok(isScreen(page, limit), page);
          assert.not.match(page, /\p{Cs}/u);
        }
        assert.is(pages.map((page) => page.replace(/\n98\. More$/, '')).join(''), text);
      },
    ),
    { numRuns: 200 },
  );
});

test('the rows of a flow come page by page, in the order of the list', async () => {
  const shape = fc.array(words(16), { minLength: 1, maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(shape, fc.boolean(), async (rows, numbered) => {
      const flow = flowOf(
        {
          list: {
            type: 'list',
            text: 'Rows',
            items: 'rows',
            row: '{{row}};',
            ...(numbered && { pick: { to: 'end' } }),
          },
          end: { type: 'end', text: 'picked' },
        },
        { vars: { rows: { type: 'array', default: rows } }, keys: { exit: '*' } },
      );
      const caller = phone(flow);
      const seen: string[] = [];
      for (let text = await caller.dial(); ; text = await caller.say('98')) {
        const { used, limit } = room(text);
        assert.ok(used <= limit, text);
        const all = lines(text).slice(1, -1);
        const more = all.at(-1) === '98. More';
        seen.push(...(more ? all.slice(0, -1) : all));
        if (!more) break;
      }
      assert.equal(
        seen,
        rows.map((row, at) => `${numbered ? `${at + 1}. ` : ''}${row};`),
      );
      // No further page: the key leads nowhere and is an answer like any other.
      assert.match(await caller.say('98'), /^Invalid choice/);
    }),
    { numRuns: 40 },
  );
});

test('a long question is read in pages, and more is an answer on its last one', async () => {
  const text = Array.from({ length: 60 }, (_, at) => `word${at}`).join(' ');
  const flow = flowOf(
    { ask: { type: 'input', text, save: 'said', to: 'end' }, end: { type: 'end', text: 'You said {{said}}' } },
    { vars: { said: { type: 'string' } } },
  );
  const caller = phone(flow);
  const seen = [await caller.dial()];
  while (seen.at(-1)!.endsWith('98. More')) seen.push(await caller.say('98'));
  assert.is(seen.map((page) => page.replace(/\n98\. More$/, '')).join(' '), text);
  assert.is(await caller.say('98'), 'You said 98');
});

test('a page that is gone because the list shrank shows the last one, and back from there leads on', async () => {
  const flow = flowOf(
    {
      a: { type: 'menu', text: 'A', options: [{ id: 'b', text: 'List', to: 'b' }] },
      b: { type: 'list', text: 'Rows', items: 'rows', row: 'the row {{row}}' },
    },
    { vars: { rows: { type: 'array', default: Array.from({ length: 50 }, (_, at) => at) } } },
  );
  const compiled = compileFlow(flow);
  const caller = phone(compiled);
  await caller.dial();
  await caller.say('1', '98', '98');
  const view = (rows: number) => ({
    state: 'b',
    waiting: false,
    context: { ...caller.context, rows: Array.from({ length: rows }, (_, at) => at) },
  });
  assert.match(compiled.render(view(50)).text, /98\. More\n0\. Back$/);
  assert.is(
    compiled.render(view(12)).text,
    compiled.render({ ...view(12), context: { ...view(12).context, $page: 1 } }).text,
  );
  assert.is(compiled.render(view(2)).text, 'Rows\nthe row 0\nthe row 1\n0. Back');
  const prove = () => '';
  assert.equal(compiled.read(view(2), '98', prove), { type: 'invalid' });
  assert.equal(compiled.read(view(2), '0', prove), { type: 'back.a' });
});

test('a mistake on any page hides no row: turning on shows what followed', async () => {
  const rows = Array.from({ length: 40 }, (_, at) => `the row ${at}`);
  const flow: Flow = flowOf(
    { b: { type: 'list', text: 'Rows', items: 'rows', row: '{{row}}', error: 'This is not one of the keys below.' } },
    { vars: { rows: { type: 'array', default: rows } } },
  );
  for (let turns = 0; turns < 4; turns++) {
    const caller = phone(flow);
    const seen = new Set(lines(await caller.dial()));
    for (let at = 0; at < turns; at++) for (const line of lines(await caller.say('98'))) seen.add(line);
    let text = await caller.say('oops');
    for (;;) {
      for (const line of lines(text)) seen.add(line);
      if (!text.endsWith('98. More')) break;
      text = await caller.say('98');
    }
    assert.equal(
      rows.filter((row) => !seen.has(row)),
      [],
    );
  }
});

test('a list has all its rows, however many, and a call whose answer is longer than its variable fails', async () => {
  const flow = flowOf(
    {
      get: {
        type: 'call',
        service: 'own.rows',
        save: 'rows',
        done: 'rows',
        fail: [{ set: { why: '=error.message' }, to: 'no' }],
      },
      rows: { type: 'list', text: 'Wards', items: 'rows', row: 'Ward {{row}}', pick: { save: 'ward', to: 'yes' } },
      yes: { type: 'end', text: 'Picked {{ward}}' },
      no: { type: 'end', text: '{{why}}' },
    },
    { vars: { rows: { type: 'array', max: 1234 }, ward: { type: 'number' }, why: { type: 'string' } } },
  );
  const rowsOf = (count: number) => ({ 'own.rows': async () => Array.from({ length: count }, (_, at) => at + 1) });
  const caller = phone(flow, { services: rowsOf(1234) });
  const seen: string[] = [];
  for (let text = await caller.dial(); ; text = await caller.say('98')) {
    seen.push(...lines(text).filter((line) => line.includes('Ward ')));
    if (!text.includes('98. More')) break;
  }
  assert.equal(seen.length, 1234);
  assert.is(seen.at(-1)!.split('. ')[1], 'Ward 1234');
  assert.is(await caller.say(seen.at(-1)!.split('. ')[0]!), 'Picked 1234');
  assert.match(await phone(flow, { services: rowsOf(1235) }).dial(), '"rows" keeps at most 1234 items, and got 1235');
});

test('last words have no pages: they are cut to one screen, between words where that is possible', () => {
  fc.assert(
    fc.property(fc.array(words(20), { minLength: 1, maxLength: 60 }), chars, (parts, limit) => {
      const text = parts.join(' ');
      const shown = cut(text, limit);
      assert.ok(isScreen(shown, limit), shown);
      if (shown !== text) {
        assert.ok(shown.endsWith('...'));
        assert.ok(text.startsWith(shown.slice(0, -3)));
      }
    }),
    { numRuns: 200 },
  );
  assert.is(cut('one two three '.repeat(20), 40), 'one two three one two three one two...');
});

test.run();

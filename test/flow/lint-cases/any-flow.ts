// Flows that the schema accepts: wild ones with every mistake that it cannot see, tame ones that are often without.

import fc, { type Arbitrary } from 'fast-check';

const ODD = ['start', 'toString', 'constructor', '__proto__', 'row', 'error', 'lang', 'x.y', '', '1', 'a/b~c'];
const CONDITIONS = ['b == 1', "a == 'x' and not (b > 1)", 'c.d[0] > 2', 'len(a) > 3'];
const ITEMS = ['d', 'c.d', 'b > 1 ? d : c.d'];
const SOURCES = ['a', 'b == 1', 'c.d[0] > 2', "len(a) > 3 ? 'x' : d", 'b + 1'];
const ODD_SOURCES = [
  'not b',
  'a == 1',
  'c < d',
  'a +',
  '(',
  '1 > 0',
  'error.code',
  'row',
  'nothing',
  'toString',
  'x'.repeat(600),
  '',
];
const WORDS = [
  '',
  'Hi',
  '{{a}}',
  '{{b|money}} and {{c.d[3].e|trunc:20}}',
  '\\{{x}}',
  '{{d|count}} {{d[999999]}} {{d[0].x}}',
];
const ODD_WORDS = [
  ...['{{row.a|date}}{{row[0]}}', '{{', '{{a|nope}}', '{{toString}}', 'ä✓😀', 'W'.repeat(400), '{{lang}}\n{{c}}'],
  ...['{{a.b}} {{a}} {{a.b.c}}', '{{d.x}} {a} {c.d|trunc:3}'],
];
const KEPT = {
  a: fc.constantFrom('x', '=a', null),
  b: fc.constantFrom(5, '=b + 1', null),
  c: fc.constantFrom({ d: 1 }, '=c', null),
  d: fc.constantFrom([1, 'x'], '=d', null),
};
const TYPES = { a: 'string', b: 'number', c: 'object', d: 'array' } as const;

type Shape<T> = { [K in keyof T]: Arbitrary<T[K]> };
const some = <T>(shape: Shape<T>, requiredKeys: (keyof T)[]) => fc.record(shape, { requiredKeys });
const is = <T extends string>(type: T) => fc.constant(type);

/** Flows as JSON values, all of them named `f`. */
export function anyFlow(kind: 'wild' | 'tame'): Arbitrary<unknown> {
  const wild = kind === 'wild';
  const often = <T>(usual: Arbitrary<T>, odd: Arbitrary<T>) =>
    wild ? fc.oneof({ weight: 4, arbitrary: usual }, { weight: 1, arbitrary: odd }) : usual;
  const id = often(fc.constantFrom('a', 'b', 'c', 'd'), fc.constantFrom(...ODD));
  const source = often(fc.constantFrom(...SOURCES), fc.constantFrom(...ODD_SOURCES));
  const condition = often(fc.constantFrom(...CONDITIONS), fc.constantFrom(...SOURCES, ...ODD_SOURCES));
  const items = often(fc.constantFrom(...ITEMS), fc.constantFrom(...SOURCES, ...ODD_SOURCES));
  const words = often(fc.constantFrom(...WORDS), fc.constantFrom(...ODD_WORDS));
  const tongues = fc.dictionary(fc.constantFrom('en', 'sn', 'toString', 'fr'), words, { minKeys: 1, maxKeys: 3 });
  const text: Arbitrary<unknown> = often<unknown>(words, tongues);
  const value: Arbitrary<unknown> = fc.oneof(
    source.map((one) => `=${one}`),
    fc.jsonValue({ maxDepth: 2 }).filter((one) => wild || !JSON.stringify(one).includes('__')),
  );
  // Tame values are of the kinds that their variables declare.
  const values: Arbitrary<unknown> = wild ? fc.dictionary(id, value, { maxKeys: 3 }) : some(KEPT, []);
  const saved = (usual: string) => (wild ? id : fc.constant(usual));
  const way = some({ to: id, when: condition, set: values }, ['to']);
  const tidy = fc
    .tuple(fc.array(some({ to: id, when: condition, set: values }, ['to', 'when']), { maxLength: 2 }), id)
    .map(([ways, to]) => [...ways, { to }] as unknown[]);
  const list: Arbitrary<unknown[]> = wild ? fc.array(way, { minLength: 1, maxLength: 3 }) : tidy;
  const ways = fc.oneof(id as Arbitrary<unknown>, list);
  const line = some({ id, text, to: id, when: condition, set: values }, ['id', 'text', 'to']);
  const keyed = some({ id, text, to: id, key: fc.constantFrom('1', '0', '*', '00') }, ['id', 'text', 'to']);
  const options = fc.uniqueArray(often<{ id: string }>(line, keyed), {
    minLength: 1,
    maxLength: 4,
    selector: (option) => (wild ? option : option.id),
  });
  const accept = often<unknown>(
    some({ digits: fc.constant(4), length: fc.constant({ min: 2 }), pattern: fc.constant('a+'), sameAs: id }, []),
    fc.constantFrom(
      { digits: { min: 6, max: 4 } },
      { pattern: '(?=x)' },
      { oneOf: ['a', 'A'] },
      { number: { min: 5, max: 1 } },
    ),
  );
  const any = { back: fc.oneof(fc.constant(false as const), id), note: words, track: fc.constantFrom('seen', 'a.b') };
  const timeout = often(fc.constant('3s'), fc.constant('9999999m'));
  const pick = some({ save: id, to: id, set: values }, ['to']);
  const count = { attempts: fc.integer({ min: 1, max: 99 }), else: id };
  const screen: Arbitrary<unknown> = fc.oneof(
    some({ ...any, type: is('menu'), text, options, error: text }, ['type', 'text', 'options']),
    some({ ...any, type: is('input'), text, save: saved('a'), to: id, accept, error: text, ...count, set: values }, [
      ...(['type', 'text', 'save', 'to'] as const),
      ...(wild ? [] : (['attempts', 'else'] as const)),
    ]),
    some({ ...any, type: is('list'), text, items, row: text, empty: text, pick }, ['type', 'text', 'items', 'row']),
    some(
      {
        ...any,
        type: is('call'),
        service: fc.constantFrom('a.b', 'toString'),
        with: values,
        save: id,
        timeout,
        done: ways,
        fail: ways,
      },
      ['type', 'service', 'done', 'fail'],
    ),
    some({ ...any, type: is('branch'), branch: list }, ['type', 'branch']),
    some(
      {
        ...any,
        type: is('flow'),
        flow: often(fc.constant('other'), fc.constantFrom('f', 'missing', 'toString')),
        with: values,
        save: saved('c'),
        done: ways,
      },
      ['type', 'flow', 'done'],
    ),
    some({ ...any, type: is('end'), text, output: values }, ['type', 'text']),
  );
  const typed = (type: string) => some({ type: fc.constant(type), max: fc.integer({ min: 1, max: 40 }) }, ['type']);
  const variable = some(
    {
      type: fc.constantFrom(...Object.values(TYPES), 'boolean'),
      default: fc.jsonValue({ maxDepth: 1 }),
      max: fc.integer({ min: 1, max: 65_536 }),
      sample: fc.jsonValue({ maxDepth: 2 }),
      secret: fc.boolean(),
    },
    ['type'],
  );
  const own = <T>(one: (name: keyof typeof TYPES) => Arbitrary<T>): Arbitrary<unknown> =>
    fc.record({ a: one('a'), b: one('b'), c: one('c'), d: one('d') });
  const key = fc.constantFrom('0', '1', '98', false as const);
  const frame = { flow: is('f'), version: fc.integer({ min: 1, max: 9 }), start: id };
  const screens = { screens: wild ? fc.dictionary(id, screen, { minKeys: 1, maxKeys: 6 }) : own(() => screen) };
  const vars = { vars: wild ? fc.dictionary(id, variable, { maxKeys: 5 }) : own((name) => typed(TYPES[name])) };
  if (!wild) return fc.record({ ...frame, ...vars, ...screens, keys: fc.constant({ exit: '*' }) });
  const migration = some({ screens: fc.dictionary(id, id), set: values, drop: fc.uniqueArray(id) }, []);
  return some(
    {
      ...frame,
      ...vars,
      ...screens,
      langs: fc.constantFrom(['en'], ['en', 'sn']),
      keys: some({ back: key, home: key, more: key, exit: key }, []),
      limits: some({ chars: fc.integer({ min: 60, max: 182 }), charset: fc.constantFrom('gsm7', 'any') }, []),
      labels: some({ back: text, goodbye: text }, []),
      wait: text,
      migrate: fc.dictionary(fc.constantFrom('1', '2', '7'), migration),
    },
    ['flow', 'version', 'start', 'screens'],
  );
}

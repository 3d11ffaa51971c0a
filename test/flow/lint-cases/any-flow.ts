// Flows in which values stand in the place of others, or of odd ones: what no author means, and the schema lets through.

import fc, { type Arbitrary } from 'fast-check';
import { BASES } from './bases.ts';

const ODD: readonly unknown[] = [
  ...[
    'start',
    'toString',
    'constructor',
    '__proto__',
    'row',
    'error',
    'lang',
    'x.y',
    '',
    '1',
    'a/b~c',
    'x'.repeat(600),
  ],
  ...['=a +', '=(', '=error.code', '=row', '=nothing', '=1 > 0', '{{row.a|date}}{{row[0]}}', '{{', '{{a|nope}}'],
  ...[
    '\\{{x}}',
    '{{toString}}',
    'ä✓😀',
    'W'.repeat(400),
    '{{lang}}\n{{c}}',
    '{{a.b}} {{a}}',
    '{{d.x}} {a} {c|trunc:3}',
  ],
  ...[
    0,
    -1,
    1e300,
    true,
    false,
    null,
    [],
    {},
    { en: 'x' },
    { toString: '{{a}}' },
    [{ to: 'bye' }],
    '9999999m',
    '(?=x)',
  ],
];

type Holder = Record<string, unknown>;
type Place = readonly [holder: Holder, key: string];

const listPlaces = (value: unknown): Place[] =>
  typeof value === 'object' && value !== null
    ? Object.keys(value).flatMap((key): Place[] => [[value as Holder, key], ...listPlaces((value as Holder)[key])])
    : [];

/** Flows as JSON values, each with its file and what is known beside it. */
export const anyFlow: Arbitrary<{ base: (typeof BASES)[keyof typeof BASES]; flow: unknown }> = fc
  .record({
    base: fc.constantFrom(...Object.values(BASES)),
    changes: fc.array(fc.record({ at: fc.nat(), by: fc.nat(), isOdd: fc.boolean() }), { minLength: 1, maxLength: 3 }),
  })
  .map(({ base, changes }) => {
    const flow = JSON.parse(base.text);
    for (const { at, by, isOdd } of changes) {
      const places = listPlaces(flow);
      const [holder, key] = places[at % places.length]!;
      const [other, name] = places[by % places.length]!;
      holder[key] = structuredClone(isOdd ? ODD[by % ODD.length] : other[name]);
    }
    return { base, flow };
  });

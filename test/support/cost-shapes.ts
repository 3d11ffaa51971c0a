// Values of the worst shapes that fit into a body: what a cost that grows faster than the bytes shows up with.

/** A kind of value; `make` gives one whose JSON has about as many bytes. */
export interface Shape {
  readonly name: string;
  /** The text of the JSON: what nests too deeply to be written by JSON.stringify can be sent, too. */
  readonly json: string;
}

/** Less than a record may hold, so that what may hold anything keeps it. */
export const SHAPE_BYTES = 700_000;

const CHARACTERS = {
  letters: 'a',
  digits: '7',
  spaces: ' ',
  slashes: '/',
  emoji: '😀',
  quotes: '"',
  backslashes: '\\',
} as const;

const COUNTS = [2_000, 12_000, 100_000] as const;

type Item = (at: number) => unknown;

const ITEMS: { readonly [kind: string]: Item } = {
  strings: (at) => `s${at}`,
  'equal objects': () => ({ a: 1 }),
  'different objects': (at) => ({ a: at }),
  'empty lists': () => [],
  numbers: (at) => at,
};

const LEVELS = [60, 5_000] as const;

/** All shapes: strings of one class of characters, lists and objects of many members, deep nests. */
export const SHAPES: readonly Shape[] = [
  ...Object.entries(CHARACTERS).map(([kind, character]) => stringOf(kind, character, SHAPE_BYTES)),
  ...COUNTS.flatMap((count) => [
    ...Object.entries(ITEMS).map(([kind, item]) => ({ name: `${count} ${kind}`, json: listOf(count, item) })),
    { name: `an object of ${count} members`, json: objectOf(count) },
  ]),
  ...LEVELS.flatMap((levels) => [
    { name: `lists of ${levels} levels`, json: '['.repeat(levels) + ']'.repeat(levels) },
    { name: `objects of ${levels} levels`, json: `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}` },
  ]),
];

/** Strings for places that are short: a path, a query parameter, a header. */
export function shortShapes(characters: number): Shape[] {
  return Object.entries(CHARACTERS).map(([kind, character]) => stringOf(kind, character, characters));
}

const HOLE = '@hole@';

/** The text of a body with a shape in one place, a JSON pointer; '' is the whole body. */
export function bodyOf(base: object, pointer: string, { json }: Shape): string {
  const steps = pointer.split('/').slice(1);
  const last = steps.pop();
  if (last === undefined) return json;
  const body = structuredClone(base) as Members;
  let at = body;
  for (const step of steps) {
    at[step] ??= {};
    at = at[step] as Members;
  }
  at[last] = HOLE;
  return JSON.stringify(body).replace(`"${HOLE}"`, () => json);
}

type Members = { [name: string]: unknown };

function stringOf(kind: string, character: string, bytes: number): Shape {
  const each = Buffer.byteLength(JSON.stringify(character)) - 2;
  return { name: `a string of ${kind}`, json: JSON.stringify(character.repeat(Math.floor(bytes / each))) };
}

function listOf(count: number, item: Item): string {
  const items: string[] = [];
  for (let at = 0, bytes = 0; at < count && bytes < SHAPE_BYTES; at++) {
    const text = JSON.stringify(item(at));
    items.push(text);
    bytes += text.length + 1;
  }
  return `[${items.join()}]`;
}

function objectOf(count: number): string {
  const members: string[] = [];
  for (let at = 0, bytes = 0; at < count && bytes < SHAPE_BYTES; at++) {
    const text = `"k${at}":${at}`;
    members.push(text);
    bytes += text.length + 1;
  }
  return `{${members.join()}}`;
}

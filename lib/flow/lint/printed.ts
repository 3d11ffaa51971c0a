// Whether a value that a text prints can be seen at all: its kind against what its filter takes, and its sample as it would be printed.

import { FILTERS } from '../expression/filters.ts';
import { compileTemplate, type TemplatePath } from '../expression/template.ts';
import type { Variable } from '../format/flow.ts';
import { isKnown, KIND_WORDS, type KnownShape, type Shape } from './shapes.ts';
import type { Slip } from './slips.ts';

interface PrintedSlot {
  readonly slot: TemplatePath;
  readonly shape: Shape;
  readonly vars: ReadonlyMap<string, Variable>;
  /** The whole text. */
  readonly text: string;
}

const PLAIN: readonly Shape['kind'][] = ['text', 'number', 'boolean'];
// A number of seconds, or an amount: milliseconds up to it are of the first years after 1970.
const YEARS_AFTER_1970 = 1e11;

/** What is wrong with a place of a text that would always be empty; undefined where something is printed, or nothing is known. */
export function findEmptySlot({ slot, shape, vars, text }: PrintedSlot): Slip | undefined {
  if (!isKnown(shape)) return undefined;
  const { path, filters } = slot;
  const [first] = filters;
  const takes: readonly Shape['kind'][] = first === undefined ? PLAIN : FILTERS[first]!.takes;
  const what = `"${path}" (${KIND_WORDS[shape.kind]})`;
  if (!takes.includes(shape.kind)) {
    const by = first === undefined ? '' : ` with "${first}"`;
    const says = `prints ${what}${by}: nothing is shown.`;
    return { code: 'prints-nothing', at: 0, isSure: shape.isSure, says, fix: adviseFix(path, shape, first) };
  }
  const sample = readSample(vars, path);
  if (first === undefined || sample === undefined || sample === null || sample === '') return undefined;
  if (first === 'date' && typeof sample === 'number' && sample < YEARS_AFTER_1970) {
    const says = `prints ${what} as a date, and its sample ${sample} is a day of ${new Date(sample).getUTCFullYear()}: "date" takes milliseconds since 1970.`;
    return {
      code: 'prints-nothing',
      at: 0,
      isSure: false,
      says,
      fix: `Print it as it is: {{${path}}}, or {{${path}|number}}.`,
    };
  }
  if (renderSlot(text, slot, vars) !== '') return undefined;
  const says = `prints ${what} with "${first}", which cannot read its sample ${JSON.stringify(sample)}: nothing is shown.`;
  return { code: 'prints-nothing', at: 0, isSure: false, says, fix: `Write {{${path}}}, or correct its sample.` };
}

function adviseFix(path: string, shape: KnownShape, filter: string | undefined): string {
  if (shape.kind === 'list') return `Show it on a "list" screen, or count it: {{${path}|count}}.`;
  if (shape.kind !== 'object') return `Remove the filter "${filter}": {{${path}}}.`;
  const [field] = [...(shape.fields?.shapes ?? [])].find(([, { kind }]) => PLAIN.includes(kind)) ?? ['field'];
  return `Print one of its fields: {{${path}.${field}}}.`;
}

/** What the sample of its variable has at a path. */
export function readSample(vars: ReadonlyMap<string, Variable>, path: string): unknown {
  const [root, ...steps] = path.match(/\w+/g)!;
  let here: unknown = vars.get(root!)?.sample;
  for (const step of steps) {
    if (here === null || typeof here !== 'object' || !Object.hasOwn(here, step)) return undefined;
    here = (here as { [key: string]: unknown })[step];
  }
  return here;
}

function renderSlot(text: string, { offset, root }: TemplatePath, vars: ReadonlyMap<string, Variable>): string {
  const rest = text.slice(offset);
  const alone = `{{${rest.slice(0, rest.indexOf('}}') + 2)}`;
  try {
    return compileTemplate(alone).render({ [root]: vars.get(root)!.sample ?? null }, 'en');
  } catch {
    // Braces inside of a quoted argument.
    return alone;
  }
}

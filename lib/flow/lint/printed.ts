// Finds placeholders that print nothing: values of a type that the filter does not accept, or samples that render as an empty text.

import { FILTERS } from '../expression/filters.ts';
import { compileTemplate, type TemplatePath } from '../expression/template.ts';
import type { Variable } from '../format/flow.ts';
import { isKnown, KIND_WORDS, type KnownShape, type Shape } from './shapes.ts';
import type { Slip } from './slips.ts';

interface PrintedSlot {
  readonly slot: TemplatePath;
  readonly shape: Shape;
  readonly vars: ReadonlyMap<string, Variable>;
}

const PLAIN: readonly Shape['kind'][] = ['text', 'number', 'boolean'];
// Smaller numbers are amounts or seconds rather than milliseconds since 1970.
const YEARS_AFTER_1970 = 1e11;

/** The problem of a placeholder that is always empty; undefined if it prints something or its type is unknown. */
export function findEmptySlot({ slot, shape, vars }: PrintedSlot): Slip | undefined {
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
  // What its rows print is checked slot by slot.
  if (first === 'lines' || renderSlot(slot, vars) !== '') return undefined;
  const says = `prints ${what} with "${first}", which cannot read its sample ${JSON.stringify(sample)}: nothing is shown.`;
  return { code: 'prints-nothing', at: 0, isSure: false, says, fix: `Write {{${path}}}, or correct its sample.` };
}

function adviseFix(path: string, shape: KnownShape, filter: string | undefined): string {
  if (shape.kind === 'list')
    return `Show it on a "list" screen, print its lines: {{${path}|lines:'{{row}}'}}, or count it: {{${path}|count}}.`;
  if (shape.kind !== 'object') return `Remove the filter "${filter}": {{${path}}}.`;
  const [field] = [...(shape.fields?.shapes ?? [])].find(([, { kind }]) => PLAIN.includes(kind)) ?? ['field'];
  return `Print one of its fields: {{${path}.${field}}}.`;
}

/** The value at a path in the variable's sample. */
export function readSample(vars: ReadonlyMap<string, Variable>, path: string): unknown {
  const [root, ...steps] = path.match(/\w+/g)!;
  let here: unknown = vars.get(root!)?.sample;
  for (const step of steps) {
    if (here === null || typeof here !== 'object' || !Object.hasOwn(here, step)) return undefined;
    here = (here as { [key: string]: unknown })[step];
  }
  return here;
}

const renderSlot = ({ whole, root }: TemplatePath, vars: ReadonlyMap<string, Variable>): string =>
  compileTemplate(`{{${whole}}}`).render({ [root]: vars.get(root)!.sample ?? null }, 'en');

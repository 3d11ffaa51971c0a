// Texts for explanations and proposals: of a part of the format, and of a service.

import type { SchemaPart } from '../format/schema.ts';
import type { ServiceContract } from '../lint/shapes.ts';

/** The schema's description, and the default. */
export function describePart({ description = '', default: usual, enum: all, examples }: SchemaPart): string {
  const values = all && `One of: ${all.map((value) => JSON.stringify(value)).join(', ')}.`;
  const without = usual !== undefined && `Without it: ${JSON.stringify(usual)}.`;
  const example = JSON.stringify(examples?.[0]);
  const isShown = example !== undefined && example.length <= EXAMPLE_CHARS;
  return [description, values, without, isShown && `Example: ${example}`].filter(Boolean).join('\n');
}

// Whole flows belong in the reference.
const EXAMPLE_CHARS = 400;

export function describeContract({ doc, input, answer }: ServiceContract): string {
  const inputs = Object.entries(input).map(([name, { required: isRequired }]) =>
    isRequired ? `${name} (required)` : name,
  );
  return [
    ...(doc === '' ? [] : [doc]),
    `Takes: ${inputs.join(', ') || 'nothing'}.`,
    ...(answer ? [`Answers: ${Object.keys(answer).join(', ')}.`] : []),
  ].join('\n');
}

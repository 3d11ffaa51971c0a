// Older forms of FLOIP as the newest one: keys in camelCase and languages by position, as 1.0.0-rc1 has them; a flow without a container;
// the context of a run, which holds its flows. Seen in the fixtures of github.com/FLOIP/flow-runner and flow-builder.

import { asObjects, asText, type Foreign, isObject } from '../source.ts';

/** What a file is read as. */
export interface FloipForm {
  readonly document: Foreign;
  /** As the file states it; undefined where it states none. */
  readonly stated: string | undefined;
  /** Whether its keys are those of 1.0.0-rc1. */
  readonly isCamel: boolean;
}

/** The same document with the keys of the newest form; what has no shape of FLOIP stays as it is. */
export function modernizeForm(given: Foreign): FloipForm {
  const isAlone = Array.isArray(given.blocks) && given.flows === undefined;
  const whole: Foreign = isAlone ? { flows: [given] } : given;
  const isCamel = asObjects(whole.flows).some(isCamelFlow);
  const stated = asText(given.specification_version) ?? asText(given.specificationVersion);
  const document = isCamel ? (renameKeys(whole) as Foreign) : whole;
  const flows = Array.isArray(document.flows) ? document.flows.map(orderLanguages) : document.flows;
  return { document: { ...document, ...(flows !== undefined && { flows }) }, stated, isCamel };
}

function isCamelFlow(flow: Foreign): boolean {
  if ('firstBlockId' in flow) return true;
  return asObjects(flow.blocks).some(({ exits }) => asObjects(exits).some((exit) => 'destinationBlock' in exit));
}

// Names of choices are no keys of the form, and metadata is of the program that wrote it.
const KEPT: ReadonlySet<string> = new Set(['choices', 'platformMetadata', 'vendorMetadata', 'uiMetadata']);

function renameKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(renameKeys);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [renameKey(key), KEPT.has(key) ? inner : renameKeys(inner)]),
  );
}

const renameKey = (key: string) => key.replace(/(?<=[a-z0-9])[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

// A list that became an object on its way: `{ "0": "22" }`.
function orderLanguages(flow: unknown): unknown {
  if (!isObject(flow) || !isObject(flow.languages)) return flow;
  return { ...flow, languages: Object.values(flow.languages) };
}

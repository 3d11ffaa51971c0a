// The contracts that a module of SERVICES exports beside its services, as `contracts`: checked, with what may be left out filled in.

import { suggest } from '../../lib/flow/expression/suggest.ts';
import type { ContractField, ContractFields, Contracts, ServiceContract } from '../../lib/flow/lint/shapes.ts';
import { isObject } from '../../lib/given.ts';

const KINDS = ['text', 'number', 'boolean', 'list', 'object', 'any'];
const LEVELS_MAX = 8;

/** Reads the export `contracts` of a module with these services; `tell` gets the end of a sentence for each mistake. */
export function readContracts(value: unknown, services: readonly string[], tell: (why: string) => void): Contracts {
  if (value === undefined) return {};
  if (!isObject(value)) {
    tell('exports "contracts", which is no object of contracts by the name of the service.');
    return {};
  }
  const contracts: Record<string, ServiceContract> = {};
  for (const [name, contract] of Object.entries(value)) {
    const flaw = services.includes(name)
      ? findFlaw(contract)
      : `is for no service of this module.${suggest(name, services)}`;
    if (flaw === undefined) contracts[name] = complete(contract as ServiceContract);
    else tell(`exports the contract "${name}", which ${flaw}`);
  }
  return contracts;
}

function findFlaw(contract: unknown): string | undefined {
  if (!isObject(contract) || !isObject(contract.input))
    return 'has no "input". Write: { input: { phone: { kind: "text", required: true } }, answer: { found: { kind: "boolean" } } }';
  const { doc = '', input, answer = {}, ...others } = contract;
  const [other] = Object.keys(others);
  if (other !== undefined)
    return `has "${other}": the keys are doc, input and answer.${suggest(other, ['doc', 'input', 'answer'])}`;
  if (typeof doc !== 'string') return 'has a "doc" that is no text.';
  return findFieldFlaw(input, 'input', ['required']) ?? findFieldFlaw(answer, 'answer');
}

function findFieldFlaw(fields: unknown, place: string, also: readonly string[] = [], level = 1): string | undefined {
  if (!isObject(fields)) return `has "${place}", which is no object of fields.`;
  if (level > LEVELS_MAX) return `has fields in more than ${LEVELS_MAX} levels.`;
  const keys = ['kind', 'about', 'fields', ...also];
  for (const [name, field] of Object.entries(fields)) {
    const here = `${place}.${name}`;
    if (!isObject(field) || !KINDS.includes(field.kind as string))
      return `has "${here}" without a "kind": one of ${KINDS.join(', ')}.${isObject(field) && typeof field.kind === 'string' ? suggest(field.kind, KINDS) : ''}`;
    const other = Object.keys(field).find((key) => !keys.includes(key));
    if (other !== undefined)
      return `has "${other}" in "${here}": the keys are ${keys.join(', ')}.${suggest(other, keys)}`;
    if (field.about !== undefined && typeof field.about !== 'string')
      return `has an "about" of "${here}" that is no text.`;
    if (field.required !== undefined && typeof field.required !== 'boolean')
      return `has a "required" of "${here}" that is neither true nor false.`;
    if (field.fields === undefined) continue;
    if (field.kind !== 'object' && field.kind !== 'list')
      return `has "fields" in "${here}", which is neither an object nor a list.`;
    const flaw = findFieldFlaw(field.fields, here, [], level + 1);
    if (flaw !== undefined) return flaw;
  }
  return undefined;
}

// Plain data, because it is handed to threads.
function complete({ doc = '', input, answer }: ServiceContract): ServiceContract {
  return { doc, input: completeFields(input), ...(answer && { answer: completeFields(answer) }) };
}

function completeFields<Field extends ContractField>(fields: {
  readonly [name: string]: Field;
}): { [name: string]: Field } {
  const entries = Object.entries(fields).map(([name, { about = '', fields: inside, ...field }]) => {
    const own = { ...field, about, ...(inside && { fields: completeFields(inside as ContractFields) }) };
    return [name, own as unknown as Field] as const;
  });
  return Object.fromEntries(entries);
}

// Compares mocked answers of services with their contracts: a test with a field that the service never gives proves nothing.

import type { Json } from '../../json/json.ts';
import { findNearest, suggest } from '../expression/suggest.ts';
import type { Finding } from '../format/problem.ts';
import { pointerTo } from '../format/source.ts';
import { type ContractFields, type Contracts, findContract, isKnown, jsonShape, KIND_WORDS } from '../lint/shapes.ts';
import type { FlowTestFile } from './file.ts';

export interface WrongMock extends Finding {
  readonly code: 'wrong-mock';
}

/** What is wrong with the mocked answers of a file; nothing for services without a contract. */
export function listWrongMocks({ tests }: FlowTestFile, contracts: Contracts | undefined): WrongMock[] {
  return tests.flatMap(({ services = {} }, test) =>
    Object.entries(services).flatMap(([service, answers]) => {
      const contract = findContract(contracts, service);
      if (!contract) return [];
      const { input, answer } = contract;
      return answers.flatMap((mock, at) => {
        const pointer = pointerTo('tests', test, 'services', service, at);
        return [
          ...compareFields(mock.when ?? null, {
            fields: input,
            pointer: `${pointer}/when`,
            what: `"${service}" takes`,
          }),
          ...compareFields(mock.return ?? null, {
            fields: answer,
            pointer: `${pointer}/return`,
            what: `"${service}" answers`,
          }),
        ];
      });
    }),
  );
}

interface Compared {
  readonly fields: ContractFields | undefined;
  readonly pointer: string;
  /** Such as `"bills.find" answers`. */
  readonly what: string;
}

function compareFields(value: Json, { fields, pointer, what }: Compared): WrongMock[] {
  if (fields === undefined || value === null) return [];
  const names = Object.keys(fields);
  const all = names.join(', ') || 'nothing';
  if (typeof value !== 'object' || Array.isArray(value)) {
    const message = `${what} an object, and this is ${JSON.stringify(value).slice(0, 40)}.`;
    return [{ code: 'wrong-mock', pointer, message, fix: `Write an object of: ${all}.` }];
  }
  return Object.entries(value as { readonly [name: string]: Json }).flatMap(([name, inner]): WrongMock[] => {
    const place = pointer + pointerTo(name);
    const field = Object.hasOwn(fields, name) ? fields[name]! : undefined;
    if (!field) {
      const nearest = findNearest(name, names);
      const text = nearest?.isAlone && !Object.hasOwn(value, nearest.name) ? nearest.name : undefined;
      const message = `${what} no "${name}".${suggest(name, names)}`;
      const mend = text === undefined ? {} : { mend: { old: name, text } };
      return [{ code: 'wrong-mock', pointer: place, at: 'key', message, fix: `Write one of: ${all}.`, ...mend }];
    }
    const shape = jsonShape(inner, '');
    if (field.kind === 'any' || !isKnown(shape)) return [];
    if (shape.kind !== field.kind) {
      const message = `${what} "${name}" as ${KIND_WORDS[field.kind]}, and this is ${KIND_WORDS[shape.kind]}.`;
      return [{ code: 'wrong-mock', pointer: place, message, fix: `Write ${KIND_WORDS[field.kind]}.` }];
    }
    const items: readonly Json[] = Array.isArray(inner) ? inner : [inner];
    return items.flatMap((item, at) =>
      compareFields(item, {
        fields: field.fields,
        pointer: Array.isArray(inner) ? place + pointerTo(at) : place,
        what: `${what} in "${name}"`,
      }),
    );
  });
}

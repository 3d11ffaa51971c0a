// Editor support for flow tests: keys of the format, and the screens, variables and services of the tested flow.

import { ERROR_CODES } from '../../errors.ts';
import { listFlowsBelow } from '../format/flow.ts';
import { FLOW_TEST_SCHEMA, type SchemaPart, schemaAt } from '../format/schema.ts';
import { pointerTo } from '../format/source.ts';
import { findContract } from '../lint/shapes.ts';
import type { Draft } from './completion.ts';
import { type Cursor, readLoosely, sketchFlow } from './cursor.ts';
import { describeScreen, type Explanation } from './explain.ts';
import { type Completion, type Completions, listValues, type ProposedName, proposeKeys, toNames } from './proposals.ts';
import { describeContract, describePart } from './words.ts';

/** A draft of a flow and of its tests. */
export interface TestedText extends Draft {
  readonly tests: string;
}

/** Undefined when there is nothing to propose. `offset` refers to the tests. Never throws. */
export function completeTests(draft: TestedText, offset: number): Completions | undefined {
  const { cursor } = sketchFlow(draft.tests, offset);
  if (!cursor) return undefined;
  if (cursor.kind === 'key')
    return proposeKeys(cursor, { text: draft.tests, names: nameKeys(draft, cursor), find: findPart(cursor) });
  const { isQuoted, from, to, path } = cursor;
  const write = (value: unknown) => (isQuoted ? String(value) : JSON.stringify(value));
  const names = nameValues(draft, cursor).map((name): Completion => ({ ...name, insert: write(name.label) }));
  const listed = listValues(findPart(cursor)(...path))
    .filter((value) => !names.length && (!isQuoted || typeof value === 'string'))
    .map((value): Completion => ({ label: String(value), kind: 'value', insert: write(value) }));
  return names.length || listed.length ? { from, to, items: [...names, ...listed] } : undefined;
}

/** Explains what is at `offset` of the tests; undefined when there is nothing to explain. Never throws. */
export function explainTests(draft: TestedText, offset: number): Explanation | undefined {
  const { cursor } = sketchFlow(draft.tests, offset);
  if (!cursor) return undefined;
  const { kind, path, from, to } = cursor;
  const word = draft.tests.slice(from, to);
  const key = path.at(-1);
  if (kind === 'value' && key === 'screen') {
    const screen = readLoosely(draft.text)?.screens[word];
    if (screen) return { from, to, title: `${word}: ${screen.type}`, words: describeScreen(screen) };
  }
  const contract = kind === 'key' && key === 'services' ? findContract(draft.contracts, word) : undefined;
  if (contract) return { from, to, title: word, words: describeContract(contract) };
  const steps = kind === 'key' ? [...path, word] : path;
  const words = describePart(findPart(cursor)(...steps));
  return words === '' ? undefined : { from, to, title: steps.at(-1) ?? 'tests', words };
}

function findPart({ around }: Cursor): (...steps: readonly string[]) => SchemaPart {
  return (...steps) => schemaAt(pointerTo(...steps), around, FLOW_TEST_SCHEMA);
}

// Initial variables, mocked services, and their inputs and outputs.
function nameKeys({ text, contracts }: TestedText, { path }: Cursor): ProposedName[] {
  const owner = path.at(-1);
  if (owner === 'given') return toNames(sketchFlow(text, 0).vars, 'variable');
  if (owner === 'services') return toNames(listServices(text), 'service');
  const service = path.at(-4) === 'services' ? path.at(-3) : undefined;
  const contract = service === undefined ? undefined : findContract(contracts, service);
  const fields = owner === 'when' ? contract?.input : owner === 'return' ? contract?.answer : undefined;
  return Object.entries(fields ?? {}).map(([label, { kind, about }]) => ({
    label,
    kind: 'field',
    detail: kind,
    info: about,
  }));
}

function listServices(text: string): string[] {
  const screens = Object.values(readLoosely(text)?.screens ?? {});
  // What is half typed may be of any form.
  const calls: readonly { readonly service?: string }[] = screens.flatMap((screen) =>
    screen.type === 'end' ? [screen.after ?? []].flat() : screen.type === 'call' ? [screen] : [],
  );
  return [...new Set(calls.flatMap(({ service }) => service ?? []))];
}

function nameValues({ text, flows }: TestedText, { path }: Cursor): ProposedName[] {
  const key = path.at(-1);
  if (key === 'screen') return toNames(listPlaces(text, flows), 'screen');
  if (key === 'flow' && path.length === 1) return toNames(flows?.keys() ?? [], 'flow');
  return key === 'fail' ? toNames(Object.keys(ERROR_CODES), 'value') : [];
}

/** Screens of the flow and of the flows it calls, such as `login.pin`. */
function listPlaces(text: string, flows: Draft['flows']): string[] {
  const read = readLoosely(text);
  const below = read && flows ? [...listFlowsBelow(read, flows)] : [];
  const inside = below.flatMap((name) => Object.keys(flows?.get(name)?.screens ?? {}).map((id) => `${name}.${id}`));
  return [...sketchFlow(text, 0).screens.keys(), ...inside];
}

// The examples of the references work: each key of the format where it stands in the worked flow, each key of a test in its tests.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Flow, Screen, Variable } from '../../../lib/flow/format/flow.ts';
import { FLOW_SCHEMA, FLOW_TEST_SCHEMA, type SchemaPart, screenTypes } from '../../../lib/flow/format/schema.ts';
import { checkFlow } from '../../../lib/flow/lint/lint.ts';
import { compileFlow } from '../../../lib/flow/run/compile.ts';
import type { FlowTestFile } from '../../../lib/flow/testing/file.ts';
import { parseFlowTests } from '../../../lib/flow/testing/parse.ts';
import { failureText, runFlowTests } from '../../../lib/flow/testing/run.ts';
import type { Json, JsonObject } from '../../../lib/json/json.ts';
import { findScreen } from '../../../server/docs/reference/flow-format.ts';
import { resolveReference } from '../../../server/docs/reference/schema-keys.ts';
import { exampleFlows, exampleTests } from '../../../server/docs/reference/test-files.ts';
import { CONTRACTS } from '../../../server/menus/contracts.ts';

const test = suite('examples of the references');

const SCHEMA = FLOW_SCHEMA;
const FLOWS = new Map(exampleFlows().map((flow) => [flow.flow, flow]));
const [, HARVEST] = exampleFlows();
const TESTS = FLOW_TEST_SCHEMA;

/** What lint says against a flow: errors, or everything. */
function problemsOf(flow: Flow, isMeant = (severity: string): boolean => severity === 'error'): string[] {
  const known = { flows: FLOWS, services: new Set(Object.keys(CONTRACTS)), contracts: CONTRACTS };
  const { problems } = checkFlow(JSON.stringify(flow), `${flow.flow}.flow.json`, known);
  return problems.filter(({ severity }) => isMeant(severity)).map(({ pointer, message }) => `${pointer}: ${message}`);
}

type Place = readonly (string | number)[];

/** The worked flow with this value at a place. */
function harvestWith(place: Place, value: unknown): Flow {
  const flow = structuredClone(HARVEST) as unknown as JsonObject;
  const owner = place
    .slice(0, -1)
    .reduce<unknown>((part, step) => ((part as { [step: string]: unknown })[step] ??= {}), flow);
  (owner as { [step: string]: unknown })[place.at(-1)!] = value;
  return flow as unknown as Flow;
}

const examplesOf = (given: SchemaPart): readonly unknown[] => {
  const { const: only, examples, enum: choices, default: usual } = resolveReference(given, { schema: SCHEMA });
  return only !== undefined ? [only] : (examples ?? choices ?? [usual]);
};

const screens = Object.entries(HARVEST!.screens);

/** The first of the entries that has the key, or else the first. */
function placeOf(entries: readonly (readonly [Place, object])[], key: string): Place {
  const [place] = entries.find(([, part]) => Object.hasOwn(part, key)) ?? entries[0]!;
  return [...place, key];
}

const ofType = (type: string) =>
  screens.filter(([, screen]) => screen.type === type).map(([id, screen]) => [['screens', id], screen] as const);
const menus = ofType('menu') as unknown as readonly (readonly [Place, Screen & { type: 'menu' }])[];
const calls = ofType('call') as unknown as readonly (readonly [Place, Screen & { type: 'call' }])[];
const inputs = ofType('input') as unknown as readonly (readonly [Place, Screen & { type: 'input' }])[];

/** In the place of a definition: what holds all of them. */
const FILE = '';

/** Where the keys of a definition stand in the worked flow. */
const PLACES: { readonly [definition: string]: (key: string) => Place } = {
  [FILE]: (key) => [key],
  ...Object.fromEntries(screenTypes().map((type) => [type, (key: string) => placeOf(ofType(type), key)])),
  option: (key) =>
    placeOf(
      menus.flatMap(([place, { options }]) => options.map((one, at) => [[...place, 'options', at], one] as const)),
      key,
    ),
  way: (key) =>
    placeOf(
      calls.flatMap(([place, { done }]) =>
        typeof done === 'string' ? [] : done.map((one, at) => [[...place, 'done', at], one] as const),
      ),
      key,
    ),
  migration: (key) => ['migrate', '2', key],
};

// Names are merged: the flow needs its own, too.
const MERGED = new Set(['vars', 'screens']);

test('the flows of the references are in order, without a warning', () => {
  assert.is(FLOWS.size, 4);
  for (const flow of FLOWS.values())
    assert.equal(
      problemsOf(flow, () => true),
      [],
    );
});

test('every example of a key of the file, a screen, an option, a way or a migration fits the worked flow', () => {
  const visit = (name: string, prefix: Place, part: SchemaPart): void => {
    for (const [key, given] of Object.entries(part.properties ?? {})) {
      const [first, ...inner] = [...prefix, key];
      const place = [...PLACES[name]!(String(first)), ...inner];
      // Each service takes something else; their own tests call them.
      if (key === 'service') assert.equal(examplesOf(given), Object.keys(CONTRACTS));
      for (const value of key === 'service' ? [] : examplesOf(given)) {
        const old = (HARVEST as unknown as JsonObject)[key] as JsonObject;
        const meant = name === FILE && MERGED.has(key) ? { ...old, ...(value as JsonObject) } : value;
        assert.equal(problemsOf(harvestWith(place, meant)), [], `${name}.${key}: ${JSON.stringify(value)}`);
      }
      if (!given.$ref) visit(name, [...prefix, key], given);
    }
  };
  for (const name of Object.keys(PLACES)) visit(name, [], name === FILE ? SCHEMA : SCHEMA.definitions![name]!);
});

test('every example of a rule of accept fits an input screen', () => {
  const visit = (rules: readonly string[], part: SchemaPart): void => {
    for (const [key, given] of Object.entries(part.properties ?? {})) {
      const path = [...rules, key];
      for (const value of examplesOf(given)) {
        const accept = path.reduceRight<unknown>((inner, rule) => ({ [rule]: inner }), value) as JsonObject;
        const at = inputs.find((one) => one[1].accept && path[0]! in one[1].accept) ?? inputs[0]!;
        const flow = harvestWith([...at[0], 'accept'], accept);
        const { max: _, ...kept } = flow.vars![at[1].save]!;
        const roomy = { ...flow, vars: { ...flow.vars, [at[1].save]: kept } };
        assert.equal(problemsOf(roomy), [], JSON.stringify(accept));
      }
      if (!given.$ref) visit(path, given);
    }
  };
  visit([], SCHEMA.definitions!.accept!);
});

const KINDS: { readonly [kind: string]: Variable['type'] } = { string: 'string', number: 'number', boolean: 'boolean' };

test('every example of a variable is one', () => {
  const kindOf = (value: unknown) => KINDS[typeof value] ?? (Array.isArray(value) ? 'array' : 'object');
  for (const [key, given] of Object.entries(SCHEMA.definitions!.variable!.properties!))
    for (const value of examplesOf(given)) {
      const type = key === 'type' ? value : key === 'default' || key === 'sample' ? kindOf(value) : 'string';
      const flow = harvestWith(['vars', 'other'], { type, [key]: value });
      assert.equal(problemsOf(flow), [], `${key}: ${JSON.stringify(value)}`);
    }
});

test('every type of screen has an example, with what the caller reads', () => {
  for (const type of screenTypes() as Screen['type'][]) {
    const { screen, shown } = findScreen(type);
    assert.is(screen[1].type, type);
    assert.is(shown !== undefined, ['menu', 'input', 'list', 'end'].includes(type), type);
  }
});

async function failuresOf(file: FlowTestFile): Promise<string[]> {
  const { problems } = parseFlowTests(JSON.stringify(file), `${file.flow}.test.json`);
  assert.equal(problems, []);
  const { tests } = await runFlowTests(compileFlow(FLOWS.get(file.flow)!, { flows: FLOWS }), file);
  return tests.flatMap(({ failures }) => failures.map(failureText));
}

test('the tests of the worked flow pass, and so do the tests that are shown by themselves', async () => {
  assert.ok(exampleTests().length > 0);
  for (const file of exampleTests()) assert.equal(await failuresOf(file), []);
  for (const tests of TESTS.properties!.tests!.examples!)
    assert.equal(await failuresOf({ flow: 'harvest', tests } as FlowTestFile), []);
});

test('every example of a key of a test file is of the worked tests', () => {
  const all = exampleTests().flatMap(({ tests }) => tests);
  const parts: { readonly [definition: string]: readonly object[] } = {
    test: all,
    step: all.flatMap(({ steps }) => steps),
    answer: all.flatMap(({ services = {} }) => Object.values(services).flat()),
  };
  assert.equal(Object.keys(TESTS.definitions!).sort(), Object.keys(parts).sort());
  for (const [name, { properties = {} }] of Object.entries(TESTS.definitions!))
    for (const [key, { examples = [] }] of Object.entries(properties)) {
      assert.ok(examples.length > 0, `${name}.${key}`);
      const used = parts[name]!.map((part) => JSON.stringify((part as { [key: string]: Json })[key]));
      for (const value of examples)
        assert.ok(used.includes(JSON.stringify(value)), `${name}.${key}: ${JSON.stringify(value)}`);
    }
});

test.run();

// The reference leaves nothing of the tables out: functions, filters, operators, keys, services, codes of errors.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { CALL_ERRORS } from '../../../lib/engine/calls.ts';
import { FILTERS } from '../../../lib/flow/expression/filters.ts';
import { FUNCTIONS } from '../../../lib/flow/expression/functions.ts';
import { BINARY_OPERATORS, OTHER_OPERATORS, WRITTEN_VALUES } from '../../../lib/flow/expression/operators.ts';
import { DOOR_NAMES, LOCAL_NAMES } from '../../../lib/flow/format/names.ts';
import { flowSchema, flowTestSchema, type SchemaPart, screenTypes } from '../../../lib/flow/format/schema.ts';
import { ID_CHECKS } from '../../../lib/flow/run/id-checks.ts';
import { REFERENCES } from '../../../server/docs/docs-page.ts';
import type { Reference, ReferenceEntry } from '../../../server/docs/reference/frame.ts';
import { CONTRACTS } from '../../../server/menus/contracts.ts';
import { sharedServer } from '../support/serve.ts';

const test = suite('pages of the reference');

const entriesOf = ({ sections }: Reference) =>
  sections().flatMap(({ groups }) => groups.flatMap(({ entries }) => entries));
const namesOf = (entries: readonly ReferenceEntry[]) => entries.map(({ name }) => name);

test('every function, filter, operator, value and given name is an entry', () => {
  const names = namesOf(entriesOf(REFERENCES.expressions));
  const tables = [FUNCTIONS, FILTERS, BINARY_OPERATORS, OTHER_OPERATORS, WRITTEN_VALUES];
  const usages = tables.flatMap((table) => Object.values<{ usage: string }>(table).map(({ usage }) => usage));
  for (const name of [...usages, ...Object.keys(DOOR_NAMES), ...Object.keys(LOCAL_NAMES), 'lang'])
    assert.ok(names.includes(name), name);
});

test('every key of the format and of test files is an entry, and every definition is shown', () => {
  const keysOf = (part: SchemaPart, prefix = ''): string[] =>
    Object.entries(part.properties ?? {}).flatMap(([key, inner]) => [
      prefix + key,
      ...(inner.$ref ? [] : keysOf(inner, `${prefix}${key}.`)),
    ]);
  // Parts that one key means everywhere have no section: the key says it.
  const KEYS = new Set(['to', 'when', 'set', 'track', 'back', 'note', 'screen']);
  for (const [reference, schema] of [
    [REFERENCES.flowFormat, flowSchema()],
    [REFERENCES.testFiles, flowTestSchema()],
  ] as const) {
    const sections = new Map(reference.sections().map((section) => [section.id, section]));
    const parts = Object.entries(schema.definitions!).filter(([name]) => !KEYS.has(name));
    for (const [name, part] of [[schema === flowSchema() ? 'flow' : 'file', schema] as const, ...parts]) {
      const section = sections.get(screenTypes().includes(name) && part !== schema ? `screen-${name}` : name);
      assert.ok(section, `${reference.title}: ${name}`);
      assert.equal(namesOf(section.groups.flatMap(({ entries }) => entries)), keysOf(part), name);
    }
  }
  const checks = namesOf(entriesOf(REFERENCES.flowFormat));
  for (const name of Object.keys(ID_CHECKS)) assert.ok(checks.includes(name), name);
});

test('every service is a section with what it takes, answers and fails with; and every code of error is told', () => {
  const sections = REFERENCES.services.sections();
  for (const [name, { input, answer, errors, examples }] of Object.entries(CONTRACTS)) {
    const { groups } = sections.find(({ title }) => title === name)!;
    const titles = examples.map(({ title }) => title);
    assert.equal(
      groups.map(({ entries }) => namesOf(entries)),
      [...[input, answer, errors].map((part) => Object.keys(part)), titles],
    );
  }
  const names = namesOf(entriesOf(REFERENCES.services));
  for (const code of Object.keys(CALL_ERRORS)) assert.ok(names.includes(code), code);
});

const server = sharedServer(test, {});

test('every anchor of a page is there once, the contents lead to every section, and the index of guides to every page', async () => {
  const index = (await server().ask('/docs/guides')).text;
  for (const { path, sections } of Object.values(REFERENCES)) {
    assert.match(index, `href="${path}"`);
    const { text } = await server().ask(path);
    const anchors = [...text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id!);
    assert.is(new Set(anchors).size, anchors.length, path);
    const [, contents] = /<nav [^>]*id="contents"[^>]*>(.*?)<\/nav>/s.exec(text)!;
    for (const { id } of sections()) assert.match(contents!, `href="#${id}"`);
  }
});

test.run();

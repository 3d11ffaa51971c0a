// `twinline lint` for programs: SARIF as its standard asks, and codes that stay what they are.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Ajv } from 'ajv';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { PROBLEM_CODES } from '../../../lib/flow/lint/lint.ts';
import { run, withFiles } from '../support/command.ts';

const test = suite('lint for programs');

const FLOW = {
  flow: 'small',
  version: 1,
  start: 'first',
  keys: { exit: '*' },
  screens: {
    first: { type: 'menu', text: 'Here', options: [{ id: 'on', text: 'On', to: 'frist' }] },
    unseen: { type: 'end', text: 'Never' },
  },
};

// What SARIF 2.1.0 requires of the parts that are written here (sections 3.13 to 3.30), and nothing beside them.
const text = { type: 'object', required: ['text'], properties: { text: { type: 'string', minLength: 1 } } };
const LEVEL = { enum: ['none', 'note', 'warning', 'error'] };
const SARIF = {
  type: 'object',
  required: ['version', 'runs'],
  additionalProperties: false,
  properties: {
    $schema: { type: 'string', pattern: '^https://.*sarif-schema-2\\.1\\.0\\.json$' },
    version: { const: '2.1.0' },
    runs: {
      type: 'array',
      minItems: 1,
      items: {
        type: 'object',
        required: ['tool', 'results'],
        additionalProperties: false,
        properties: {
          tool: {
            type: 'object',
            required: ['driver'],
            properties: {
              driver: {
                type: 'object',
                required: ['name'],
                properties: {
                  name: { type: 'string', minLength: 1 },
                  semanticVersion: { type: 'string', pattern: '^\\d+\\.\\d+\\.\\d+' },
                  rules: {
                    type: 'array',
                    uniqueItems: true,
                    items: {
                      type: 'object',
                      required: ['id'],
                      properties: { id: { type: 'string' }, shortDescription: text },
                    },
                  },
                },
              },
            },
          },
          columnKind: { enum: ['utf16CodeUnits', 'unicodeCodePoints'] },
          originalUriBaseIds: {
            type: 'object',
            additionalProperties: { type: 'object', properties: { uri: { type: 'string', pattern: '^file:///.*/$' } } },
          },
          invocations: {
            type: 'array',
            items: {
              type: 'object',
              required: ['executionSuccessful'],
              properties: {
                executionSuccessful: { type: 'boolean' },
                toolExecutionNotifications: {
                  type: 'array',
                  items: { type: 'object', required: ['message'], properties: { message: text, level: LEVEL } },
                },
              },
            },
          },
          results: {
            type: 'array',
            items: {
              type: 'object',
              required: ['message'],
              properties: {
                ruleId: { type: 'string' },
                ruleIndex: { type: 'integer', minimum: 0 },
                level: LEVEL,
                message: text,
                locations: {
                  type: 'array',
                  items: {
                    type: 'object',
                    properties: {
                      physicalLocation: {
                        type: 'object',
                        required: ['artifactLocation'],
                        properties: {
                          artifactLocation: {
                            type: 'object',
                            required: ['uri'],
                            properties: { uri: { type: 'string', pattern: '^[^ \\\\]+$' } },
                          },
                          region: {
                            type: 'object',
                            required: ['startLine'],
                            properties: {
                              startLine: { type: 'integer', minimum: 1 },
                              startColumn: { type: 'integer', minimum: 1 },
                            },
                          },
                        },
                      },
                    },
                  },
                },
              },
            },
          },
        },
      },
    },
  },
} as const;

interface Sarif {
  readonly runs: readonly [
    {
      readonly tool: { readonly driver: { readonly rules: readonly { readonly id: string }[] } };
      readonly results: readonly {
        readonly ruleId: string;
        readonly ruleIndex: number;
        readonly level: string;
        readonly locations: readonly [
          { readonly physicalLocation: { readonly artifactLocation: { readonly uri: string } } },
        ];
      }[];
    },
  ];
}

test('--sarif is valid, names the same problems as --json, and rules by their place', () =>
  withFiles({ 'small flow.flow.json': { ...FLOW, flow: 'small flow' }, 'small.flow.json': FLOW }, async (folder) => {
    const [sarif, json] = [await run(['lint', folder, '--sarif']), await run(['lint', folder, '--json'])];
    assert.equal([sarif.code, json.code], [1, 1]);
    const validate = new Ajv({ allErrors: true, strict: false }).compile(SARIF);
    assert.ok(validate(JSON.parse(sarif.out)), JSON.stringify(validate.errors));
    const { results, tool } = (JSON.parse(sarif.out) as Sarif).runs[0];
    const problems = JSON.parse(json.out) as { code: string; severity: string }[];
    assert.ok(problems.length >= 2);
    assert.equal(
      results.map(({ ruleId, level }) => [ruleId, level]),
      problems.map(({ code, severity }) => [code, severity]),
    );
    for (const { ruleId, ruleIndex } of results) assert.is(tool.driver.rules[ruleIndex]?.id, ruleId);
    const uris = new Set(results.map(({ locations }) => locations[0].physicalLocation.artifactLocation.uri));
    assert.ok([...uris].every((uri) => fileURLToPath(uri).startsWith(folder)));
  }));

test('paths below the working folder are told from there, as a code host wants them', async () => {
  await withFiles({ 'small.flow.json': FLOW }, async (folder) => {
    const before = process.cwd();
    process.chdir(folder);
    try {
      const log = JSON.parse((await run(['lint', '.', '--sarif'])).out) as Sarif;
      const { artifactLocation } = log.runs[0].results[0]!.locations[0].physicalLocation;
      assert.equal(artifactLocation, { uri: 'small.flow.json', uriBaseId: '%SRCROOT%' } as never);
    } finally {
      process.chdir(before);
    }
  });
});

test('sound menus: an empty list of results, and 0; two forms at once are refused', async () => {
  const menus = fileURLToPath(new URL('../../../menus', import.meta.url));
  const { code, out } = await run(['lint', menus, '--sarif']);
  assert.is(code, 0);
  assert.equal((JSON.parse(out) as Sarif).runs[0].results, []);
  assert.is((await run(['lint', menus, '--sarif', '--json'])).code, 2);
});

test('every code that a file can have is listed with its meaning', async () => {
  const files = {
    'a.flow.json': '{',
    'b.flow.json': { flow: 'c', version: '1', start: 'x', screens: {}, note: 5, other: 1 },
    'd.flow.json': '{"flow":"d","flow":"d"}',
  };
  await withFiles(files, async (folder) => {
    const problems = JSON.parse((await run(['lint', '--json', folder])).out) as { code: string }[];
    const codes = new Set(problems.map(({ code }) => code));
    assert.ok(codes.size >= 5, [...codes].join());
    assert.equal(
      [...codes].filter((code) => !PROBLEM_CODES.has(code)),
      [],
    );
  });
});

test('--fix writes what is certain, says so, and leaves the rest of the file as it is', () => {
  const before = `${JSON.stringify(FLOW, null, 4)}\n\n`.replace('"text": "Never"', '"text": "Never",   "notes": "x"');
  return withFiles({ 'small.flow.json': before, 'other.flow.json': '{' }, async (folder) => {
    const { code, err, out } = await run(['lint', folder, '--fix']);
    const text = readFileSync(join(folder, 'small.flow.json'), 'utf8');
    assert.is(text, before.replace('"notes"', '"note"').replace('frist', 'first'));
    assert.match(err, 'mended dangling-target: frist → first');
    assert.match(err, 'mended unknown-key: notes → note');
    assert.match(out, 'unreachable');
    assert.is(code, 1, 'the other file is still no JSON');
    assert.is(readFileSync(join(folder, 'other.flow.json'), 'utf8'), '{');
    assert.not.match((await run(['lint', folder, '--fix'])).err, 'mended');
  });
});

test('tests are looked at, too, and --fix mends them', () => {
  const answers = '{ "return": 1, "times": "2" }, { "fail": "ERR_SERVCE" }';
  const steps = '[{ "in": "*384#", "txet": "First" }, { "in": 1, "end": "true", "screen": "a", "screen": "a" }]';
  const before = `{ "flow": "small",\n  "tests": [{ "name": "one", "services": { "s": [${answers}] }, "steps": ${steps} },\n    { "name": "two", "steps": [{ "in": "1" }] },] }\n`;
  return withFiles({ 'small.flow.json': FLOW, 'small.test.json': before }, async (folder) => {
    const file = join(folder, 'small.test.json');
    const seen = await run(['lint', file]);
    assert.match(seen.out, `${file}:3:49 error syntax: Found a comma before "]".`);
    const { err } = await run(['lint', file, '--fix']);
    const written = readFileSync(file, 'utf8');
    assert.is(
      written,
      before
        .replace('},] }', '}] }')
        .replace('"2"', '2')
        .replace('SERVCE', 'SERVICE')
        .replace('"*384#"', '""')
        .replace('txet', 'text')
        .replace('"in": 1,', '"in": "1",')
        .replace('"true"', 'true')
        .replace(', "screen": "a" }', ' }')
        .replace('[{ "in": "1" }]', '[{ "in": "" }, { "in": "1" }]'),
    );
    assert.match(err, 'mended unknown-code: ERR_SERVCE → ERR_SERVICE');
    assert.not.match((await run(['lint', file])).out, 'small.test.json');
  });
});

test('SARIF carries the fixes that are certain', () =>
  withFiles({ 'small.flow.json': JSON.stringify(FLOW) }, async (folder) => {
    const { out } = await run(['lint', folder, '--sarif']);
    const { results } = (JSON.parse(out) as { runs: { results: { ruleId: string; fixes?: unknown[] }[] }[] }).runs[0]!;
    const fixed = results.filter(({ fixes }) => fixes);
    assert.equal(
      fixed.map(({ ruleId }) => ruleId),
      ['dangling-target'],
    );
    const offset = JSON.stringify(FLOW).indexOf('frist');
    assert.match(JSON.stringify(fixed), `"charOffset":${offset},"charLength":5},"insertedContent":{"text":"first"}`);
  }));

test('codes are what they were: CI of others waits for them by name', async () => {
  const { code, out } = await run(['lint', '--codes']);
  assert.is(code, 0);
  const codes = out.split('\n').map((line) => line.split(' ')[0]!);
  assert.equal(codes, [...PROBLEM_CODES.keys()]);
  assert.is(
    codes.join(' '),
    [
      'accept attempts-without-else bad-answer bad-name bad-pattern bad-value constant-when cut-answer dangling-target dead-end door-variable dup-option duplicate-key duplicate-name',
      'else-without-attempts encoding expr filter flow-circle hidden-without-key key-clash lang-variable long-timeout',
      'missing-braces missing-equals missing-key missing-lang name-mismatch never-equal never-set no-dial no-else no-end no-failure-path non-gsm not-a-list prints-nothing',
      'private-copied private-secret reserved-name same-words secret-gone secret-kept secret-shown service-input shadowed-way single-braces spin syntax template too-deep',
      'too-large too-long too-many-screens typed-number unknown-code unknown-field unknown-flow unknown-key unknown-lang unknown-service',
      'unknown-variable unreachable unreadable unused-migration unused-variable wrong-default wrong-kind wrong-save wrong-type',
    ].join(' '),
  );
});

test('one line for a problem, as golden as its file', () =>
  withFiles({ 'small.flow.json': JSON.stringify(FLOW, null, 2) }, async (folder) => {
    const { out } = await run(['lint', folder]);
    assert.is(
      out.replaceAll(join(folder, '/'), ''),
      [
        'small.flow.json:16:17 error dangling-target: "options[0].to" of screen "first" is "frist", which is not a screen of this flow. Did you mean "first"? Fix: Write "first".',
        'small.flow.json:20:5 warning unreachable: Nothing that the start leads to leads to screen "unseen". Fix: Lead to "unseen", or remove it.',
        '1 flow, 1 error, 1 warning',
      ].join('\n'),
    );
  }));

test.run();

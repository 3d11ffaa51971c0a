// `twinline lint`: exit codes, SARIF as its standard asks, fixes that are written, and codes that stay what they are.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Ajv } from 'ajv';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { PROBLEM_CODES } from '../../../lib/flow/lint/lint.ts';
import { ROOT } from '../../package/manifest.ts';
import { run, withFiles } from '../support/command.ts';

const test = suite('lint');
const MENUS = join(ROOT, 'menus');

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
const SOUND = JSON.parse(JSON.stringify(FLOW).replace('frist', 'unseen')) as object;

interface SarifRun {
  readonly tool: { readonly driver: { readonly rules: readonly { readonly id: string }[] } };
  readonly results: readonly {
    readonly ruleId: string;
    readonly ruleIndex: number;
    readonly level: string;
    readonly fixes?: readonly unknown[];
    readonly locations: readonly {
      readonly physicalLocation: { readonly artifactLocation: { readonly uri: string; readonly uriBaseId?: string } };
    }[];
  }[];
}

/** The only run of a log. */
const runOf = (sarif: string) => (JSON.parse(sarif) as { runs: [SarifRun] }).runs[0];
const placesOf = ({ results }: SarifRun) =>
  results.map(({ locations }) => locations[0]!.physicalLocation.artifactLocation);

test('0 for sound menus, 1 for errors, also of a folder that MENUS_DIR names; 2 for what cannot be looked at', async () => {
  const shipped = await run(['lint', MENUS]);
  assert.is(shipped.code, 0, shipped.out);
  const sarif = await run(['lint', MENUS, '--sarif']);
  assert.equal([sarif.code, runOf(sarif.out).results], [0, []]);
  for (const args of [['/nowhere/at/all'], ['a', 'b'], [MENUS, '--sarif', '--json']]) {
    const { code, out } = await run(['lint', ...args]);
    assert.equal([code, out], [2, ''], args.join(' '));
  }
  await withFiles({ 'small.flow.json': FLOW }, async (folder) =>
    assert.is((await run(['lint'], { MENUS_DIR: folder })).code, 1),
  );
});

test('lint of one file tells of that file only, with the others in reach', () =>
  withFiles({ 'bad.flow.json': { ...FLOW, flow: 'bad' }, 'small.flow.json': SOUND }, async (folder) => {
    const good = await run(['lint', join(folder, 'small.flow.json')]);
    assert.is(good.code, 0, good.out);
    assert.is((await run(['lint', join(folder, 'bad.flow.json')])).code, 1);
  }));

test('--sarif is valid, names the same problems as --json, rules by their place, and the fixes that are certain', () =>
  withFiles({ 'small flow.flow.json': { ...FLOW, flow: 'small flow' }, 'small.flow.json': FLOW }, async (folder) => {
    const [sarif, json] = [await run(['lint', folder, '--sarif']), await run(['lint', folder, '--json'])];
    assert.equal([sarif.code, json.code], [1, 1]);
    const schema = JSON.parse(readFileSync(join(ROOT, 'test/fixtures/cli/sarif.schema.json'), 'utf8')) as object;
    const validate = new Ajv({ allErrors: true, strict: false }).compile(schema);
    assert.ok(validate(JSON.parse(sarif.out)), JSON.stringify(validate.errors));
    const { results, tool } = runOf(sarif.out);
    const problems = JSON.parse(json.out) as { code: string; severity: string }[];
    assert.ok(problems.length >= 2);
    assert.equal(
      results.map(({ ruleId, level }) => [ruleId, level]),
      problems.map(({ code, severity }) => [code, severity]),
    );
    for (const { ruleId, ruleIndex } of results) assert.is(tool.driver.rules[ruleIndex]?.id, ruleId);
    assert.ok(placesOf(runOf(sarif.out)).every(({ uri }) => fileURLToPath(uri).startsWith(folder)));
    const fixed = results.filter(({ fixes }) => fixes);
    assert.ok(fixed.length && fixed.every(({ ruleId }) => ruleId === 'dangling-target'));
    const offset = JSON.stringify(FLOW).indexOf('frist');
    assert.match(JSON.stringify(fixed), `"charOffset":${offset},"charLength":5},"insertedContent":{"text":"first"}`);
  }));

test('paths below the working folder are told from there, as a code host wants them', () =>
  withFiles({ 'small.flow.json': FLOW }, async (folder) => {
    const before = process.cwd();
    process.chdir(folder);
    try {
      const [place] = placesOf(runOf((await run(['lint', '.', '--sarif'])).out));
      assert.equal(place, { uri: 'small.flow.json', uriBaseId: '%SRCROOT%' });
    } finally {
      process.chdir(before);
    }
  }));

test('--fix writes what is certain, says so, and leaves the rest of the file as it is', () => {
  const before = `${JSON.stringify(FLOW, null, 4)}\n\n`.replace('"text": "Never"', '"text": "Never",   "notes": "x"');
  return withFiles({ 'small.flow.json': before, 'other.flow.json': '{' }, async (folder) => {
    const first = await run(['lint', folder, '--fix']);
    assert.match(first.err, 'mended unknown-key: notes → note');
    assert.not.match(first.err, 'dangling-target', 'the unknown key hides it until the next run');
    const { code, err, out } = await run(['lint', folder, '--fix']);
    const text = readFileSync(join(folder, 'small.flow.json'), 'utf8');
    assert.is(text, before.replace('"notes"', '"note"').replace('frist', 'first'));
    assert.match(err, 'mended dangling-target: frist → first');
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
    await run(['lint', file, '--fix']);
    await run(['lint', file, '--fix']);
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

test('codes are what they were: CI of others waits for them by name', async () => {
  const { code, out } = await run(['lint', '--codes']);
  assert.is(code, 0);
  const codes = out.split('\n').map((line) => line.split(' ')[0]!);
  assert.equal(codes, [...PROBLEM_CODES.keys()]);
  assert.is(
    codes.join(' '),
    [
      'accept answer-is-key attempts-without-else bad-answer bad-name bad-pattern bad-value broken-text constant-when counted-again cut-answer dangling-target dead-end default-words door-variable dup-option duplicate-key duplicate-name',
      'else-without-attempts encoding expr filter flow-circle flow-depth hidden-without-key keep-called keep-lost keep-secret key-clash lang-variable long-dialogue long-sms long-timeout lost-callback lost-error',
      'missing-braces missing-equals missing-key missing-lang name-mismatch never-equal never-heard never-set no-dial no-else no-end no-failure-path no-public-url no-sms-gateway non-gsm not-a-list open-pin other-timezone',
      'prints-nothing private-copied private-secret refused-host reserved-name same-words secret-gone secret-kept secret-shown service-input shadowed-way single-braces spin syntax template too-deep',
      'too-large too-long too-many-screens typed-number unknown-code unknown-field unknown-flow unknown-key unknown-lang unknown-service unknown-timezone',
      'unknown-variable unreachable unreadable unused-migration unused-variable word-clash wrong-default wrong-kind wrong-mock wrong-save wrong-type',
    ].join(' '),
  );
});

test.run();

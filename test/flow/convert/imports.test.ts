// Files of RapidPro as flows: what they become, what callers read in them, in every language, and what is told.

import { readdirSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { reportLine } from '../../../lib/flow/convert/report.ts';
import type { Json, JsonObject } from '../../../lib/json/json.ts';
import { convert, FIXTURES, listErrors, phoneFor, readFixture } from './support.ts';

const test = suite('convert from other programs');

/** What a file becomes. */
interface Expected {
  readonly source: string;
  readonly form: string;
  readonly flows: readonly JsonObject[];
  /** With the first four characters of the ids of nodes. */
  readonly report: readonly string[];
  readonly dialogues: readonly Dialogue[];
}

interface Dialogue {
  readonly title: string;
  readonly flow: string;
  readonly dial: JsonObject;
  /** What each service answers; it fails where that is null. */
  readonly answers: JsonObject;
  /** What the services are asked, in order. */
  readonly asked: readonly Json[];
  /** What is typed, and the text that follows; the first one dials. */
  readonly said: readonly (readonly [typed: string, text: string])[];
  readonly ended: boolean;
}

for (const name of readdirSync(FIXTURES).filter((name) => name.endsWith('.expected.json'))) {
  const expected = JSON.parse(readFixture(name)) as Expected;
  const { source } = expected;
  const { flows, report, form } = convert(readFixture(source));

  test(`${source}: each flow is one without errors, and the report names everything without a counterpart, and nothing else`, () => {
    assert.is(form, expected.form);
    assert.equal(
      flows.map(({ flow, start, langs }) => ({ flow, start, langs })),
      expected.flows,
    );
    assert.equal(listErrors(flows), []);
    assert.equal(
      report.map((entry) => reportLine({ ...entry, node: entry.node.slice(0, 4) })),
      expected.report,
    );
  });

  for (const { title, flow, dial, answers, said, ...rest } of expected.dialogues)
    test(`${source}: ${title}`, async () => {
      const asked: Json[] = [];
      const answer = (value: Json) => async (input: Json) => {
        asked.push(input);
        if (value === null) throw new Error('away');
        return value;
      };
      const services = Object.entries(answers).map(([service, value]) => [service, answer(value)] as const);
      const caller = phoneFor(flows, flow, Object.fromEntries(services));
      for (const [at, [typed, text]] of said.entries())
        assert.is(at === 0 ? await caller.dial(dial) : await caller.say(typed), text);
      assert.equal({ asked, ended: caller.ended }, rest);
    });
}

test('where any answer leads on, what can be tapped stands below the question', async () => {
  const tapped = readFixture('tapped.rapidpro.json').replace('"destination_uuid": "ask"', '"destination_uuid": "none"');
  const { flows, report } = convert(tapped);
  for (const [answer, said] of [
    ['beans', 'Beans it is.'],
    ['Rice', 'We have no Rice.'],
  ] as const) {
    const typed = phoneFor(flows, 'seeds');
    assert.is(await typed.dial(), 'Which seed?\nEarly maize\nBeans');
    assert.is(await typed.say(answer), said);
  }
  assert.match(report.map(reportLine).join('\n'), /seeds wait: quick_replies\. They stand below the question/);
  assert.equal(listErrors(flows), []);
});

test.run();

// Testing a draft, and saving it: only what lint and its tests let pass, and only over what the author has read.

import type { Context } from 'koa';
import { FLOW_TEST_FILE, parseFlowTests } from '../../../lib/flow/testing/file.ts';
import { runFlowTests } from '../../../lib/flow/testing/run.ts';
import { updateFlowTests } from '../../../lib/flow/testing/update.ts';
import type { JsonObject } from '../../../lib/store/store.ts';
import type { Body } from './asked.ts';
import type { Drafts } from './drafts.ts';
import type { StudioDeps } from './routes.ts';

interface TestedDraft {
  readonly flow: string;
  readonly text: string;
  readonly tests: string;
}

/** Runs the tests; with `update` after writing into them what they show. Throws ERR_INPUT for a draft with errors. */
export async function testDraft(drafts: Drafts, { flow, text, tests }: TestedDraft, update: boolean) {
  const compiled = drafts.compile({ flow, text });
  const { file, problems } = parseFlowTests(tests, flow + FLOW_TEST_FILE);
  if (!file) return { problems, reports: [] };
  const updated = update ? await updateFlowTests(compiled, { file, text: tests }) : undefined;
  const now = updated ? (parseFlowTests(updated.text, flow + FLOW_TEST_FILE).file ?? file) : file;
  const { tests: reports, coverage } = await runFlowTests(compiled, now);
  return { problems, reports, coverage, ...(updated && { tests: updated.text, changed: updated.changed }) };
}

type Saved = Body<'flow' | 'text' | 'base', 'tests' | 'testsBase'>;

/** Answers 200 with the files as they are then, 409 with the text that is in the way, or 422 with what is wrong. */
export async function saveDraft(
  ctx: Context,
  body: Saved,
  { drafts, files, versions, reload }: StudioDeps,
): Promise<void> {
  const { flow, text, base, tests, testsBase } = body;
  const { problems } = drafts.check(body);
  const before = await files.read(flow);
  const shown = tests ?? (before.tests.hash === '' ? undefined : before.tests.text);
  const tested = await testBeforeSave(drafts, { flow, text, tests: shown });
  const isRight =
    !problems.some(({ severity }) => severity === 'error') &&
    !tested.problems.length &&
    tested.reports.every(({ failures }) => !failures.length);
  if (!isRight) {
    ctx.status = 422;
    ctx.body = { ...tested, problems: [...problems, ...tested.problems] } as unknown as JsonObject;
    return;
  }
  const change = tests === undefined ? undefined : { text: tests, base: testsBase ?? '' };
  const written = await files.write(flow, { flow: { text, base }, tests: change });
  if (written.kind === 'conflict') {
    ctx.status = 409;
    ctx.body = { file: written.file, present: written.present };
    return;
  }
  const by = typeof ctx.state.operator === 'string' ? ctx.state.operator : 'operator';
  if (!(await versions.list(flow)).length) await versions.keep(flow, { text: before.flow.text, by: 'disk' });
  await versions.keep(flow, { text, by });
  await reload();
  ctx.body = await files.read(flow);
}

async function testBeforeSave(
  drafts: Drafts,
  { flow, text, tests }: Omit<TestedDraft, 'tests'> & { tests: string | undefined },
) {
  try {
    if (tests !== undefined) return await testDraft(drafts, { flow, text, tests }, false);
    drafts.compile({ flow, text });
    return { problems: [], reports: [] };
  } catch (error) {
    // Lint has said it already, or will not be able to.
    return { problems: [], reports: [{ name: flow, failures: [{ message: (error as Error).message }] }] };
  }
}

// Saving a draft: only what lint and its tests let pass, and only over what the author has read.

import type { Context } from 'koa';
import type { JsonObject } from '../../../lib/json/json.ts';
import { nameOperator } from '../kit/operators.ts';
import type { Body, StudioDeps } from './asked.ts';
import type { DraftText, TestedDraft } from './draft-work.ts';
import type { Drafts } from './drafts.ts';

type Saved = Body<'flow' | 'text' | 'base', 'tests' | 'testsBase'>;

/** Answers 200 with the files as they are then, 409 with the text that is in the way, or 422 with what is wrong. */
export async function saveDraft(
  ctx: Context,
  body: Saved,
  { drafts, files, versions, noteEdit, reload }: StudioDeps,
): Promise<void> {
  const { flow, text, base, tests, testsBase } = body;
  const { problems } = await drafts.check({ flow, text });
  const before = await files.read(flow);
  const shown = tests ?? (before.tests.hash === '' ? undefined : before.tests.text);
  const tested = await testBeforeSave(drafts, { flow, text }, shown);
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
  const by = nameOperator(ctx);
  const note = () => noteEdit({ by, flow, wrote: change ? ['flow', 'tests'] : ['flow'] });
  const written = await files.write(flow, { flow: { text, base }, tests: change, note });
  if (written.kind === 'conflict') {
    ctx.status = 409;
    ctx.body = { file: written.file, present: written.present };
    return;
  }
  if (!(await versions.list(flow)).length) await versions.keep(flow, { text: before.flow.text, by: 'disk' });
  await versions.keep(flow, { text, by });
  await reload();
  ctx.body = await files.read(flow);
}

async function testBeforeSave(drafts: Drafts, draft: DraftText, tests: string | undefined): Promise<TestedDraft> {
  try {
    if (tests !== undefined) return await drafts.ask('test', draft, { tests, update: false });
    await drafts.ask('compile', draft, undefined);
    return { problems: [], reports: [] };
  } catch (error) {
    // Lint has said it already, or will not be able to.
    const failure = { step: 0, typed: '', message: (error as Error).message, details: [], pointer: '' };
    return { problems: [], reports: [{ name: draft.flow, failures: [failure] }] };
  }
}

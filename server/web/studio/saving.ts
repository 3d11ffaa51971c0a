// What the studio writes: texts of flows that are there, and new flows.

import type { Context } from 'koa';
import { Refusal } from '../../http/errors.ts';
import { FLOW_NAME } from '../../menus/files.ts';
import { nameOperator } from '../kit/operators.ts';
import { keepFirst, saveAsDraft } from './manage/publishing.ts';
import { refuseWrong } from './manage/right.ts';
import { readTemplate } from './manage/templates.ts';
import type { Body, StudioDeps } from './requests.ts';

/** Creates a flow, or all of an export. Answers the first, its file, and what has no counterpart. */
export async function createFlows(
  ctx: Context,
  { flow, starter, text, tests = '' }: Body<'flow' | 'starter', 'text' | 'tests'>,
  { files, drafts, noteEdit, savesDrafts, reload }: StudioDeps,
): Promise<void> {
  if (!FLOW_NAME.test(flow))
    throw new Refusal('bad-request', 'A name is a letter, and up to 63 letters, digits, - and _');
  const template = text === undefined ? await readTemplate(starter, flow) : undefined;
  if (text === undefined && !template)
    throw new Refusal('bad-request', 'There is no such starter; GET /studio/flows lists them');
  const { flows, report } = template
    ? { flows: [{ flow, ...template }], report: [] }
    : await drafts.ask('begin', { flow, text: text! }, { tests });
  const stage = savesDrafts ? 'draft' : 'published';
  for (const one of flows) {
    const note = () =>
      noteEdit({ by: nameOperator(ctx), flow: one.flow, wrote: one.tests ? ['flow', 'tests'] : ['flow'] });
    await files.create(one.flow, { flow: one.text, tests: one.tests, note }, stage);
  }
  await reload();
  const [first] = flows;
  ctx.body = { flow: first!.flow, stage, file: files.locate(first!.flow), report: [...report] };
}

type SaveRequest = Body<'flow' | 'text' | 'base', 'tests' | 'testsBase' | 'asDraft'>;

/**
 * Saves a draft where it is asked for, drafts are kept apart, or there is one. Else writes the published files, if lint and
 * tests pass. Answers 200 with the saved files, 409 with the conflicting text on disk, or 422 with the problems.
 */
export async function saveText(ctx: Context, body: SaveRequest, deps: StudioDeps): Promise<void> {
  const { files, versions, noteEdit, reload } = deps;
  const { flow, text, base, tests, testsBase, asDraft } = body;
  const before = await files.read(flow);
  if (deps.savesDrafts || asDraft || before.stage === 'draft') return saveAsDraft(ctx, body, deps);
  const currentTests = tests ?? (before.tests.hash === '' ? undefined : before.tests.text);
  if (await refuseWrong(ctx, { flow, text }, { tests: currentTests, deps })) return;
  const change = tests === undefined ? undefined : { text: tests, base: testsBase ?? '' };
  const by = nameOperator(ctx);
  const note = () => noteEdit({ by, flow, wrote: change ? ['flow', 'tests'] : ['flow'] });
  const written = await files.write(flow, { flow: { text, base }, tests: change, note });
  if (written.kind === 'conflict') {
    ctx.status = 409;
    ctx.body = { file: written.file, present: written.present };
    return;
  }
  await keepFirst(flow, before.published, deps);
  await versions.keep(flow, { text, tests: currentTests ?? '', by, stage: 'published' });
  await reload();
  ctx.body = { ...(await files.read(flow)), file: files.locate(flow) };
}

// What the studio writes: drafts that are right, and new flows.

import type { Context } from 'koa';
import type { JsonObject } from '../../../lib/json/json.ts';
import { Refusal } from '../../http/errors.ts';
import { FLOW_NAME } from '../../menus/files.ts';
import { nameOperator } from '../kit/operators.ts';
import type { DraftText, TestedDraft } from './draft-work.ts';
import type { Drafts } from './drafts.ts';
import type { Body, StudioDeps } from './requests.ts';
import { STARTERS, writeStarter } from './starters.ts';

/** Creates a flow, or all of an export. Answers the first, its file, and what has no counterpart. */
export async function createFlows(
  ctx: Context,
  { flow, starter, text, tests = '' }: Body<'flow' | 'starter', 'text' | 'tests'>,
  { files, drafts, noteEdit, reload }: StudioDeps,
): Promise<void> {
  if (!FLOW_NAME.test(flow))
    throw new Refusal('bad-request', 'A name is a letter, and up to 63 letters, digits, - and _');
  const content = Object.hasOwn(STARTERS, starter) ? STARTERS[starter]! : undefined;
  if (text === undefined && !content)
    throw new Refusal('bad-request', 'There is no such starter; GET /studio/flows lists them');
  const { flows, report } =
    text === undefined
      ? { flows: [nameTexts(flow, writeStarter(flow, content!))], report: [] }
      : await drafts.ask('begin', { flow, text }, { tests });
  for (const one of flows) {
    const note = () =>
      noteEdit({ by: nameOperator(ctx), flow: one.flow, wrote: one.tests ? ['flow', 'tests'] : ['flow'] });
    await files.create(one.flow, { flow: one.text, tests: one.tests, note });
  }
  await reload();
  const [first] = flows;
  ctx.body = { flow: first!.flow, file: files.locate(first!.flow), report: [...report] };
}

const nameTexts = (flow: string, { flow: text, tests }: { flow: string; tests: string }) => ({ flow, text, tests });

type SaveRequest = Body<'flow' | 'text' | 'base', 'tests' | 'testsBase'>;

/**
 * Saves a draft only if lint and its tests pass. Answers 200 with the saved files, 409 with the conflicting text on disk, or
 * 422 with the problems.
 */
export async function saveDraft(
  ctx: Context,
  body: SaveRequest,
  { drafts, files, versions, noteEdit, reload }: StudioDeps,
): Promise<void> {
  const { flow, text, base, tests, testsBase } = body;
  const { problems } = await drafts.check({ flow, text });
  const before = await files.read(flow);
  const currentTests = tests ?? (before.tests.hash === '' ? undefined : before.tests.text);
  const tested = await testBeforeSave(drafts, { flow, text }, currentTests);
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
  ctx.body = { ...(await files.read(flow)), file: files.locate(flow) };
}

async function testBeforeSave(drafts: Drafts, draft: DraftText, tests: string | undefined): Promise<TestedDraft> {
  try {
    if (tests !== undefined) return await drafts.ask('test', draft, { tests, update: false });
    await drafts.ask('compile', draft, undefined);
    return { problems: [], reports: [] };
  } catch (error) {
    // A draft that does not compile is reported as a failed test.
    const failure = { step: 0, typed: '', message: (error as Error).message, details: [], pointer: '' };
    return { problems: [], reports: [{ name: draft.flow, failures: [failure] }] };
  }
}

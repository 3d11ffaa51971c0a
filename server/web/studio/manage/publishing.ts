// A draft becomes what callers get, and goes back to being one. A draft is kept as it is typed; what is published has passed lint and
// its tests.

import type { Context } from 'koa';
import { Refusal } from '../../../http/errors.ts';
import type { EditedFlow } from '../../../menus/files.ts';
import { nameOperator } from '../../kit/operators.ts';
import type { Body, StudioDeps } from '../requests.ts';
import { refuseUsed } from './managing.ts';
import { refuseWrong } from './right.ts';

type SaveRequest = Body<'flow' | 'text' | 'base', 'tests' | 'testsBase'>;

/** Keeps a draft, whatever it says. Answers 200 with the saved files, or 409 with the conflicting text on disk. */
export async function saveAsDraft(ctx: Context, body: SaveRequest, deps: StudioDeps): Promise<void> {
  const { flow, text, base, tests, testsBase = '' } = body;
  const { files, versions, noteEdit } = deps;
  const by = nameOperator(ctx);
  const change = tests === undefined ? undefined : { text: tests, base: testsBase };
  const note = () => noteEdit({ by, flow, wrote: ['draft'] });
  const written = await files.write(flow, { flow: { text, base }, tests: change, note }, 'draft');
  if (written.kind === 'conflict') {
    ctx.status = 409;
    ctx.body = { file: written.file, present: written.present };
    return;
  }
  const opened = await files.read(flow);
  await keepFirst(flow, opened.published, deps);
  await versions.keep(flow, { text, tests: opened.tests.text, by, stage: 'draft' });
  ctx.body = { ...opened, file: files.locate(flow) };
}

/** Keeps what was there before the first write of the studio. */
export async function keepFirst(
  flow: string,
  before: EditedFlow,
  { versions }: Pick<StudioDeps, 'versions'>,
): Promise<void> {
  if (before.flow.hash === '' || (await versions.list(flow)).length) return;
  await versions.keep(flow, { text: before.flow.text, tests: before.tests.text, by: 'disk', stage: 'published' });
}

/** Publishes the draft that was seen. Answers 200 with the files, 409 if a file is another one, or 422 with the problems. */
export async function publishDraft(
  ctx: Context,
  { flow, base, testsBase, publishedBase }: Body<'flow' | 'base' | 'testsBase' | 'publishedBase', never>,
  deps: StudioDeps,
): Promise<void> {
  const { files, versions, note, reload } = deps;
  const { stage, published, ...draft } = await files.read(flow);
  if (stage === 'published') throw new Refusal('conflict', 'There is no draft to publish: callers get this text');
  if (draft.flow.hash !== base || draft.tests.hash !== testsBase || published.flow.hash !== publishedBase)
    throw meanwhile();
  const tests = draft.tests.hash === '' ? undefined : draft.tests.text;
  if (await refuseWrong(ctx, { flow, text: draft.flow.text }, { tests, deps })) return;
  const by = nameOperator(ctx);
  const seen = {
    draft: [draft.flow.hash, draft.tests.hash],
    published: [published.flow.hash, published.tests.hash],
  } as const;
  await keepFirst(flow, published, deps);
  if (!(await files.publish(flow, seen, () => note('menus.published', by, { flow, hash: draft.flow.hash }))))
    throw meanwhile();
  await versions.keep(flow, { text: draft.flow.text, tests: draft.tests.text, by, stage: 'published' });
  await reload();
  ctx.body = { ...(await files.read(flow)), file: files.locate(flow) };
}

const meanwhile = () =>
  new Refusal('conflict', 'The draft or what is published was changed meanwhile. Look at the difference again');

/** Takes a flow that nothing uses away from callers; its text stays as a draft. */
export async function unpublishFlow(ctx: Context, { flow }: Body<'flow', never>, deps: StudioDeps): Promise<void> {
  const { files, note, reload } = deps;
  await refuseUsed(flow, 'taken back', deps);
  await files.unpublish(flow, () => note('menus.unpublished', nameOperator(ctx), { flow }));
  await reload();
  ctx.body = { ...(await files.read(flow)), file: files.locate(flow) };
}

/** Drops the draft of a flow that is published; the draft stays among the versions. */
export async function dropDraft(ctx: Context, { flow }: Body<'flow', never>, deps: StudioDeps): Promise<void> {
  const { files, noteEdit } = deps;
  await files.dropDraft(flow, () => noteEdit({ by: nameOperator(ctx), flow, wrote: ['draft'] }));
  ctx.body = { ...(await files.read(flow)), file: files.locate(flow) };
}

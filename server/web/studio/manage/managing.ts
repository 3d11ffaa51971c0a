// What an author does with whole flows: rename, delete, restore, and choose the one that a dial starts. Each is noted in the audit log
// before it is done; at every moment on the way, the files are flows that load.

import type { Context } from 'koa';
import { TwinlineError } from '../../../../lib/errors.ts';
import { Refusal } from '../../../http/errors.ts';
import { type EditedFlow, FLOW_NAME, type FlowStage, type OpenedFlow } from '../../../menus/files.ts';
import { nameOperator } from '../../kit/operators.ts';
import type { Body, StudioDeps } from '../requests.ts';
import { DELETED } from '../versions.ts';
import { findCalls, nameFlow, renameCalls, renameInTests } from './renaming.ts';

/** Where a flow is used beside its own files. */
export interface FlowUses {
  /** Other flows, with the screens that call it. */
  readonly calls: readonly { readonly flow: string; readonly screens: readonly string[] }[];
  /** Settings that name it, such as `USSD_FLOW`. */
  readonly settings: readonly string[];
  /** A dial starts it, and the studio may choose another one. */
  readonly isDialled: boolean;
}

type UseDeps = Pick<StudioDeps, 'files' | 'dialled' | 'chatFlow'>;

/** Throws ERR_INPUT for a file that calls cannot be read from. */
export async function findUses(flow: string, { files, dialled, chatFlow }: UseDeps): Promise<FlowUses> {
  const others = (await readOthers(flow, files)).map(({ name, texts }) => ({
    flow: name,
    screens: [...new Set(texts.flatMap(({ flow: { text } }) => readable(name, () => findCalls(text, flow))))],
  }));
  const { isFixed, codes } = dialled;
  const inUssd = (isFixed && dialled.flow === flow) || codes.some((code) => code.flow === flow);
  return {
    calls: others.filter(({ screens }) => screens.length),
    settings: [...(inUssd ? ['USSD_FLOW'] : []), ...(chatFlow === flow ? ['AGENT_FLOW'] : [])],
    isDialled: !isFixed && dialled.flow === flow,
  };
}

interface OtherFlow {
  readonly name: string;
  /** Of what is published and of the draft, where they are there. */
  readonly texts: readonly (EditedFlow & { readonly stage: FlowStage })[];
}

async function readOthers(flow: string, files: StudioDeps['files']): Promise<OtherFlow[]> {
  const names = new Set([...(await files.list('published')), ...(await files.list('draft'))]);
  names.delete(flow);
  return Promise.all(
    [...names].map(async (name) => {
      const { published, ...opened } = await files.read(name);
      const both = [{ ...published, stage: 'published' } as const, ...(opened.stage === 'draft' ? [opened] : [])];
      return { name, texts: both.filter((one) => one.flow.hash !== '') };
    }),
  );
}

function readable<T>(flow: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof TwinlineError)) throw error;
    throw new TwinlineError(
      'ERR_INPUT',
      `Whether "${flow}" calls this flow cannot be read: ${error.message} Mend it first.`,
    );
  }
}

/** Renames a flow with all that names it. Answers its file. */
export async function renameFlow(
  ctx: Context,
  { flow, to }: Body<'flow' | 'to', never>,
  deps: StudioDeps,
): Promise<void> {
  const { files, dialled, home, versions, note, reload } = deps;
  if (!FLOW_NAME.test(to)) throw new Refusal('bad-request', BAD_NAME);
  const { settings, isDialled } = await findUses(flow, deps);
  if (settings.length)
    throw new Refusal(
      'conflict',
      `${settings.join(' and ')} names "${flow}". Copy the flow as "${to}", set ${settings.join(' and ')} to "${to}", restart, and delete "${flow}"`,
    );
  const opened = await files.read(flow);
  const changes = (await readOthers(flow, files)).flatMap(({ name, texts }) =>
    texts.flatMap(({ stage, ...both }) => {
      const change = readable(name, () => renameIn(both, flow, to));
      return change.flow || change.tests ? [{ name, stage, change }] : [];
    }),
  );
  const by = nameOperator(ctx);
  await createAs({ from: flow, to }, opened, {
    files,
    note: () => note('menus.renamed', by, { flow, to, calls: changes.map(({ name }) => name) }),
  });
  for (const { name, stage, change } of changes) {
    const { kind } = await files.write(name, change, stage);
    if (kind === 'conflict')
      throw new Refusal(
        'conflict',
        `"${name}" was changed meanwhile. Now there are both "${flow}" and "${to}": delete one of them`,
      );
  }
  await versions.rename(flow, to);
  if (isDialled) await dialled.write(home.folder, to);
  await files.remove(flow, async () => {});
  await reload();
  // What flows remember of callers stands under their names.
  ctx.body = { flow: to, file: files.locate(to), hasMemory: /"keep"\s*:/.test(opened.flow.text) };
}

/** What changes in another flow and its tests. */
function renameIn({ flow, tests }: EditedFlow, called: string, to: string) {
  const change = (file: EditedFlow['flow'], rename: (text: string, called: string, to: string) => string) => {
    const text = rename(file.text, called, to);
    return text === file.text ? undefined : { text, base: file.hash };
  };
  return { flow: change(flow, renameCalls), tests: change(tests, renameInTests) };
}

/** Makes files of another name with what was opened. */
async function createAs(
  { from, to }: { readonly from: string; readonly to: string },
  { stage, published, ...opened }: OpenedFlow,
  { files, note }: Pick<StudioDeps, 'files'> & { readonly note: () => Promise<void> },
): Promise<void> {
  const texts = ({ flow, tests }: EditedFlow) => ({
    flow: flow.text === '' ? '' : nameFlow(renameCalls(flow.text, from, to), to),
    tests: tests.text === '' ? '' : nameFlow(tests.text, to),
  });
  if (stage === 'published') return files.create(to, { ...texts(published), note });
  const draft = texts(opened);
  if (published.flow.hash === '') return files.create(to, { ...draft, note }, 'draft');
  await files.create(to, { ...texts(published), note });
  const { flow, tests } = await files.read(to);
  const change = {
    flow: { text: draft.flow, base: flow.hash },
    ...(draft.tests !== '' && { tests: { text: draft.tests, base: tests.hash } }),
  };
  await files.write(to, change, 'draft');
}

const BAD_NAME = 'A name is a letter, and up to 63 letters, digits, - and _';

/** Deletes a flow that nothing uses; its texts are kept for {@link restoreFlow}. */
export async function deleteFlow(ctx: Context, { flow }: Body<'flow', never>, deps: StudioDeps): Promise<void> {
  const { files, versions, note, reload } = deps;
  await refuseUsed(flow, 'deleted', deps);
  const by = nameOperator(ctx);
  await files.remove(flow, async ({ flow: { text }, tests, stage, published }) => {
    const last =
      stage === 'draft' && published.flow.hash !== ''
        ? { text: published.flow.text, tests: published.tests.text }
        : undefined;
    if (last) await versions.keep(flow, { text, tests: tests.text, by, stage });
    const kept = last ?? { text, tests: tests.text };
    await versions.keep(DELETED, { ...kept, by, stage: last ? 'published' : stage, name: flow });
    await note('menus.deleted', by, { flow });
  });
  await reload();
  ctx.body = { flow };
}

/** Throws a refusal that says what uses a flow. */
export async function refuseUsed(flow: string, done: string, deps: UseDeps): Promise<void> {
  const { calls, settings, isDialled } = await findUses(flow, deps);
  const uses = [
    ...calls.map((call) => `"${call.flow}" calls it (${call.screens.join(', ')})`),
    ...settings.map((name) => `${name} names it`),
    ...(isDialled ? ['a dial starts it'] : []),
  ];
  if (uses.length) throw new Refusal('conflict', `"${flow}" cannot be ${done}: ${uses.join('; ')}`);
}

/** Makes the files of a deleted flow again. */
export async function restoreFlow(
  ctx: Context,
  { version }: Body<'version', never>,
  { files, versions, noteEdit, reload }: StudioDeps,
): Promise<void> {
  const found = await versions.read(DELETED, version);
  if (!found) throw new Refusal('not-found');
  const { text, tests, stage, name: flow = '' } = found;
  const note = () => noteEdit({ by: nameOperator(ctx), flow, wrote: tests === '' ? ['flow'] : ['flow', 'tests'] });
  await files.create(flow, { flow: text, tests, note }, stage);
  await versions.forget(version);
  await reload();
  ctx.body = { flow, file: files.locate(flow) };
}

/** Makes a served flow the one that a dial starts, on all instances of this folder. */
export async function dialFlow(
  ctx: Context,
  { flow }: Body<'flow', never>,
  { dialled, drafts, home, note, reload }: StudioDeps,
): Promise<void> {
  if (!drafts.flows().has(flow)) throw new Refusal('bad-request', `The flow "${flow}" is not served. Publish it first`);
  if (!dialled.isFixed) await home.open();
  await dialled.write(home.folder, flow, () =>
    note('menus.dialled', nameOperator(ctx), { flow, before: dialled.flow }),
  );
  await reload();
  ctx.body = { dialled: dialled.flow };
}

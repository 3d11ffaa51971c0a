// A link by which others dial a draft.

import type { Context } from 'koa';
import { hashText } from '../../../menus/files.ts';
import { nameOperator } from '../../kit/operators.ts';
import type { Body, StudioDeps } from '../requests.ts';

/** Answers a link to the draft as it is now. Throws ERR_INPUT for a draft with errors. */
export async function linkPreview(
  ctx: Context,
  { flow, text, tests, hours }: Body<'flow' | 'text' | 'tests' | 'hours', never>,
  { drafts, previews, note, publicUrl }: StudioDeps,
): Promise<void> {
  await drafts.ask('compile', { flow, text }, undefined);
  const by = nameOperator(ctx);
  const { token, until } = await previews.links.make({ flow, text, tests }, hours, (end) =>
    note('menus.previewed', by, { flow, hash: hashText(text), until: new Date(end * 1_000).toISOString() }),
  );
  ctx.set('Cache-Control', 'no-store');
  ctx.body = { link: `${publicUrl ?? ctx.origin}/preview#${token}`, until: new Date(until * 1_000).toISOString() };
}

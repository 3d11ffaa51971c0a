// Whether a draft may be published: lint finds no error in it, and its tests pass.

import type { Context } from 'koa';
import type { JsonObject } from '../../../../lib/json/json.ts';
import type { DraftText, TestedDraft } from '../draft-work.ts';
import type { Drafts } from '../drafts.ts';
import type { StudioDeps } from '../requests.ts';

export interface RightDeps {
  /** The text of the tests. @default there are none */
  readonly tests: string | undefined;
  readonly deps: Pick<StudioDeps, 'drafts'>;
}

/** Answers 422 with all problems of a draft that is not right. Resolves to whether it did. */
export async function refuseWrong(ctx: Context, draft: DraftText, { tests, deps }: RightDeps): Promise<boolean> {
  const { drafts } = deps;
  const { problems } = await drafts.check(draft);
  const tested = await testDraft(drafts, draft, tests);
  const isRight =
    !problems.some(({ severity }) => severity === 'error') &&
    !tested.problems.length &&
    tested.reports.every(({ failures }) => !failures.length);
  if (isRight) return false;
  ctx.status = 422;
  ctx.body = { ...tested, problems: [...problems, ...tested.problems] } as unknown as JsonObject;
  return true;
}

async function testDraft(drafts: Drafts, draft: DraftText, tests: string | undefined): Promise<TestedDraft> {
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

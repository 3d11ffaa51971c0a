// GET /studio and everything that its page asks for: flows as drafts, checked, drawn, tested and dialled, and saved as files. In
// development on this machine, or for operators where STUDIO is on.

import type { Context } from 'koa';
import type { JsonObject } from '../../../lib/json/json.ts';
import { record, type Schema } from '../../../lib/json/schema.ts';
import { jsonTypes, PLAIN_ANSWERS, SIGN_IN_ANSWER, UNKNOWN } from '../../http/common-answers.ts';
import { Refusal } from '../../http/errors.ts';
import type { RouteGroup } from '../../http/route-table.ts';
import { FLOW_NAME } from '../../menus/files.ts';
import { pageRoute } from '../kit/frame.ts';
import { nameOperator } from '../kit/operators.ts';
import type { DraftText, TestedDraft } from './draft-work.ts';
import type { Drafts } from './drafts.ts';
import { studioPage } from './page.ts';
import { type Body, pageRequest, type StudioDeps } from './requests.ts';
import { STARTERS, writeStarter } from './starters.ts';

const TEXT: Schema = { type: 'string' };
const COUNT: Schema = { type: 'integer', minimum: 0 };
const ANY: Schema = { type: 'object' };

const PROBLEM = record('A problem', {
  file: TEXT,
  pointer: { type: 'string', description: 'The place as a JSON pointer' },
  line: COUNT,
  column: COUNT,
  code: TEXT,
  severity: TEXT,
  message: TEXT,
  fix: TEXT,
});

export const STUDIO_ROUTES: RouteGroup<StudioDeps> = {
  tag: 'Studio',
  description:
    'Flows written in the browser: in development on this machine, elsewhere for operators where STUDIO is on. Only its page may ask for what changes anything.',
  access: 'operator',
  parameters: {
    flow: { description: 'The name of a flow', schema: { type: 'string', examples: ['main'] } },
    version: { description: 'The id of a version', schema: { type: 'string', examples: ['4c73552dbf8a4343'] } },
    sessionId: { description: 'A session of a phone', schema: { type: 'string', examples: ['example-1'] } },
  },
  answers: { ...PLAIN_ANSWERS, 401: SIGN_IN_ANSWER, 404: UNKNOWN },
  routes: [
    pageRoute({
      path: '/studio',
      id: 'getStudio',
      summary: 'Where flows are written',
      page: ({ flow, callsServices }) => studioPage({ flow, callsServices }),
    }),
    {
      method: 'GET',
      path: '/studio/flows',
      id: 'listStudioFlows',
      summary: 'The flows that are served, and what new ones can begin with',
      answers: { 200: { description: 'The flows', types: jsonTypes(ANY) } },
      handle: (ctx, { drafts }) => {
        const flows = [...drafts.flows().values()];
        ctx.body = {
          flows: flows.map(({ flow, version, screens }) => ({ flow, version, screens: Object.keys(screens).length })),
          starters: Object.entries(STARTERS).map(([name, { summary }]) => ({ name, summary })),
        };
      },
    },
    {
      method: 'GET',
      path: '/studio/flows/:flow',
      id: 'readStudioFlow',
      summary: 'The files of a flow',
      answers: { 200: { description: 'Their texts and hashes', types: jsonTypes(ANY) } },
      handle: async (ctx, { files }) => {
        ctx.body = await files.read(ctx.params.flow!);
      },
    },
    {
      method: 'GET',
      path: '/studio/flows/:flow/versions',
      id: 'listStudioVersions',
      summary: 'The versions that were saved here, the newest first',
      answers: { 200: { description: 'The versions', types: jsonTypes(ANY) } },
      handle: async (ctx, { versions }) => {
        ctx.body = { versions: await versions.list(ctx.params.flow!) };
      },
    },
    {
      method: 'GET',
      path: '/studio/flows/:flow/versions/:version',
      id: 'readStudioVersion',
      summary: 'The text of a version',
      answers: { 200: { description: 'The text', types: jsonTypes(record('A version', { text: TEXT })) } },
      handle: async (ctx, { versions }) => {
        const text = await versions.read(ctx.params.flow!, ctx.params.version!);
        if (text === undefined) throw new Refusal('not-found');
        ctx.body = { text };
      },
    },
    {
      method: 'GET',
      path: '/studio/phones/:sessionId',
      id: 'getStudioSession',
      summary: 'Whether a phone that dialled a draft is asked for a secret',
      answers: { 200: { description: 'Where it stands', types: jsonTypes(ANY) } },
      handle: async (ctx, { drafts }) => {
        const state = await drafts.phone(ctx.params.sessionId!);
        if (!state) throw new Refusal('not-found');
        ctx.body = state;
      },
    },
    pageRequest('/studio/check', {
      id: 'checkDraft',
      summary: 'What is wrong with a draft, and where its screens are',
      needs: ['flow', 'text'],
      answers: {
        200: {
          description: 'Problems as lint has them',
          types: jsonTypes(
            record('Checked', { problems: { type: 'array', items: PROBLEM }, screens: { type: 'array' } }),
          ),
        },
      },
      handle: async (ctx, draft, { drafts }) => {
        ctx.body = await drafts.check(draft);
      },
    }),
    pageRequest('/studio/complete', {
      id: 'completeDraft',
      summary: 'What may be written at a place of a draft, or of its tests where they are given',
      needs: ['flow', 'text', 'offset'],
      takes: ['tests'],
      handle: async (ctx, { flow, text, tests, offset }, { drafts }) => {
        const found = await drafts.ask('complete', { flow, text }, { tests, offset });
        ctx.body = found ?? { from: offset, to: offset, items: [] };
      },
    }),
    pageRequest('/studio/explain', {
      id: 'explainDraft',
      summary: 'What stands at a place of a draft, or of its tests where they are given',
      needs: ['flow', 'text', 'offset'],
      takes: ['tests'],
      handle: async (ctx, { flow, text, tests, offset }, { drafts }) => {
        ctx.body = { found: await drafts.ask('explain', { flow, text }, { tests, offset }) };
      },
    }),
    pageRequest('/studio/texts', {
      id: 'listDraftTexts',
      summary: 'The texts of a draft in all its languages, with the room that they take',
      needs: ['flow', 'text'],
      handle: async (ctx, draft, { drafts }) => {
        ctx.body = await drafts.ask('words', draft, undefined);
      },
    }),
    pageRequest('/studio/drawing', {
      id: 'drawDraft',
      summary: 'A draft as SVG; of a large one the part around a state',
      needs: ['flow', 'text'],
      takes: ['focus'],
      handle: async (ctx, { focus, ...draft }, { drafts, drawings }) => {
        ctx.body = await drawings.draw(drafts.drawing(draft), focus === undefined ? {} : { focus });
      },
    }),
    pageRequest('/studio/dial', {
      id: 'dialDraft',
      summary: 'A phone that dials a draft, or goes on in it',
      needs: ['flow', 'text', 'sessionId', 'phoneNumber', 'serviceCode', 'typed'],
      handle: async (ctx, { flow, text, typed, ...phone }, { drafts }) => {
        ctx.body = await drafts.dial({ flow, text }, { ...phone, text: typed });
      },
    }),
    pageRequest('/studio/test', {
      id: 'testDraft',
      summary: 'Runs tests on a draft; with `update`, writes into them what they show',
      needs: ['flow', 'text', 'tests'],
      takes: ['update'],
      handle: async (ctx, { update = false, tests, ...draft }, { drafts }) => {
        ctx.body = await drafts.ask('test', draft, { tests, update });
      },
    }),
    pageRequest('/studio/record', {
      id: 'recordDraftTest',
      summary: 'A dialogue of a phone as one more test in the tests of a draft',
      needs: ['flow', 'text', 'tests', 'name', 'sessionId', 'phoneNumber', 'inputs'],
      handle: async (ctx, { name, tests, flow, text, ...dialogue }, { drafts, recorder }) => {
        const answers = recorder.answers(dialogue.sessionId);
        ctx.body = { tests: await drafts.ask('record', { flow, text }, { tests, name, dialogue, answers }) };
      },
    }),
    pageRequest('/studio/save', {
      id: 'saveDraft',
      summary: 'Writes a draft and its tests into their files, when lint and tests pass and nobody has changed them',
      needs: ['flow', 'text', 'base'],
      takes: ['tests', 'testsBase'],
      answers: {
        409: { description: 'A file has another text by now, which is in the answer', types: jsonTypes(ANY) },
        422: { description: 'Errors, or tests that fail', types: jsonTypes(ANY) },
      },
      handle: saveDraft,
    }),
    pageRequest('/studio/new', {
      id: 'beginFlow',
      summary: 'Begins a flow with a few screens and a test',
      needs: ['flow', 'starter'],
      answers: { 409: { description: 'There is a flow of this name', types: jsonTypes(ANY) } },
      handle: async (ctx, { flow, starter }, { files, noteEdit, reload }) => {
        const found = Object.hasOwn(STARTERS, starter) ? STARTERS[starter]! : undefined;
        if (!found) throw new Refusal('bad-request', 'A flow begins with one of the starters that are listed');
        if (!FLOW_NAME.test(flow))
          throw new Refusal('bad-request', 'A name is a letter, and up to 63 letters, digits, - and _');
        const note = () => noteEdit({ by: nameOperator(ctx), flow, wrote: ['flow', 'tests'] });
        await files.create(flow, { ...writeStarter(flow, found), note });
        await reload();
        ctx.body = { flow };
      },
    }),
  ],
};

type SaveRequest = Body<'flow' | 'text' | 'base', 'tests' | 'testsBase'>;

/** Answers 200 with the files as they are then, 409 with the text that is in the way, or 422 with what is wrong. */
export async function saveDraft(
  ctx: Context,
  body: SaveRequest,
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

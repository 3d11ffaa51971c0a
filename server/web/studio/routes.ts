// GET /studio and the routes of its page: drafts of flows are checked, drawn, tested, dialled and saved. In development on this
// machine, or for operators with STUDIO on.

import { record, type Schema } from '../../../lib/json/schema.ts';
import { jsonTypes, PAGE_LIMITED, PLAIN_ANSWERS, SIGN_IN_ANSWER, UNKNOWN } from '../../http/common-answers.ts';
import { Refusal } from '../../http/errors.ts';
import type { RouteGroup } from '../../http/route-table.ts';
import { pageRoute } from '../kit/frame.ts';
import { MANAGE_ROUTES } from './manage/routes.ts';
import { studioPage } from './page.ts';
import { pageRequest, type StudioDeps } from './requests.ts';
import { createFlows, saveText } from './saving.ts';

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
    'Edit flows in the browser: in development on this machine, elsewhere for operators with STUDIO on. Requests that change anything are accepted from its page only.',
  access: 'operator',
  parameters: {
    flow: { description: 'The name of a flow', schema: { type: 'string', examples: ['main'] } },
    template: { description: 'The name of a starter', schema: { type: 'string', examples: ['menu'] } },
    version: { description: 'The id of a version', schema: { type: 'string', examples: ['4c73552dbf8a4343'] } },
    sessionId: { description: 'A session of a phone', schema: { type: 'string', examples: ['example-1'] } },
  },
  answers: { ...PLAIN_ANSWERS, 429: PAGE_LIMITED, 401: SIGN_IN_ANSWER, 404: UNKNOWN },
  routes: [
    pageRoute({
      path: '/studio',
      id: 'getStudio',
      summary: 'The editor of flows',
      page: ({ dialled: { flow, codes }, ...deps }) => studioPage({ flow, codes, ...deps }),
    }),
    ...MANAGE_ROUTES,
    {
      method: 'GET',
      path: '/studio/flows/:flow',
      id: 'readStudioFlow',
      summary: 'The files of a flow',
      answers: { 200: { description: 'Their texts and hashes', types: jsonTypes(ANY) } },
      handle: async (ctx, { files }) => {
        const flow = ctx.params.flow!;
        ctx.body = { ...(await files.read(flow)), file: files.locate(flow) };
      },
    },
    {
      method: 'GET',
      path: '/studio/flows/:flow/versions',
      id: 'listStudioVersions',
      summary: 'List saved versions, newest first',
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
      answers: { 200: { description: 'The text', types: jsonTypes(record('A version', { text: TEXT, tests: TEXT })) } },
      handle: async (ctx, { versions }) => {
        const found = await versions.read(ctx.params.flow!, ctx.params.version!);
        if (!found) throw new Refusal('not-found');
        ctx.body = { text: found.text, tests: found.tests };
      },
    },
    {
      method: 'GET',
      path: '/studio/phones/:sessionId',
      id: 'getStudioSession',
      summary: 'Whether a phone that dialled a draft expects a secret',
      answers: { 200: { description: 'The state of the session', types: jsonTypes(ANY) } },
      handle: async (ctx, { drafts }) => {
        const state = await drafts.phone(ctx.params.sessionId!);
        if (!state) throw new Refusal('not-found');
        ctx.body = state;
      },
    },
    pageRequest('/studio/check', {
      id: 'checkDraft',
      summary: 'Problems of a draft, and positions of its screens',
      needs: ['flow', 'text'],
      answers: {
        200: {
          description: 'Problems as lint reports them',
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
      summary: 'Completions at a position of a draft, or of `tests` if set',
      needs: ['flow', 'text', 'offset'],
      takes: ['tests'],
      handle: async (ctx, { flow, text, tests, offset }, { drafts }) => {
        const completion = await drafts.ask('complete', { flow, text }, { tests, offset });
        ctx.body = completion ?? { from: offset, to: offset, items: [] };
      },
    }),
    pageRequest('/studio/explain', {
      id: 'explainDraft',
      summary: 'Explanation of a position of a draft, or of `tests` if set',
      needs: ['flow', 'text', 'offset'],
      takes: ['tests'],
      handle: async (ctx, { flow, text, tests, offset }, { drafts }) => {
        ctx.body = { found: await drafts.ask('explain', { flow, text }, { tests, offset }) };
      },
    }),
    pageRequest('/studio/texts', {
      id: 'listDraftTexts',
      summary: 'Texts of a draft in all languages, with their lengths',
      needs: ['flow', 'text'],
      handle: async (ctx, draft, { drafts }) => {
        ctx.body = await drafts.ask('words', draft, undefined);
      },
    }),
    pageRequest('/studio/form', {
      id: 'describeDraftForm',
      summary: 'The form of a screen of a draft, or of the flow',
      needs: ['flow', 'text', 'pointer'],
      handle: async (ctx, { pointer, ...draft }, { drafts }) => {
        ctx.body = await drafts.ask('form', draft, pointer);
      },
    }),
    pageRequest('/studio/edit', {
      id: 'editDraft',
      summary: 'The edits of the text of a draft, and of its tests, that an operation of a form makes',
      needs: ['flow', 'text', 'operation'],
      takes: ['tests'],
      handle: async (ctx, { flow, text, operation, tests = '' }, { drafts }) => {
        ctx.body = await drafts.ask('edit', { flow, text }, { operation, tests });
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
      summary: 'Dial a draft, or continue a session',
      needs: ['flow', 'text', 'sessionId', 'phoneNumber', 'serviceCode', 'typed'],
      handle: async (ctx, { flow, text, typed, ...phone }, { drafts }) => {
        ctx.body = await drafts.dial({ flow, text }, { ...phone, text: typed });
      },
    }),
    pageRequest('/studio/test', {
      id: 'testDraft',
      summary: 'Run tests on a draft; with `update`, replace expectations with the results',
      needs: ['flow', 'text', 'tests'],
      takes: ['update'],
      handle: async (ctx, { update = false, tests, ...draft }, { drafts }) => {
        ctx.body = await drafts.ask('test', draft, { tests, update });
      },
    }),
    pageRequest('/studio/record', {
      id: 'recordDraftTest',
      summary: 'Add a dialogue to the tests of a draft',
      needs: ['flow', 'text', 'tests', 'name', 'sessionId', 'phoneNumber', 'inputs'],
      handle: async (ctx, { name, tests, flow, text, ...dialogue }, { drafts, recorder }) => {
        const answers = recorder.answers(dialogue.sessionId);
        ctx.body = { tests: await drafts.ask('record', { flow, text }, { tests, name, dialogue, answers }) };
      },
    }),
    pageRequest('/studio/save', {
      id: 'saveDraft',
      summary:
        'Save a text and its tests if the files have not changed: as a draft, or as what callers get if lint and tests pass',
      needs: ['flow', 'text', 'base'],
      takes: ['tests', 'testsBase', 'asDraft'],
      answers: {
        409: { description: 'A file has changed on disk; the answer has its text', types: jsonTypes(ANY) },
        422: { description: 'Errors or failing tests', types: jsonTypes(ANY) },
      },
      handle: saveText,
    }),
    pageRequest('/studio/new', {
      id: 'beginFlow',
      summary: 'Create a flow from a starter, from the text of another one, or from an export of RapidPro',
      needs: ['flow', 'starter'],
      takes: ['text', 'tests'],
      answers: { 409: { description: 'The name is taken', types: jsonTypes(ANY) } },
      handle: createFlows,
    }),
  ],
};

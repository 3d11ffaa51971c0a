// The routes for whole flows: begin from a template, rename, delete, restore, dial, publish and take back.

import { record, type Schema } from '../../../../lib/json/schema.ts';
import { jsonTypes } from '../../../http/common-answers.ts';
import { Refusal } from '../../../http/errors.ts';
import type { Route, RouteAnswer } from '../../../http/route-table.ts';
import { pageRequest, type StudioDeps } from '../requests.ts';
import { DELETED } from '../versions.ts';
import { linkPreview } from './link.ts';
import { deleteFlow, dialFlow, findUses, renameFlow, restoreFlow } from './managing.ts';
import { dropDraft, publishDraft, unpublishFlow } from './publishing.ts';
import { listTemplates, showTemplate } from './templates.ts';

const ANY: Schema = { type: 'object' };
const IN_USE: RouteAnswer = { description: 'Something else names the flow, or has changed it', types: jsonTypes(ANY) };

/** What the list of flows says of each. */
export interface ListedFlow {
  readonly flow: string;
  /** Of what is served; missing for one that is only a draft. */
  readonly version?: number;
  readonly screens?: number;
  readonly hasDraft: boolean;
}

async function listFlows({ drafts, files }: StudioDeps): Promise<ListedFlow[]> {
  const served = drafts.flows();
  const drafted = new Set(await files.list('draft'));
  const only = [...drafted].filter((flow) => !served.has(flow)).map((flow) => ({ flow, hasDraft: true }));
  return [
    ...[...served.values()].map(({ flow, version, screens }) => ({
      ...{ flow, version, screens: Object.keys(screens).length },
      hasDraft: drafted.has(flow),
    })),
    ...only,
  ];
}

export const MANAGE_ROUTES: readonly Route<StudioDeps>[] = [
  {
    method: 'GET',
    path: '/studio/flows',
    id: 'listStudioFlows',
    summary: 'List flows, what a dial starts, and starters for new ones',
    answers: { 200: { description: 'The flows', types: jsonTypes(ANY) } },
    handle: async (ctx, deps) => {
      const { dialled, services, versions } = deps;
      ctx.body = {
        ...{ dialled: dialled.flow, isDialFixed: dialled.isFixed, codes: dialled.codes },
        services: Object.keys(services),
        flows: await listFlows(deps),
        starters: listTemplates(),
        deleted: await versions.list(DELETED),
      };
    },
  },
  {
    method: 'GET',
    path: '/studio/templates/:template',
    id: 'showStudioTemplate',
    summary: 'The texts of a starter, and its first screens',
    answers: { 200: { description: 'The template', types: jsonTypes(ANY) } },
    handle: async (ctx, { drafts }) => {
      const found = await showTemplate(ctx.params.template!, drafts);
      if (!found) throw new Refusal('not-found');
      ctx.body = found;
    },
  },
  {
    method: 'GET',
    path: '/studio/flows/:flow/uses',
    id: 'listFlowUses',
    summary: 'Other flows and settings that name a flow',
    answers: { 200: { description: 'Where it is used', types: jsonTypes(ANY) } },
    handle: async (ctx, deps) => {
      ctx.body = await findUses(ctx.params.flow!, deps);
    },
  },
  pageRequest('/studio/rename', {
    id: 'renameFlow',
    summary: 'Rename a flow, with its tests, its history, and the flows that call it',
    needs: ['flow', 'to'],
    answers: { 409: IN_USE },
    handle: renameFlow,
  }),
  pageRequest('/studio/delete', {
    id: 'deleteFlow',
    summary: 'Delete a flow that nothing names; it can be restored',
    needs: ['flow'],
    answers: { 409: IN_USE },
    handle: deleteFlow,
  }),
  pageRequest('/studio/restore', {
    id: 'restoreFlow',
    summary: 'Restore a deleted flow',
    needs: ['version'],
    answers: { 409: { description: 'The name is taken', types: jsonTypes(ANY) } },
    handle: restoreFlow,
  }),
  pageRequest('/studio/dialled', {
    id: 'chooseDialledFlow',
    summary: 'Choose the flow that a dial starts, on all instances of this folder; refused where USSD_FLOW is set',
    needs: ['flow'],
    answers: {
      200: {
        description: 'What a dial starts now',
        types: jsonTypes(record('Dialled', { dialled: { type: 'string' } })),
      },
    },
    handle: dialFlow,
  }),
  pageRequest('/studio/preview', {
    id: 'linkPreview',
    summary: 'Make a link by which others dial a draft as it is now, until the link ends',
    needs: ['flow', 'text', 'tests', 'hours'],
    answers: {
      200: {
        description: 'The link',
        types: jsonTypes(record('A link', { link: { type: 'string' }, until: { type: 'string' } })),
      },
      409: { description: 'There are too many links', types: jsonTypes(ANY) },
    },
    handle: linkPreview,
  }),
  pageRequest('/studio/publish', {
    id: 'publishDraft',
    summary: 'Publish a saved draft and its tests if lint and tests pass and neither has changed',
    needs: ['flow', 'base', 'testsBase', 'publishedBase'],
    answers: { 409: IN_USE, 422: { description: 'Errors or failing tests', types: jsonTypes(ANY) } },
    handle: publishDraft,
  }),
  pageRequest('/studio/unpublish', {
    id: 'unpublishFlow',
    summary: 'Take a flow that nothing names away from callers, and keep it as a draft',
    needs: ['flow'],
    answers: { 409: IN_USE },
    handle: unpublishFlow,
  }),
  pageRequest('/studio/drop-draft', {
    id: 'dropDraft',
    summary: 'Drop the draft of a published flow; it stays among its versions',
    needs: ['flow'],
    answers: { 409: IN_USE },
    handle: dropDraft,
  }),
];

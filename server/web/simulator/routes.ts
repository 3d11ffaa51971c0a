// GET /simulator, the page with simulated phones, and the routes that it requests. Operators only.

import type { Context, Middleware } from 'koa';
import { COMMON_LIMITS } from '../../../lib/common-limits.ts';
import type { Library } from '../../../lib/engine/conversation.ts';
import { isFlow } from '../../../lib/flow/run/compile.ts';
import { FLOW_TEST_FILE, type FlowTest } from '../../../lib/flow/testing/file.ts';
import { addFlowTest } from '../../../lib/flow/testing/update.ts';
import { record, type Schema } from '../../../lib/json/schema.ts';
import { html } from '../../../lib/markup.ts';
import type { RawReply } from '../../../lib/ussd/adapter.ts';
import { chooseFlow, type DialledFlows, type FlowCode } from '../../../lib/ussd/codes.ts';
import { PLAIN_TYPE } from '../../../lib/ussd/reply.ts';
import type { TextMode } from '../../../lib/ussd/request.ts';
import type { UssdService } from '../../../lib/ussd/service.ts';
import { readInput } from '../../http/check-input.ts';
import { JSON_BODY_ANSWERS, jsonTypes, REFUSED } from '../../http/common-answers.ts';
import { Refusal } from '../../http/errors.ts';
import type { Route } from '../../http/route-table.ts';
import type { FlowFiles } from '../../menus/files.ts';
import { CON_END, PLAIN_BODY } from '../../ussd/dialect-bodies.ts';
import type { SimulatedRequest } from '../../ussd/routes.ts';
import { type PageContent, pageRoute } from '../kit/frame.ts';
import { nameOperator } from '../kit/operators.ts';
import {
  DIALOGUE_INPUTS,
  type Dialogue,
  makeFlowTest,
  readDialogue,
  recordDialogue,
  type ServiceRecorder,
} from './flow-test.ts';
import { readSessionState } from './session-state.ts';

export interface SimulatorDeps {
  /** Answers like POST /api/ussd. */
  readonly dial: Middleware;
  /** Answers a request in the dialect of a telecom gateway. */
  readonly ask: (request: SimulatedRequest, ctx: Context) => Promise<RawReply>;
  readonly service: Pick<UssdService, 'locate'>;
  readonly library: Pick<Library, 'current' | 'ids'>;
  readonly recorder: Pick<ServiceRecorder, 'answers'>;
  /** Where tests are written. @default operators may not write files */
  readonly files: Pick<FlowFiles, 'read' | 'write'> | undefined;
  /** Notes a write of tests in the audit log. */
  readonly noteEdit: (edit: { readonly by: string; readonly flow: string; readonly wrote: ['tests'] }) => Promise<void>;
  /** Problems that keep menu edits from being served. */
  readonly refusedEdits: () => readonly string[];
  /** What a dial starts. */
  readonly dialled: Required<DialledFlows>;
  /** The mode of `text`. */
  readonly ussd: { readonly textMode: TextMode };
}

const TEXT: Schema = { type: 'string' };
const STANDING = record('Enough to hide secret input', {
  screen: { type: 'string', description: 'Path of the screen' },
  secret: { type: 'boolean', description: 'Whether the answer is secret' },
  keys: { type: 'array', items: TEXT, description: 'Navigation keys' },
});

const ASKED: Schema = {
  type: 'object',
  required: ['dialect', 'method', 'path'],
  additionalProperties: false,
  properties: {
    dialect: { type: 'string', maxLength: 32 },
    method: { enum: ['GET', 'POST', 'PUT'] },
    path: { type: 'string', maxLength: 600, pattern: '^(/[^/]*)*$', description: 'Below the address of the dialect' },
    query: { type: 'string', maxLength: 4_000 },
    type: { type: 'string', maxLength: 100, description: 'Media type of the body' },
    body: { type: 'string', maxLength: 16_000 },
    flow: { type: 'string', maxLength: 64, description: 'The flow that a dial starts. Default: USSD_FLOW' },
    lang: { type: 'string', maxLength: 35, description: 'Initial value of the variable `lang`' },
  },
};
type PhoneRequest = Omit<SimulatedRequest, 'begin'> & { readonly flow?: string; readonly lang?: string };

const ANSWERED = record('An answer', {
  status: { type: 'integer' },
  type: TEXT,
  headers: { type: 'object', additionalProperties: TEXT },
  body: TEXT,
});

const DIALOGUE: Schema = {
  type: 'object',
  required: ['sessionId', 'phoneNumber', 'inputs'],
  properties: {
    sessionId: TEXT,
    phoneNumber: { type: 'string', description: 'E.164 with +' },
    inputs: DIALOGUE_INPUTS,
    flow: { type: 'string', maxLength: 64, description: 'The dialled flow. Default: USSD_FLOW' },
    serviceCode: { type: 'string', maxLength: 64, description: 'The dialled code, if USSD_FLOW has a flow for it' },
    lang: { type: 'string', maxLength: 35, description: 'Initial value of the variable `lang`' },
    name: {
      type: 'string',
      maxLength: 80,
      description: 'Writes a test of this name into the file beside the flow',
    },
  },
};

export const SIMULATOR_ROUTES: readonly Route<SimulatorDeps>[] = [
  {
    method: 'GET',
    path: '/menus/refused',
    id: 'listRefusedEdits',
    summary: 'Menu edits that are not served, and why',
    rate: 'none',
    answers: {
      200: {
        description: 'The problems; empty if all edits are served',
        types: jsonTypes(record('Refused edits', { problems: { type: 'array', items: TEXT } })),
      },
    },
    handle: (ctx, { refusedEdits }) => {
      ctx.body = { problems: refusedEdits() };
    },
  },
  pageRoute({
    path: '/simulator',
    id: 'getSimulator',
    summary: 'Simulated phones',
    page: ({ ussd, dialled, files, library }) =>
      simulatorPage({
        ...{ mode: ussd.textMode, flow: dialled.flow, codes: dialled.codes ?? [] },
        ...{ flows: listFlows(library), canSave: files !== undefined },
      }),
  }),
  {
    method: 'POST',
    path: '/simulator/dial',
    id: 'dialSimulated',
    summary: 'Dial as a simulated phone',
    description:
      'Like POST /api/ussd, regardless of USSD_GATEWAYS, in a session separate from those of callers, whose id begins with `sim-`. For the page of phones only. With OPERATOR_TOKEN set, the audit log names the operator.',
    body: {
      types: jsonTypes(PLAIN_BODY),
      example: { sessionId: 'sim-example', serviceCode: '*2233#', phoneNumber: '+260971230001', text: '' },
      checkedBy: 'handler',
    },
    answers: { 200: { description: 'A screen', types: { [PLAIN_TYPE]: CON_END } }, ...JSON_BODY_ANSWERS },
    ownPages: true,
    handle: (ctx, { dial }) => dial(ctx, async () => {}),
  },
  {
    method: 'POST',
    path: '/simulator/requests',
    id: 'askSimulated',
    summary: 'Dial as a simulated phone, in the dialect of a telecom gateway',
    description:
      'Like the endpoint of the dialect, regardless of USSD_GATEWAYS; otherwise like `/simulator/dial`. A dial may start another flow or set a language.',
    body: {
      types: jsonTypes(ASKED),
      example: {
        ...{ dialect: 'arkesel', method: 'POST', path: '', type: 'application/json' },
        body: '{"sessionID":"sim-example","userID":"sim","newSession":true,"msisdn":"260971230001","userData":"*2233#","network":"MTN"}',
      },
    },
    answers: { 200: { description: 'The answer to the gateway', types: jsonTypes(ANSWERED) }, ...JSON_BODY_ANSWERS },
    ownPages: true,
    handle: async (ctx, { ask, library }) => {
      const { flow, lang, ...request } = readInput<{ body: PhoneRequest }>(ctx).body;
      if (flow !== undefined && !library.current(flow))
        throw new Refusal('bad-request', `There is no flow ${JSON.stringify(flow)} here`);
      const variables = lang === undefined ? {} : { given: { lang } };
      const {
        status,
        type,
        headers = {},
        body,
      } = await ask({ ...request, begin: { ...(flow && { flow }), ...variables } }, ctx);
      ctx.set('Cache-Control', 'no-store');
      ctx.body = { status, type, headers, body };
    },
  },
  {
    method: 'GET',
    path: '/simulator/sessions/:sessionId',
    id: 'getSimulatedSession',
    summary: 'Whether a simulated phone expects a secret',
    answers: { 200: { description: 'The state of the session', types: jsonTypes(STANDING) } },
    handle: async (ctx, { service }) => {
      const state = await readSessionState(service, ctx.params.sessionId!);
      if (!state) throw new Refusal('not-found');
      ctx.body = state;
    },
  },
  {
    method: 'POST',
    path: '/simulator/flow-test',
    id: 'saveFlowTest',
    summary: 'Make a flow test of a dialogue',
    description:
      'For the page of phones only. The test contains the recorded answers of services. With a `name`, and with the studio on, it is written into the tests of the flow.',
    body: {
      types: jsonTypes(DIALOGUE),
      example: { sessionId: 'example-1', phoneNumber: '+260971230001', inputs: ['', '1'] },
    },
    answers: {
      200: { description: 'The file', types: jsonTypes(record('A file', { name: TEXT, text: TEXT })) },
      409: { description: 'The tests have changed on disk', types: jsonTypes(REFUSED) },
      ...JSON_BODY_ANSWERS,
    },
    ownPages: true,
    handle: async (ctx, { library, dialled, recorder, files, noteEdit }) => {
      const { body } = readInput<{
        body: Dialogue & { readonly name?: string; readonly flow?: string; readonly serviceCode?: string };
      }>(ctx);
      const asked = readDialogue(body);
      const dial = chooseFlow(dialled, body.flow === undefined ? (body.serviceCode ?? '') : '');
      const { flow = dial.flow } = body;
      const [begin = '', ...typed] = asked.inputs;
      const dialogue = { ...asked, inputs: [begin, ...dial.answers, ...typed] };
      const compiled = library.current(flow);
      if (!compiled) throw new Refusal('bad-request', `There is no flow ${JSON.stringify(flow)} here`);
      if (!isFlow(compiled))
        throw new Refusal('bad-request', `"${flow}" is a machine of your own: tests beside menus are for flows`);
      const name = body.name?.trim() ?? '';
      if (name !== '') {
        if (!files) throw new Refusal('bad-request', 'This server does not write tests. Start it with STUDIO=true');
        const test = await recordDialogue(compiled, dialogue, {
          answers: recorder.answers(dialogue.sessionId),
          name,
        });
        const note = () => noteEdit({ by: nameOperator(ctx), flow, wrote: ['tests'] });
        ctx.body = await addTestToFile(
          { write: (name, change) => files.write(name, { ...change, note }), read: files.read },
          flow,
          test,
        );
        return;
      }
      ctx.body = await makeFlowTest(compiled, dialogue, recorder.answers(dialogue.sessionId));
    },
  },
];

const MODES = {
  cumulative: html`<code>text</code> holds all answers, joined by <code>*</code>`,
  latest: html`<code>text</code> holds only the last answer, so a later retry counts as a new answer`,
} as const satisfies { readonly [mode in TextMode]: object };

export interface SimulatorPageOptions {
  readonly mode: TextMode;
  readonly flow: string;
  /** Flows of single codes. */
  readonly codes: readonly FlowCode[];
  /** Flows that phones may dial. */
  readonly flows: readonly DialledFlow[];
  /** Whether tests can be written into the file beside the flow. */
  readonly canSave: boolean;
}

interface DialledFlow {
  readonly id: string;
  /** The first is the default. */
  readonly langs: readonly string[];
}

const listFlows = ({ ids, current }: SimulatorDeps['library']): DialledFlow[] =>
  ids.map((id) => {
    const served = current(id)!;
    return { id, langs: isFlow(served) ? (served.flow.langs ?? []) : [] };
  });

export function simulatorPage({ mode, flow, codes, flows, canSave }: SimulatorPageOptions): PageContent {
  const [{ code } = { code: '*2233#' }] = codes;
  const byCode = codes.map((one) => html`, by <code>${one.code}</code> the flow <code>${one.flow}</code>`);
  return {
    title: 'Phones · Twinline',
    layout: 'wide',
    style: 'simulator.css',
    script: 'simulator.js',
    body: html`<header class="tool row apart">
<div><h1>Phones</h1>
<p class="lead">They dial the flow <code>${flow}</code>${byCode} as telecoms do, with <code>POST /api/ussd</code>: ${MODES[mode]}.
Each phone may use another dialect, flow or language.
Do not type a real PIN: this tab keeps all input until you close it.</p></div>
<button id="add" class="primary" type="button">Add a phone</button>
</header>
<div id="phones" class="phones stack" data-mode="${mode}" data-flow="${flow}" data-flows="${JSON.stringify(flows)}" data-can-save="${String(canSave)}" data-code="${code}" data-codes="${JSON.stringify(codes)}" data-text-chars="${COMMON_LIMITS.ussdTextChars}"></div>
<p id="none" class="soft" hidden>No phones. Add one.</p>
<noscript><p class="card">Phones need JavaScript. Without it, use <code>npx twinline chat</code>.</p></noscript>`,
  };
}

/** Adds a test to the file beside its flow. Throws ERR_INPUT if the name is taken. */
async function addTestToFile(files: Pick<FlowFiles, 'read' | 'write'>, flow: string, test: FlowTest) {
  const { tests } = (await files.read(flow)).published;
  const text = addFlowTest(tests.text, { flow, test });
  const { kind } = await files.write(flow, { tests: { text, base: tests.hash } });
  if (kind === 'conflict') throw new Refusal('conflict', 'The tests have changed on disk. Try again');
  return { name: flow + FLOW_TEST_FILE, text };
}

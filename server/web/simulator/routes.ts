// GET /simulator, its page with the phones, and what that page asks for, for operators only.

import type { Context, Middleware } from 'koa';
import { COMMON_LIMITS } from '../../../lib/common-limits.ts';
import type { Library } from '../../../lib/engine/conversation.ts';
import { isFlow } from '../../../lib/flow/run/compile.ts';
import { FLOW_TEST_FILE, type FlowTest } from '../../../lib/flow/testing/file.ts';
import { addFlowTest } from '../../../lib/flow/testing/update.ts';
import { record, type Schema } from '../../../lib/json/schema.ts';
import { html } from '../../../lib/markup.ts';
import type { RawReply } from '../../../lib/ussd/adapter.ts';
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
  /** Answers as the plain endpoint of telecoms does, for every client. */
  readonly dial: Middleware;
  /** Answers what the gateway of a dialect would ask. */
  readonly ask: (asked: SimulatedRequest, ctx: Context) => Promise<RawReply>;
  readonly service: Pick<UssdService, 'locate'>;
  readonly library: Pick<Library, 'current' | 'ids'>;
  readonly recorder: Pick<ServiceRecorder, 'answers'>;
  /** Where tests are written; undefined where operators may not. */
  readonly files: Pick<FlowFiles, 'read' | 'write'> | undefined;
  /** Called once tests were written. Resolves when that is noted, or could not be. */
  readonly noteEdit: (edit: { readonly by: string; readonly flow: string; readonly wrote: ['tests'] }) => Promise<void>;
  /** What stands in the way of menus that are not served as edited, in words. */
  readonly refusedEdits: () => readonly string[];
  /** The flow that a dial starts, and how `text` is read. */
  readonly ussd: { readonly flow: string; readonly textMode: TextMode };
}

const TEXT: Schema = { type: 'string' };
const STANDING = record('As much as hides what is typed', {
  screen: { type: 'string', description: 'Path of the screen' },
  secret: { type: 'boolean', description: 'The answer is a secret' },
  keys: { type: 'array', items: TEXT, description: 'Answers that lead back, home, on or out' },
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
    flow: { type: 'string', maxLength: 64, description: 'The flow that a dial begins, instead of USSD_FLOW' },
    lang: { type: 'string', maxLength: 35, description: 'The variable `lang` that it begins with' },
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
    flow: { type: 'string', maxLength: 64, description: 'The flow that was dialled; USSD_FLOW when missing' },
    lang: { type: 'string', maxLength: 35, description: 'The variable `lang` that it began with' },
    name: {
      type: 'string',
      maxLength: 80,
      description: 'Writes it as a test of this name into the file beside the flow',
    },
  },
};

export const SIMULATOR_ROUTES: readonly Route<SimulatorDeps>[] = [
  {
    method: 'GET',
    path: '/menus/refused',
    id: 'listRefusedEdits',
    summary: 'Edits of menus that are not served, and why',
    rate: 'none',
    answers: {
      200: {
        description: 'One problem each; empty when everything is served as it was edited',
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
    summary: 'Phones that dial',
    page: ({ ussd, files, library }) =>
      simulatorPage({ mode: ussd.textMode, flow: ussd.flow, flows: listFlows(library), canSave: files !== undefined }),
  }),
  {
    method: 'POST',
    path: '/simulator/dial',
    id: 'dialSimulated',
    summary: 'What a telecom gateway asks, for the phones of operators',
    description:
      'As POST /api/ussd, whatever USSD_GATEWAYS lists, in a session apart from those of callers, whose id begins with `sim-`. Only the page of phones may ask. With OPERATOR_TOKEN set, the audit log says who began it.',
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
    summary: 'What the gateway of a telecom dialect asks, for the phones of operators',
    description:
      'As below the address of the dialect, whatever USSD_GATEWAYS lists, and as the plain endpoint of phones; a dial may begin another flow, or in another language.',
    body: {
      types: jsonTypes(ASKED),
      example: {
        ...{ dialect: 'arkesel', method: 'POST', path: '', type: 'application/json' },
        body: '{"sessionID":"sim-example","userID":"sim","newSession":true,"msisdn":"260971230001","userData":"*2233#","network":"MTN"}',
      },
    },
    answers: { 200: { description: 'What the gateway would get', types: jsonTypes(ANSWERED) }, ...JSON_BODY_ANSWERS },
    ownPages: true,
    handle: async (ctx, { ask, library }) => {
      const { flow, lang, ...asked } = readInput<{ body: PhoneRequest }>(ctx).body;
      if (flow !== undefined && !library.current(flow))
        throw new Refusal('bad-request', `There is no flow ${JSON.stringify(flow)} here`);
      const given = lang === undefined ? {} : { given: { lang } };
      const {
        status,
        type,
        headers = {},
        body,
      } = await ask({ ...asked, begin: { ...(flow && { flow }), ...given } }, ctx);
      ctx.set('Cache-Control', 'no-store');
      ctx.body = { status, type, headers, body };
    },
  },
  {
    method: 'GET',
    path: '/simulator/sessions/:sessionId',
    id: 'getSimulatedSession',
    summary: 'Whether a simulated phone is asked for a secret',
    answers: { 200: { description: 'Where it stands', types: jsonTypes(STANDING) } },
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
    summary: 'A dialogue as a file of flow tests',
    description:
      'Only the page of phones may ask. What services answered to it stands in the test. With a `name` it is written into the tests of the flow, where the studio is on.',
    body: {
      types: jsonTypes(DIALOGUE),
      example: { sessionId: 'example-1', phoneNumber: '+260971230001', inputs: ['', '1'] },
    },
    answers: {
      200: { description: 'The file', types: jsonTypes(record('A file', { name: TEXT, text: TEXT })) },
      409: { description: 'The tests were changed meanwhile', types: jsonTypes(REFUSED) },
      ...JSON_BODY_ANSWERS,
    },
    ownPages: true,
    handle: async (ctx, { library, ussd, recorder, files, noteEdit }) => {
      const { body } = readInput<{ body: Dialogue & { readonly name?: string; readonly flow?: string } }>(ctx);
      const dialogue = readDialogue(body);
      const { flow = ussd.flow } = body;
      const compiled = library.current(flow);
      if (!compiled) throw new Refusal('bad-request', `There is no flow ${JSON.stringify(flow)} here`);
      if (!isFlow(compiled))
        throw new Refusal('bad-request', `"${flow}" is a machine of your own: tests beside menus are for flows`);
      const name = body.name?.trim() ?? '';
      if (name !== '') {
        if (!files) throw new Refusal('bad-request', 'Tests are not written here: start the server with STUDIO=true');
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
  latest: html`<code>text</code> holds the last answer only, so a request that is repeated later counts as a new answer`,
} as const satisfies { readonly [mode in TextMode]: object };

export interface SimulatorPageOptions {
  readonly mode: TextMode;
  readonly flow: string;
  /** Those that phones may dial. */
  readonly flows: readonly DialledFlow[];
  /** Whether tests can be written into their file. */
  readonly canSave: boolean;
}

interface DialledFlow {
  readonly id: string;
  /** The first is the default. */
  readonly langs: readonly string[];
}

// Texts without languages are in none.
const listFlows = ({ ids, current }: SimulatorDeps['library']): DialledFlow[] =>
  ids.map((id) => {
    const served = current(id)!;
    return { id, langs: isFlow(served) ? (served.flow.langs ?? []) : [] };
  });

export function simulatorPage({ mode, flow, flows, canSave }: SimulatorPageOptions): PageContent {
  return {
    title: 'Phones · Twinline',
    layout: 'wide',
    style: 'simulator.css',
    script: 'simulator.js',
    body: html`<header class="tool row apart">
<div><h1>Phones</h1>
<p class="lead">They dial the flow <code>${flow}</code> as telecoms do with <code>POST /api/ussd</code>: ${MODES[mode]}.
Each may speak another dialect, dial another flow, and begin in another language.
Type no PIN of yours: this tab keeps what was typed until you close it.</p></div>
<button id="add" class="primary" type="button">Add a phone</button>
</header>
<div id="phones" class="phones stack" data-mode="${mode}" data-flow="${flow}" data-flows="${JSON.stringify(flows)}" data-can-save="${String(canSave)}" data-code="*2233#" data-text-chars="${COMMON_LIMITS.ussdTextChars}"></div>
<p id="none" class="soft" hidden>There is no phone. Add one.</p>
<noscript><p class="card">Phones need JavaScript. Without it there is <code>npx twinline chat</code>.</p></noscript>`,
  };
}

/** Writes a test into the file beside its flow. Throws ERR_INPUT when there is one of its name. */
async function addTestToFile(files: Pick<FlowFiles, 'read' | 'write'>, flow: string, test: FlowTest) {
  const { tests } = await files.read(flow);
  const text = addFlowTest(tests.text, { flow, test });
  const { kind } = await files.write(flow, { tests: { text, base: tests.hash } });
  if (kind === 'conflict') throw new Refusal('conflict', 'The tests were changed meanwhile. Try again');
  return { name: flow + FLOW_TEST_FILE, text };
}

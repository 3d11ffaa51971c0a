// GET /simulator and what its page asks for, for operators only.

import type { Middleware } from 'koa';
import type { Schema } from '../../../lib/domain/schema/parts.ts';
import { record } from '../../../lib/domain/schema/twin-answers.ts';
import type { Library } from '../../../lib/engine/conversation.ts';
import type { CompiledFlow } from '../../../lib/flow/run/compile.ts';
import { SHARED_LIMITS } from '../../../lib/shared-limits.ts';
import { PLAIN_TYPE } from '../../../lib/ussd/reply.ts';
import type { TextMode } from '../../../lib/ussd/request.ts';
import type { UssdService } from '../../../lib/ussd/service.ts';
import { SERVER_LIMITS } from '../../config/limits.ts';
import { JSON_BODY_ANSWERS, jsonTypes, PAGE } from '../../http/common-answers.ts';
import { Refusal } from '../../http/errors.ts';
import type { Route } from '../../http/route-table.ts';
import { CON_END, PLAIN_BODY } from '../../ussd/dialect-bodies.ts';
import { sendPage } from '../kit/frame.ts';
import { readDialogue, savedTest } from './flow-test.ts';
import { simulatorPage } from './page.ts';
import type { ServiceRecorder } from './recorder.ts';
import { standingOf } from './standing.ts';

export interface SimulatorDeps {
  /** Answers as the plain endpoint of telecoms does, whoever asks. */
  readonly dial: Middleware;
  readonly gateway: Pick<UssdService<CompiledFlow>, 'locate'>;
  readonly flows: Pick<Library<CompiledFlow>, 'current'>;
  readonly recorder: Pick<ServiceRecorder, 'answers'>;
  /** The flow that a dial starts, and how `text` is read. */
  readonly ussd: { readonly flow: string; readonly textMode: TextMode };
}

const TEXT: Schema = { type: 'string' };
const STANDING = record('As much as hides what is typed', {
  screen: { type: 'string', description: 'Path of the screen' },
  secret: { type: 'boolean', description: 'The answer is a secret' },
  keys: { type: 'array', items: TEXT, description: 'Answers that lead back, home, on or out' },
});

const DIALOGUE: Schema = {
  type: 'object',
  required: ['sessionId', 'phoneNumber', 'inputs'],
  properties: {
    sessionId: TEXT,
    phoneNumber: { type: 'string', description: 'E.164 with +' },
    inputs: {
      type: 'array',
      minItems: 1,
      maxItems: SERVER_LIMITS.simulatedInputs,
      items: { type: 'string', maxLength: SHARED_LIMITS.ussdTextChars },
      description: 'What was typed, without its secrets; the first is empty and dials',
    },
  },
};

export const SIMULATOR_ROUTES: readonly Route<SimulatorDeps>[] = [
  {
    method: 'GET',
    path: '/simulator',
    id: 'getSimulator',
    summary: 'Phones that dial',
    answers: { 200: PAGE },
    handle: (ctx, { ussd }) => sendPage(ctx, simulatorPage({ mode: ussd.textMode, flow: ussd.flow })),
  },
  {
    method: 'POST',
    path: '/simulator/dial',
    id: 'dialSimulated',
    summary: 'What a telecom gateway asks, for the phones of operators',
    description: 'As POST /api/ussd, whatever USSD_GATEWAYS lists. Only the page of phones may ask.',
    body: { types: jsonTypes(PLAIN_BODY) },
    answers: { 200: { description: 'A screen', types: { [PLAIN_TYPE]: CON_END } }, ...JSON_BODY_ANSWERS },
    ownPages: true,
    handle: (ctx, { dial }) => dial(ctx, async () => {}),
  },
  {
    method: 'GET',
    path: '/simulator/sessions/:sessionId',
    id: 'getSimulatedSession',
    summary: 'Whether a simulated phone is asked for a secret',
    answers: { 200: { description: 'Where it stands', types: jsonTypes(STANDING) } },
    handle: async (ctx, { gateway }) => {
      const standing = await standingOf(gateway, ctx.params.sessionId!);
      if (!standing) throw new Refusal('not-found');
      ctx.body = standing;
    },
  },
  {
    method: 'POST',
    path: '/simulator/flow-test',
    id: 'saveFlowTest',
    summary: 'A dialogue as a file of flow tests',
    description: 'Only the page of phones may ask. What services answered to it stands in the test.',
    body: { types: jsonTypes(DIALOGUE) },
    answers: {
      200: { description: 'The file', types: jsonTypes(record('A file', { name: TEXT, text: TEXT })) },
      ...JSON_BODY_ANSWERS,
    },
    ownPages: true,
    handle: async (ctx, { flows, ussd, recorder }) => {
      const dialogue = readDialogue(ctx.request.body);
      ctx.body = await savedTest(flows.current(ussd.flow)!, dialogue, recorder.answers(dialogue.sessionId));
    },
  },
];

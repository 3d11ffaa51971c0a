// GET /simulator and what its page asks for, for operators only.

import type Router from '@koa/router';
import type { Middleware } from 'koa';
import type { Library } from '../../../lib/engine/conversation.ts';
import type { CompiledFlow } from '../../../lib/flow/run/compile.ts';
import type { TextMode } from '../../../lib/ussd/request.ts';
import type { UssdService } from '../../../lib/ussd/service.ts';
import { Refusal } from '../../http/errors.ts';
import { ownPagesOnly } from '../../http/middleware/own-origin.ts';
import { sendPage } from '../kit/frame.ts';
import { readDialogue, savedTest } from './flow-test.ts';
import { simulatorPage } from './page.ts';
import type { ServiceRecorder } from './recorder.ts';
import { standingOf } from './standing.ts';

export interface SimulatorDeps {
  readonly operators: Middleware;
  /** Answers as the plain endpoint of telecoms does, whoever asks. */
  readonly dial: Middleware;
  readonly gateway: Pick<UssdService, 'locate'>;
  readonly flows: Pick<Library, 'current'>;
  readonly recorder: Pick<ServiceRecorder, 'answers'>;
  /** The flow that a dial starts, and how `text` is read. */
  readonly ussd: { readonly flow: string; readonly textMode: TextMode };
}

export function simulatorRoutes(
  router: Router,
  { operators, dial, gateway, flows, recorder, ussd }: SimulatorDeps,
): void {
  router.get('/simulator', operators, (ctx) => sendPage(ctx, simulatorPage({ mode: ussd.textMode, flow: ussd.flow })));

  // Operators are no telecom gateway, and USSD_GATEWAYS does not list them.
  router.post('/simulator/dial', operators, ownPagesOnly(), dial);

  router.get('/simulator/sessions/:sessionId', operators, async (ctx) => {
    const standing = await standingOf(gateway, ctx.params.sessionId!);
    if (!standing) throw new Refusal('not-found');
    ctx.body = standing;
  });

  router.post('/simulator/flow-test', operators, ownPagesOnly(), async (ctx) => {
    const dialogue = readDialogue(ctx.request.body);
    const compiled = flows.current(ussd.flow) as CompiledFlow;
    ctx.body = await savedTest(compiled, dialogue, recorder.answers(dialogue.sessionId));
  });
}

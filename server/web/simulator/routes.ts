// GET /simulator, its page with the phones, and what that page asks for, for operators only.

import type Router from '@koa/router';
import type { Middleware } from 'koa';
import type { Library } from '../../../lib/engine/conversation.ts';
import type { CompiledFlow } from '../../../lib/flow/run/compile.ts';
import { html } from '../../../lib/markup.ts';
import { SHARED_LIMITS } from '../../../lib/shared-limits.ts';
import type { TextMode } from '../../../lib/ussd/request.ts';
import type { UssdService } from '../../../lib/ussd/service.ts';
import { Refusal } from '../../http/errors.ts';
import { ownPagesOnly } from '../../http/middleware/own-origin.ts';
import { type Page, sendPage, toolHeader } from '../kit/frame.ts';
import { makeFlowTest, readDialogue, type ServiceRecorder } from './flow-test.ts';

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
    const state = await readSessionState(gateway, ctx.params.sessionId!);
    if (!state) throw new Refusal('not-found');
    ctx.body = state;
  });

  router.post('/simulator/flow-test', operators, ownPagesOnly(), async (ctx) => {
    const dialogue = readDialogue(ctx.request.body);
    const compiled = flows.current(ussd.flow) as CompiledFlow;
    ctx.body = await makeFlowTest(compiled, dialogue, recorder.answers(dialogue.sessionId));
  });
}

const MODES = {
  cumulative: html`<code>text</code> holds all answers, joined by <code>*</code>`,
  latest: html`<code>text</code> holds the last answer only, so a request that is repeated later counts as a new answer`,
} as const satisfies { readonly [mode in TextMode]: object };

export function simulatorPage({ mode, flow }: { readonly mode: TextMode; readonly flow: string }): Page {
  return {
    title: 'Phones · Twinline',
    layout: 'wide',
    style: 'simulator.css',
    script: 'simulator.js',
    body: html`${toolHeader('/simulator')}
<header class="tool">
<div><h1>Phones</h1>
<p class="lead">They dial the flow <code>${flow}</code> as telecoms do with <code>POST /api/ussd</code>: ${MODES[mode]}.
Type no PIN of yours: this tab keeps what was typed until you close it.</p>
<p id="told" role="status"></p></div>
<button id="add" class="primary" type="button">Add a phone</button>
</header>
<div id="phones" class="phones" data-mode="${mode}" data-code="*2233#" data-text-chars="${SHARED_LIMITS.ussdTextChars}"></div>
<p id="none" class="none" hidden>There is no phone. Add one.</p>
<noscript><p class="card">Phones need JavaScript. Without it there is <code>npx twinline chat</code>.</p></noscript>`,
  };
}

/** What the page reads. */
export interface SessionState {
  /** Path of the screen. */
  readonly screen: string;
  /** The answer to it is a secret. */
  readonly secret: boolean;
  /** Answers that lead somewhere from every screen of its flow, such as `0` and `*`: they are no secrets. */
  readonly keys: readonly string[];
}

/** Undefined when there is no such session, or it is over. */
export async function readSessionState(
  gateway: Pick<UssdService, 'locate'>,
  sessionId: string,
): Promise<SessionState | undefined> {
  const found = await gateway.locate(sessionId);
  if (!found) return undefined;
  const { path, conversation } = found;
  const node = (conversation as CompiledFlow).screens.get(path);
  // What nobody knows may be a secret.
  if (!node) return { screen: path, secret: true, keys: [] };
  const { screen, scope } = node;
  const secret = screen.type === 'input' && scope.flow.vars?.[screen.save]?.secret === true;
  const keys = Object.values(scope.keys).filter((key) => typeof key === 'string');
  return { screen: path, secret, keys };
}

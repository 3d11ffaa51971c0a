// The pages for operators: home, phones, chat, inspector, studio and settings.

import type { IncomingHttpHeaders } from 'node:http';
import type Router from '@koa/router';
import type { Context } from 'koa';
import type { Clock } from '../../lib/clock.ts';
import type { Library } from '../../lib/engine/conversation.ts';
import type { DocumentStore } from '../../lib/store/store.ts';
import type { DialledFlows } from '../../lib/ussd/codes.ts';
import type { Config } from '../config/config.ts';
import { readVersion } from '../config/modules.ts';
import type { ClockWatch } from '../health/clock-watch.ts';
import type { Health } from '../health/health.ts';
import { PAGE_LIMITED, PLAIN_ANSWERS, SIGN_IN_ANSWER, UNKNOWN } from '../http/common-answers.ts';
import type { OperatorRule } from '../http/middleware/operator.ts';
import { ownPagesOnly } from '../http/middleware/operator.ts';
import { addRoutes, type RouteGroup } from '../http/route-table.ts';
import type { UsageCounts } from '../usage/counts.ts';
import { USAGE_PARAMETERS, USAGE_ROUTE, type UsageDeps } from '../usage/routes.ts';
import { CHAT_ROUTES, type ChatDeps } from './chat.ts';
import { homeSender, SETTINGS_ROUTE, type SettingsDeps } from './home.ts';
import { homeReader } from './home-facts.ts';
import { INSPECTOR_ROUTES, type InspectorDoor } from './inspector/routes.ts';
import type { HeaderOptions } from './kit/header.ts';
import {
  browserOperators,
  operatorFinder,
  readerIdentifier,
  SIGN_IN_ROUTE,
  SIGN_OUT_ROUTE,
  type SignInDeps,
} from './kit/operators.ts';
import { operatorPasses, SIGN_OUT } from './kit/passes.ts';
import { PREVIEW_ROUTES } from './preview/routes.ts';
import { SIMULATOR_ROUTES, type SimulatorDeps } from './simulator/routes.ts';
import { NO_STUDIO } from './studio/open.ts';
import type { StudioDeps } from './studio/requests.ts';
import { STUDIO_ROUTES } from './studio/routes.ts';

/** The same for browsers that are signed in. */
const USAGE_ROUTE_OF_PAGES = {
  ...USAGE_ROUTE,
  path: '/studio/usage/:flow',
  id: 'getStudioUsage',
  summary: 'What callers did in a flow, for the page of the studio',
};

export const OPERATOR_PAGES: RouteGroup<SimulatorDeps & ChatDeps & SettingsDeps & SignInDeps & UsageDeps> = {
  tag: 'Pages of operators',
  description:
    'Phones and chats in a browser, for operators. With OPERATOR_TOKEN set, a browser shows it once and stays signed in.',
  access: 'operator',
  parameters: {
    ...USAGE_PARAMETERS,
    sessionId: {
      description: 'The id of the session of a simulated phone',
      schema: { type: 'string', examples: ['sim-example'] },
    },
  },
  answers: { ...PLAIN_ANSWERS, 429: PAGE_LIMITED, 401: SIGN_IN_ANSWER, 404: UNKNOWN },
  routes: [...SIMULATOR_ROUTES, ...CHAT_ROUTES, SETTINGS_ROUTE, SIGN_IN_ROUTE, SIGN_OUT_ROUTE, USAGE_ROUTE_OF_PAGES],
};

export interface ToolPagesDeps extends Pick<SimulatorDeps, 'service' | 'recorder' | 'refusedEdits'> {
  readonly config: Config;
  readonly library: Library;
  /** What a dial starts. */
  readonly dialled: Required<DialledFlows>;
  /** Where tests of the served flows are. */
  readonly menus: { readonly folder: string };
  /** The did:key of the agent service. */
  readonly oracleDid: string;
  readonly inspector: InspectorDoor;
  /** @default the studio is off */
  readonly studio: StudioDeps | undefined;
  readonly operators: OperatorRule;
  readonly health: Health;
  readonly clocks: Pick<ClockWatch, 'wrong'>;
  readonly clock: Clock;
  readonly documents: DocumentStore;
  readonly usage: UsageCounts;
}

export interface ToolPages {
  readonly headers: HeaderOptions;
  /** The name of the operator who sent a request; undefined for other clients. */
  findOperator(headers: IncomingHttpHeaders): string | undefined;
  /** Adds the routes of the pages; `phones` handles requests of simulated phones. */
  addRoutes(router: Router, phones: Pick<SimulatorDeps, 'dial' | 'ask'>): void;
  /** Answers `GET /` with a page if the client prefers HTML. Resolves to whether it answered. */
  sendHome(ctx: Context): Promise<boolean>;
}

export async function openToolPages(deps: ToolPagesDeps): Promise<ToolPages> {
  const { config, operators, clock, documents } = deps;
  const { tokens, publicUrl } = operators;
  await documents.declare([SIGN_OUT]);
  const passes = tokens && operatorPasses({ tokens, keyring: config.keyring, clock, documents, publicUrl });
  return {
    findOperator: operatorFinder({ passes }, operators),
    addRoutes: (router, phones) => addToolRoutes(router, { ...deps, ...phones, passes }),
    headers: {
      production: config.production,
      studio: config.studio,
      identifyReader: readerIdentifier({ passes }, operators),
    },
    sendHome: homeSender({
      version: readVersion(),
      environment: config.environment,
      publicUrl: config.publicUrl,
      readFacts: homeReader(deps),
      hasTools: !config.production || tokens !== undefined,
    }),
  };
}

interface ToolRoutesDeps extends ToolPagesDeps, SignInDeps, Pick<SimulatorDeps, 'dial' | 'ask'> {}

function addToolRoutes(router: Router, all: ToolRoutesDeps): void {
  const { config, oracleDid, inspector, studio, operators, ...deps } = all;
  const { ussd, agent, keyring } = config;
  const { maxTtlSeconds } = agent;
  const audience = agent.did ?? oracleDid;
  const guards = { operator: browserOperators(deps, operators), ownPages: ownPagesOnly(operators.publicUrl) };
  addRoutes(router, INSPECTOR_ROUTES, { deps: inspector, guards });
  if (studio) {
    addRoutes(router, STUDIO_ROUTES, { deps: studio, guards });
    addRoutes(router, PREVIEW_ROUTES, { deps: studio.previews, guards });
  } else addRoutes(router, NO_STUDIO, { deps: undefined, guards });
  addRoutes(router, OPERATOR_PAGES, {
    deps: {
      ...deps,
      files: studio?.files,
      noteEdit: studio?.noteEdit ?? (async () => {}),
      ussd,
      keyring,
      audience,
      maxTtlSeconds,
      settings: config.settings,
      publicUrl: config.publicUrl,
      writer: config.model ? 'model' : 'flow',
    },
    guards,
  });
}

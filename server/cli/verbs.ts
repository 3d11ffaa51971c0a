// The verbs of the command line, in the order in which help lists them.

import type { Verb } from './verb.ts';
import { accountVerb } from './verbs/account.ts';
import { chatVerb } from './verbs/chat.ts';
import { completionVerb } from './verbs/completion.ts';
import { configVerb } from './verbs/config.ts';
import { doctorVerb } from './verbs/doctor.ts';
import { exportVerb } from './verbs/export.ts';
import { gatewayVerb } from './verbs/gateway.ts';
import { graphVerb } from './verbs/graph.ts';
import { importVerb } from './verbs/import.ts';
import { inspectVerb } from './verbs/inspect.ts';
import { lintVerb } from './verbs/lint.ts';
import { newVerb } from './verbs/new.ts';
import { replayVerb } from './verbs/replay.ts';
import { routesVerb } from './verbs/routes.ts';
import { startVerb } from './verbs/start.ts';
import { testVerb } from './verbs/test.ts';
import { tokenVerb } from './verbs/token.ts';

export const VERBS: Readonly<Record<string, Verb>> = {
  new: newVerb,
  start: startVerb,
  chat: chatVerb,
  lint: lintVerb,
  test: testVerb,
  graph: graphVerb,
  inspect: inspectVerb,
  replay: replayVerb,
  routes: routesVerb,
  gateway: gatewayVerb,
  config: configVerb,
  doctor: doctorVerb,
  account: accountVerb,
  import: importVerb,
  export: exportVerb,
  token: tokenVerb,
  completion: completionVerb(() => VERBS),
};

// The tools of plugins as the agent calls them: arguments checked, and a context about the turn that calls.

import type { HostTool, ToolContext } from '../../lib/agent/tool.ts';
import { TwinlineError } from '../../lib/errors.ts';
import { argumentCheck } from './host/arguments.ts';
import { publicHomeserver } from './host/request-info.ts';
import type { PluginContext, PluginTool, RequestInfo } from './plugin.ts';

/** The tool; `contextOf` gives the context of its plugin. Its schema has been compiled once before. */
export function hostTool(tool: PluginTool, contextOf: (request: RequestInfo) => PluginContext): HostTool {
  const { name, description, schema } = tool;
  const checked = argumentCheck(schema);
  return {
    name,
    description,
    schema,
    handler: async (args, call) => {
      const wrong = checked.kind === 'check' ? checked.wrongWith(args) : checked.why;
      if (wrong) throw new TwinlineError('ERR_INPUT', `The arguments of ${name} are wrong: ${wrong}.`);
      return tool.handler(args, contextOf(toolRequest(call)));
    },
  };
}

function toolRequest({
  owner,
  session,
  requestId,
  request,
  secrets,
  idempotencyKey,
  signal,
}: ToolContext): RequestInfo {
  return {
    did: owner,
    sessionId: session,
    requestId,
    timezone: request.timezone,
    matrixAccessToken: secrets.matrixAccessToken,
    matrixHomeserver: publicHomeserver(request.homeServer),
    idempotencyKey,
    signal,
  };
}

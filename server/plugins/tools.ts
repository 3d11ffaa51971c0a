// Plugin tools as the agent calls them: with validated arguments and a context for the calling turn.

import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import type { HostTool, ToolContext } from '../../lib/agent/responder.ts';
import { TwinlineError } from '../../lib/errors.ts';
import type { JsonObject } from '../../lib/json/json.ts';
import { publicHomeserver } from './context.ts';
import type { PluginContext, PluginTool, PluginToolContext, RequestInfo } from './plugin.ts';

/**
 * Compiles a JSON Schema 2020-12, or draft 7 if `$schema` says so. The returned function describes what is wrong with
 * arguments, '' if they are valid. Throws for an invalid schema.
 */
export function argumentCheck(schema: JsonObject): (args: JsonObject) => string {
  const isDraft7 = /draft-07/.test(String(schema.$schema));
  const ajv = new (isDraft7 ? Ajv : Ajv2020)({ strict: false, allErrors: true });
  formats.default(ajv);
  const validate = ajv.compile(schema);
  return (args) => (validate(args) ? '' : ajv.errorsText(validate.errors, { dataVar: 'arguments' }));
}

/** Wraps a plugin tool; `makeContext` provides the context of its plugin. */
export function hostTool(tool: PluginTool, makeContext: (request: RequestInfo) => PluginContext): HostTool {
  const { name, description, schema } = tool;
  const findFault = argumentCheck(schema);
  return {
    name,
    description,
    schema,
    handler: async (args, call) => {
      const fault = findFault(args);
      if (fault) throw new TwinlineError('ERR_INPUT', `Invalid arguments for ${name}: ${fault}.`);
      return tool.handler(args, makeContext(toolRequest(call)) as PluginToolContext);
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

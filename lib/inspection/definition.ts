// The machine of a conversation as JSON, for Stately's tools.

import { machineConfig } from '../diagram/machine-drawing.ts';
import type { Conversation } from '../engine/conversation.ts';
import { type CompiledFlow, isFlow } from '../flow/run/compile.ts';
import type { Json, JsonObject } from '../json/json.ts';
import { listRequestSecrets, redactor } from '../redact.ts';

/**
 * The config of its machine. What JSON cannot say, such as the functions of guards, is left out; so are credentials in the calls of a
 * flow, and of other machines the values: context, inputs and outputs.
 */
export function defineMachine(conversation: Conversation): string {
  if (!isFlow(conversation)) return JSON.stringify(omitValues(machineConfig(conversation.machine.source)));
  return JSON.stringify(redactor(listFlowSecrets(conversation)).json(conversation.config as unknown as Json));
}

// Credentials that stand in the calls of a flow as they are; what an expression gives is not known here.
function listFlowSecrets({ screens }: CompiledFlow): string[] {
  return [...screens.values()].flatMap(({ screen }) =>
    screen.type === 'call' ? listRequestSecrets(screen.with ?? {}).filter((text) => !/^=|\{\{/.test(text)) : [],
  );
}

function omitValues({ context: _, output: __, invoke, states, ...node }: JsonObject): JsonObject {
  const calls = [invoke ?? []].flat() as readonly JsonObject[];
  const inside = Object.entries((states ?? {}) as { readonly [name: string]: JsonObject });
  return {
    ...node,
    ...(calls.length && { invoke: calls.map(({ input: _, ...call }) => call) }),
    ...(inside.length && { states: Object.fromEntries(inside.map(([name, state]) => [name, omitValues(state)])) }),
  };
}

// An agent that asks a scripted endpoint, for the tests of the model responder.

import type { Agent } from '../../lib/agent/agent.ts';
import type { AgentOptions, RunReport } from '../../lib/agent/options.ts';
import { type ModelOptions, modelResponder } from '../../lib/agent/responders/model.ts';
import type { RunRequest } from '../../lib/agent/run/run.ts';
import { framesOf, type Ground, ground, newSession, type SeenFrame, say } from './ground.ts';
import { type Answer, type ModelServer, modelServer } from './model-server.ts';

export interface Asking {
  readonly agent: Agent;
  readonly server: ModelServer;
  readonly clock: Ground['clock'];
  /** What operators were told. */
  readonly problems: unknown[];
  readonly ends: RunReport[];
  /** Sends a message in a session of its own; the frames of its reply. */
  ask(message: string, more?: Partial<RunRequest>): Promise<SeenFrame[]>;
}

export type AskingOptions = Partial<Omit<Extract<ModelOptions, { endpoint: unknown }>, 'endpoint'>> &
  Pick<AgentOptions, 'hostTools' | 'instructions' | 'replyBytes'> & {
    /** Of the address of the endpoint. */
    readonly baseUrl?: (url: string) => string;
    readonly apiKey?: string | undefined;
  };

/** Runs `work` with an agent on memory stores whose model answers by the script. */
export async function asking(
  script: readonly Answer[],
  work: (here: Asking) => Promise<void>,
  options: AskingOptions = {},
): Promise<void> {
  const { hostTools, instructions, replyBytes, baseUrl = (url: string) => url, ...model } = options;
  const server = await modelServer(...script);
  const here = ground();
  const ends: RunReport[] = [];
  const apiKey = 'apiKey' in options ? options.apiKey : 'sk-canary';
  const responder = await modelResponder({
    model: 'small',
    ...model,
    endpoint: { baseUrl: baseUrl(server.url), apiKey },
    clock: here.clock,
    onProblem: (error) => here.problems.push(error),
  });
  const agent = await here.agent(responder, {
    onEnd: (report) => ends.push(report),
    ...(hostTools && { hostTools }),
    ...(instructions && { instructions }),
    ...(replyBytes !== undefined && { replyBytes }),
  });
  const ask = async (message: string, more: Partial<RunRequest> = {}) => {
    const session = await newSession(agent);
    return framesOf(agent, await say(agent, session, message, { request: { message, ...more } }));
  };
  try {
    await work({ agent, server, clock: here.clock, problems: here.problems, ends, ask });
    await agent.idle();
  } finally {
    await agent.close();
    await server.close();
  }
}

// The hooks of plugins: events of runs, settlement before a run ends, instructions for models.

import type { AgentOptions } from '../../../lib/agent/agent.ts';
import type { RunRoomEvent } from '../../../lib/agent/room.ts';
import type { RunReport } from '../../../lib/agent/run/runner.ts';
import { TwinlineError } from '../../../lib/errors.ts';
import type { JsonObject } from '../../../lib/store/store.ts';
import type { Plugin, PluginContext, PluginEvent, RequestInfo } from '../plugin.ts';

/** What the agent calls; a listener is missing where no plugin wants it. */
export type Listeners = Pick<AgentOptions, 'settle' | 'onEvent' | 'onEnd' | 'instructions'>;

type ContextOf = (plugin: Plugin, request: RequestInfo) => PluginContext;

export function listenersOf(plugins: readonly Plugin[], contextOf: ContextOf): Listeners {
  const having = (hook: keyof Plugin) => plugins.filter((plugin) => plugin[hook] !== undefined);
  const [listening, settling, instructing] = [having('onEvent'), having('settle'), having('instructions')];
  const tell = (event: PluginEvent, request: RequestInfo) => {
    for (const plugin of listening) void hear(plugin, event, contextOf(plugin, request));
  };
  return {
    ...(listening.length && {
      onEvent: ({ event, runId, payload, ...about }: RunRoomEvent) =>
        tell({ type: event, runId, payload }, runRequest(about)),
      onEnd: (report) => tell(ended(report), runRequest(report)),
    }),
    ...(settling.length && {
      settle: async (report) => {
        for (const plugin of settling) await settle(plugin, report, contextOf(plugin, runRequest(report)));
      },
    }),
    ...(instructing.length && {
      instructions: async (asked) => {
        const said = instructing.map((plugin) => plugin.instructions!(contextOf(plugin, runRequest(asked))));
        return (await Promise.all(said)).filter((text): text is string => text !== undefined && text !== '');
      },
    }),
  };
}

async function hear(plugin: Plugin, event: PluginEvent, context: PluginContext): Promise<void> {
  try {
    await plugin.onEvent!(event, context);
  } catch (error) {
    context.log.error({ err: error }, 'a plugin failed on an event');
  }
}

// A store that is away may come back; what a plugin has got wrong must not keep runs from ending.
async function settle(plugin: Plugin, report: RunReport, context: PluginContext): Promise<void> {
  try {
    await plugin.settle!(report, context);
  } catch (error) {
    if (error instanceof TwinlineError && error.retry) throw error;
    context.log.error({ err: error, runId: report.runId }, 'a plugin failed to settle a run');
  }
}

function ended({ owner: _, session: sessionId, runId, ...more }: RunReport): PluginEvent {
  return { type: 'run_ended', runId, payload: { sessionId, ...more } as unknown as JsonObject };
}

function runRequest({ owner, session, requestId }: Pick<RunReport, 'owner' | 'session' | 'requestId'>): RequestInfo {
  return { did: owner, sessionId: session, requestId };
}

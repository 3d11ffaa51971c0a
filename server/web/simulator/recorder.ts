// What services answered to simulated phones: kept for a while, so that a dialogue can be saved as a flow test.

import { LRUCache } from 'lru-cache';
import type { Service, Services } from '../../../lib/engine/service.ts';
import { TwinlineError } from '../../../lib/errors.ts';
import type { FlowTestSetup, MockAnswer } from '../../../lib/flow/testing/file.ts';
import { PAGE_LIMITS } from '../limits.ts';

/** Ids of sessions of simulated phones begin with this; those of telecoms are never recorded. */
export const SIMULATED = 'sim-';

export interface ServiceRecorder {
  /** The same services, but their answers to simulated phones are kept. What they were called with never is: it may be a PIN. */
  watch(services: Services): Services;
  /** What was answered in a session, by the name of the service, in the order of the calls. */
  answers(sessionId: string): NonNullable<FlowTestSetup['services']>;
}

interface Kept {
  readonly service: string;
  readonly answer: MockAnswer;
}

export function serviceRecorder(): ServiceRecorder {
  const sessions = new LRUCache<string, Kept[]>({ max: PAGE_LIMITS.simulatedSessions });

  function keep(sessionId: string, kept: Kept): void {
    const list = sessions.get(sessionId) ?? [];
    if (list.length < PAGE_LIMITS.simulatedCalls) list.push(kept);
    sessions.set(sessionId, list);
  }

  const recorded = (name: string, service: Service): Service => {
    return async (input, call) => {
      const { id } = call.session;
      if (!id.startsWith(SIMULATED)) return service(input, call);
      try {
        const answer = await service(input, call);
        keep(id, { service: name, answer: { return: structuredClone(answer ?? null) } });
        return answer;
      } catch (error) {
        keep(id, { service: name, answer: { fail: error instanceof TwinlineError ? error.code : 'ERR_SERVICE' } });
        throw error;
      }
    };
  };

  return {
    watch: (services) =>
      Object.fromEntries(Object.entries(services).map(([name, service]) => [name, recorded(name, service)])),
    answers(sessionId) {
      const found: Record<string, MockAnswer[]> = {};
      for (const { service, answer } of sessions.get(sessionId) ?? []) {
        found[service] ??= [];
        found[service].push(answer);
      }
      return found;
    },
  };
}

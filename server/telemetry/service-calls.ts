// Calls of the services of flows: how many, how long, how they ended.

import type { Service, Services } from '../../lib/engine/service.ts';
import { traced } from '../../lib/http/tracing.ts';
import { counter, createDurations, type Durations, histogram } from './metrics.ts';

export interface ServiceCalls {
  /** The same services, counted. */
  watch(services: Services): Services;
  metrics(): readonly string[];
}

/** `late`: it ended after its caller had stopped waiting. */
type CallOutcome = 'answered' | 'failed' | 'late';

/** Nothing was called yet. */
export function serviceCalls(): ServiceCalls {
  const counts = new Map<string, number>();
  const durations = new Map<string, Durations>();

  function note(service: string, outcome: CallOutcome, begun: number): void {
    const labels = `service="${service}",outcome="${outcome}"`;
    counts.set(labels, (counts.get(labels) ?? 0) + 1);
    const took = durations.get(service) ?? createDurations();
    durations.set(service, took);
    took.add(performance.now() - begun);
  }

  const watchService = (name: string, service: Service): Service => {
    return async (input, call) => {
      const begun = performance.now();
      try {
        const attributes = { 'twinline.service': name };
        const answer = await traced(`service ${name}`, { way: 'out', attributes }, () => service(input, call));
        note(name, call.signal.aborted ? 'late' : 'answered', begun);
        return answer;
      } catch (error) {
        note(name, call.signal.aborted ? 'late' : 'failed', begun);
        throw error;
      }
    };
  };

  return {
    // Names come from the services that are loaded, so there are no more of them than those.
    watch: (services) =>
      Object.fromEntries(Object.entries(services).map(([name, service]) => [name, watchService(name, service)])),
    metrics: () => [
      ...counter(
        'twinline_service_calls_total',
        'Attempts of service calls made by flows, by service and outcome.',
        counts,
      ),
      ...histogram(
        'twinline_service_call_seconds',
        'Duration of an attempt.',
        new Map([...durations].map(([name, took]) => [`service="${name}"`, took])),
      ),
    ],
  };
}

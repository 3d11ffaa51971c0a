// Services for looking at a flow: they answer as its tests say, always the same, and nothing real is called.

import type { Services } from '../../engine/service.ts';
import { TwinlineError } from '../../errors.ts';
import type { CompiledFlow } from '../run/compile.ts';
import type { FlowTestFile } from './file.ts';
import { giveAnswer, isPart } from './mock-services.ts';

/**
 * The services that a flow calls. Each answers with the first answer of the tests that is for its input, a good one before a failure; else
 * with the first good one of them; else with the sample of the variable that keeps it. A service without any fails.
 */
export function sampleServices(compiledFlow: CompiledFlow, file: Pick<FlowTestFile, 'tests'> | undefined): Services {
  const calls = [...compiledFlow.screens.values()].flatMap(({ screen, scope: { flow } }) =>
    screen.type === 'call' ? [{ service: screen.service, sample: flow.vars?.[screen.save ?? '']?.sample }] : [],
  );
  return Object.fromEntries(
    [...new Set(calls.map(({ service }) => service))].map((name) => {
      const answers = (file?.tests ?? []).flatMap(({ services = {} }) => services[name] ?? []);
      const good = answers.filter(({ fail }) => fail === undefined);
      const sample = calls.find((call) => call.service === name && call.sample !== undefined)?.sample;
      return [
        name,
        async (input) => {
          const fits = [...good, ...answers].find(({ when = {} }) => isPart(when, input)) ?? good[0];
          if (fits) return giveAnswer(name, fits);
          if (sample !== undefined) return sample;
          throw new TwinlineError('ERR_SERVICE_UNKNOWN', `No test of the flow has an answer of "${name}".`);
        },
      ];
    }),
  );
}

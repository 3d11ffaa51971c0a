// The machines that the inspector shows: the flows that are served now, and the lifecycles of domains, delegations and runs.

import type { Library } from '../../../lib/engine/conversation.ts';
import type { CompiledFlow } from '../../../lib/flow/run/compile.ts';
import type { Json } from '../../../lib/json/json.ts';
import { listRequestSecrets, redactor } from '../../../lib/redact.ts';
import { LIFECYCLES } from '../diagram/drawings.ts';

export interface InspectedMachine {
  readonly id: string;
  readonly kind: 'flow' | 'lifecycle';
  readonly version: number;
  /** What it is for, in a few words. */
  readonly title: string;
}

export interface Machines {
  /** Flows first, in the order in which they were loaded; a lifecycle gives way to a flow of the same name. */
  list(): InspectedMachine[];
  /** The flows as they are served now, by name. */
  flows(): ReadonlyMap<string, CompiledFlow>;
  /** The config of the machine as JSON, as Stately's tools read it; undefined for one that is not known. */
  definition(id: string): string | undefined;
}

/** The machines of this process; `library` may change. */
export function listMachines(library: Library<CompiledFlow>): Machines {
  const flow = (id: string) => library.current(id);
  const flows = () => new Map(library.ids.map((id) => [id, flow(id)!]));
  return {
    flows,
    list: () => [
      ...[...flows().values()].map(describeMachine),
      ...Object.entries(LIFECYCLES).flatMap(([id, { summary }]): InspectedMachine[] =>
        flow(id) ? [] : [{ id, kind: 'lifecycle', version: 1, title: summary }],
      ),
    ],
    // What JSON cannot say, such as the functions of guards, is left out.
    definition: (id) => {
      const lifecycle = Object.hasOwn(LIFECYCLES, id) ? LIFECYCLES[id]!.machine().config : undefined;
      const compiled = flow(id);
      if (compiled) return JSON.stringify(redactor(listFlowSecrets(compiled)).json(compiled.config as unknown as Json));
      return lifecycle && JSON.stringify(lifecycle);
    },
  };
}

// Credentials that stand in the calls of a flow as they are; what an expression gives is not known here.
export function listFlowSecrets({ screens }: CompiledFlow): string[] {
  return [...screens.values()].flatMap(({ screen }) =>
    screen.type === 'call' ? listRequestSecrets(screen.with ?? {}).filter((text) => !/^=|\{\{/.test(text)) : [],
  );
}

export function describeMachine({ id, version, flow }: CompiledFlow): InspectedMachine {
  return { id, kind: 'flow', version, title: flow.note ?? `${Object.keys(flow.screens).length} screens` };
}

// The machines that can be looked at: every flow that is loaded, and the lifecycles of this program.

import type { Library } from '../../../lib/engine/conversation.ts';
import type { CompiledFlow } from '../../../lib/flow/run/compile.ts';
import { LIFECYCLES } from '../diagram/lifecycles.ts';

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
export function inspectedMachines(library: Library<CompiledFlow>): Machines {
  const flows = () => new Map(library.ids.map((id) => [id, library.current(id)!]));
  return {
    flows,
    list: () => [
      ...[...flows().values()].map(lineOf),
      ...Object.entries(LIFECYCLES).flatMap(([id, { summary }]): InspectedMachine[] =>
        library.current(id) ? [] : [{ id, kind: 'lifecycle', version: 1, title: summary }],
      ),
    ],
    // What JSON cannot say, such as the functions of guards, is left out.
    definition: (id) => {
      const lifecycle = Object.hasOwn(LIFECYCLES, id) ? LIFECYCLES[id]!.machine().config : undefined;
      const config = library.current(id)?.config ?? lifecycle;
      return config && JSON.stringify(config);
    },
  };
}

function lineOf({ id, version, flow }: CompiledFlow): InspectedMachine {
  return { id, kind: 'flow', version, title: flow.note ?? `${Object.keys(flow.screens).length} screens` };
}

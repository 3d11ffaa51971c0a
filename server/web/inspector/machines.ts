// The machines that the inspector shows: flows and machines of their own that are served now, and the lifecycles of domains,
// delegations and runs.

import type { Conversation, Library } from '../../../lib/engine/conversation.ts';
import { isFlow } from '../../../lib/flow/run/compile.ts';
import { defineMachine } from '../../../lib/inspection/definition.ts';
import { LIFECYCLES } from '../diagram/drawings.ts';

export interface InspectedMachine {
  readonly id: string;
  readonly kind: 'flow' | 'machine' | 'lifecycle';
  readonly version: number;
  /** Short description. */
  readonly title: string;
}

export interface Machines {
  /** What is served first, in the order in which it was loaded; a lifecycle gives way to one of the same name. */
  list(): InspectedMachine[];
  /** The served machine of this name. */
  served(): ReadonlyMap<string, Conversation>;
  /** The config of the machine as JSON, as Stately's tools read it; undefined for one that is not known. */
  definition(id: string): string | undefined;
}

/** The machines of this process; the library may change. */
export function listMachines(library: Library): Machines {
  const served = () => new Map(library.ids.map((id) => [id, library.current(id)!]));
  return {
    served,
    list: () => [
      ...[...served().values()].map(describeMachine),
      ...Object.entries(LIFECYCLES).flatMap(([id, { summary }]): InspectedMachine[] =>
        library.current(id) ? [] : [{ id, kind: 'lifecycle', version: 1, title: summary }],
      ),
    ],
    definition: (id) => {
      const conversation = library.current(id);
      if (conversation) return defineMachine(conversation);
      return Object.hasOwn(LIFECYCLES, id) ? JSON.stringify(LIFECYCLES[id]!.machine().config) : undefined;
    },
  };
}

function describeMachine(conversation: Conversation): InspectedMachine {
  const { id, version } = conversation;
  if (!isFlow(conversation)) return { id, kind: 'machine', version, title: 'a machine of your own' };
  const { flow } = conversation;
  return { id, kind: 'flow', version, title: flow.note ?? `${Object.keys(flow.screens).length} screens` };
}

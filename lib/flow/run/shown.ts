// What those who watch a flow may see of what is typed and of what services answer: nothing that is a secret.

import type { Shown } from '../../engine/conversation.ts';
import type { Json } from '../../store/store.ts';
import { pathOf, type ScreenNode } from './node.ts';

/** Shows what is typed on the screens of a flow, but on those that ask for one of its secrets. */
export function shownOf(nodes: ReadonlyMap<string, ScreenNode>): Shown {
  const keepsSecret = ({ screen, scope }: ScreenNode) =>
    'save' in screen && screen.save !== undefined && scope.flow.vars?.[screen.save]?.secret === true;
  return {
    input: ({ state }, input) => {
      const node = nodes.get(pathOf(state));
      return !node || keepsSecret(node) || typeof input !== 'string' ? null : input;
    },
    output: (id, output): Json => {
      const node = nodes.get(id);
      return !node || keepsSecret(node) ? null : output;
    },
  };
}

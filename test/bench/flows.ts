// Flows made for measuring: any number of menus, each with five options to others and one condition.

import type { Flow, Screen } from '../../lib/flow/format/flow.ts';

export function menuFlow(screens: number): Flow {
  const id = (at: number) => `screen${((at % screens) + screens) % screens}`;
  const made: Record<string, Screen> = {};
  for (let at = 0; at < screens; at++)
    made[id(at)] = {
      type: 'menu',
      text: `Screen ${at} for {{name}}`,
      options: [1, 7, 31, 97, 211].map((step, n) => ({
        id: `go${n}`,
        text: `Go on by ${step}`,
        to: id(at + step),
        ...(n === 4 && { when: 'visits >= 0' }),
        ...(n === 0 && { set: { visits: '=visits + 1' } }),
      })),
    };
  return {
    flow: `menu${screens}`,
    version: 1,
    start: id(0),
    keys: { exit: '*' },
    vars: { name: { type: 'string', default: 'Tariro' }, visits: { type: 'number', default: 0 } },
    screens: made,
  };
}

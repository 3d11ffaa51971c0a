// Services and flows that a flow calls.

import { durationMs, type Flow } from '../../format/flow.ts';
import { pointerTo } from '../../format/source.ts';
import { FLOW_LIMITS } from '../../limits.ts';
import { didYouMean, listed, type Rule } from '../rule.ts';

export const callRules: readonly Rule[] = [
  {
    code: 'unknown-service',
    severity: 'warning',
    means: 'no service of this name is known here',
    *find({ flow, services, nearest }) {
      const known = services && [...services].sort();
      for (const [id, screen] of Object.entries(flow.screens)) {
        if (!known || screen.type !== 'call' || services.has(screen.service)) continue;
        const meant = nearest(screen.service, known);
        const message = `Screen "${id}" calls the service "${screen.service}", which is not known here.`;
        const fix =
          meant === undefined ? `Add the service "${screen.service}". Known: ${listed(known)}.` : `Write "${meant}".`;
        yield { pointer: pointerTo('screens', id, 'service'), message: message + didYouMean(meant), fix };
      }
    },
  },
  {
    code: 'long-timeout',
    severity: 'error',
    means: 'a call may take longer than any call may',
    *find({ flow }) {
      for (const [id, screen] of Object.entries(flow.screens)) {
        const { timeout } = screen.type === 'call' ? screen : {};
        if (timeout === undefined || (durationMs(timeout) ?? 0) <= FLOW_LIMITS.callTimeoutMaxMs) continue;
        const most = `${FLOW_LIMITS.callTimeoutMaxMs / 1_000}s`;
        const message = `The call "${id}" may take ${timeout}, and ${most} is the most.`;
        yield {
          pointer: pointerTo('screens', id, 'timeout'),
          message,
          fix: `Write at most "${most}" for "${timeout}".`,
        };
      }
    },
  },
  {
    code: 'unknown-flow',
    severity: 'error',
    means: 'a screen calls a flow that does not exist',
    *find({ flow, flows, nearest }) {
      const known = flows && [...flows.keys()].sort();
      for (const [id, screen] of Object.entries(flow.screens)) {
        if (!known || screen.type !== 'flow' || flows.has(screen.flow)) continue;
        const meant = nearest(screen.flow, known);
        const message = `Screen "${id}" calls the flow "${screen.flow}", which does not exist.`;
        const fix =
          meant === undefined ? `Add ${screen.flow}.flow.json, or call one of: ${listed(known)}.` : `Write "${meant}".`;
        yield { pointer: pointerTo('screens', id, 'flow'), message: message + didYouMean(meant), fix };
      }
    },
  },
  {
    code: 'flow-circle',
    severity: 'error',
    means: 'a flow calls itself, directly or through others',
    *find({ flow, flows }) {
      for (const [id, screen] of Object.entries(flow.screens)) {
        if (screen.type !== 'flow') continue;
        const path = circle(flow, screen.flow, flows);
        if (!path) continue;
        const message = `Screen "${id}" calls the flow "${screen.flow}", which leads back here: ${path.join(' → ')}.`;
        const fix = `Break the circle at "${id}"; loops belong inside one flow.`;
        yield { pointer: pointerTo('screens', id, 'flow'), message, fix };
      }
    },
  },
];

/** The flows from `flow` through `first` back to `flow`, or undefined when there is no such path. */
function circle(flow: Flow, first: string, flows: ReadonlyMap<string, Flow> | undefined): string[] | undefined {
  const from = new Map<string, string>([[first, flow.flow]]);
  const work = [first];
  for (let name = work.shift(); name !== undefined; name = work.shift()) {
    if (name === flow.flow) break;
    for (const screen of Object.values(flows?.get(name)?.screens ?? {})) {
      if (screen.type !== 'flow' || from.has(screen.flow)) continue;
      from.set(screen.flow, name);
      work.push(screen.flow);
    }
  }
  if (!from.has(flow.flow)) return undefined;
  const path = [flow.flow];
  do path.unshift(from.get(path[0]!)!);
  while (path[0] !== flow.flow);
  return path;
}

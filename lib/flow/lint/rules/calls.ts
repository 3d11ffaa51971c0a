// Services and flows that a flow calls, and cycles of branches and calls without a screen that waits for input.

import { type Flow, listCalled, type Screen, type Way } from '../../format/flow.ts';
import { pointerTo } from '../../format/source.ts';
import { durationMs } from '../../format/way.ts';
import { FLOW_LIMITS } from '../../limits.ts';
import { isInteractive, listServiceUses, listTargets } from '../../screens/kinds.ts';
import { findRefusedHosts } from '../called-hosts.ts';
import {
  didYouMean,
  formatNames,
  type Lint,
  type LintRule,
  type RuleFinding,
  reachFrom,
  reverseEdges,
} from '../rule.ts';

export const callRules: readonly LintRule[] = [
  {
    code: 'unknown-service',
    severity: 'warning',
    means: 'no such service',
    *find({ flow, services, nearest, mend }) {
      const names = services && [...services].sort();
      const counts = new Map<string, number>();
      const uses = Object.entries(flow.screens).flatMap(([id, screen]) =>
        listServiceUses(screen).map(({ steps, service }) => ({ id, steps, service })),
      );
      for (const { service } of uses) counts.set(service, (counts.get(service) ?? 0) + 1);
      for (const { id, steps, service } of uses) {
        if (!names || services.has(service)) continue;
        // One line for each service, at the first screen that calls it.
        const others = (counts.get(service) ?? 0) - 1;
        counts.delete(service);
        if (others < 0) continue;
        const similar = nearest(service, names);
        const message = `Screen "${id}" calls the service "${service}", which is not known here.${others ? ` So ${others === 1 ? 'does one more screen' : `do ${others} more screens`}.` : ''}`;
        const fix =
          similar === undefined
            ? `Name the module that has "${service}" in the setting SERVICES, such as SERVICES=./services/mine.js in .env. Known: ${formatNames(names)}.`
            : `Write "${similar}".`;
        yield {
          pointer: pointerTo('screens', id, ...steps, 'service'),
          message: message + didYouMean(similar),
          fix,
          ...mend(service, names),
        };
      }
    },
  },
  {
    code: 'refused-host',
    severity: 'warning',
    means: 'a call goes to a host that the server does not allow',
    find: findRefusedHosts,
  },
  {
    code: 'no-sms-gateway',
    severity: 'warning',
    means: 'a screen sends an SMS, and there is no gateway for it',
    *find({ flow, sendsSms }) {
      const [first] = sendsSms === false ? listSms(flow) : [];
      if (!first) return;
      const message = `Screen "${first.id}" sends an SMS, and there is no gateway for it: every call of "${SMS}" fails.`;
      const fix = 'Set SMS_URL, such as SMS_URL=https://api.africastalking.com/version1/messaging, with SMS_FORMAT.';
      yield { pointer: pointerTo('screens', first.id, ...first.steps, 'service'), message, fix };
    },
  },
  {
    code: 'long-timeout',
    severity: 'error',
    means: 'the timeout of a call exceeds the limit',
    *find({ flow }) {
      for (const [id, screen] of Object.entries(flow.screens))
        for (const { steps, timeout, isAnsweredLater } of listServiceUses(screen)) {
          const mostMs = isAnsweredLater ? FLOW_LIMITS.callbackMaxMs : FLOW_LIMITS.callTimeoutMaxMs;
          if (timeout === undefined || (durationMs(timeout) ?? 0) <= mostMs) continue;
          const most = isAnsweredLater ? `${mostMs / 60_000}m` : `${mostMs / 1_000}s`;
          const message = `The call "${id}" has a timeout of ${timeout}; the maximum is ${most}.`;
          const fix = `Write at most "${most}" for "${timeout}".`;
          const pointer = pointerTo('screens', id, ...steps, 'timeout');
          yield { pointer, message, fix, mend: { old: timeout, text: most } };
        }
    },
  },
  {
    code: 'unknown-flow',
    severity: 'error',
    means: 'a screen calls a flow that does not exist',
    *find({ flow, flows, nearest, mend }) {
      const flowNames = flows && [...flows.keys()].sort();
      for (const [id, screen] of Object.entries(flow.screens)) {
        if (!flowNames || screen.type !== 'flow' || flows.has(screen.flow)) continue;
        const nearFlow = nearest(screen.flow, flowNames);
        const message = `Screen "${id}" calls the flow "${screen.flow}", which does not exist.`;
        const fix =
          nearFlow === undefined
            ? `Add ${screen.flow}.flow.json, or call one of: ${formatNames(flowNames)}.`
            : `Write "${nearFlow}".`;
        yield {
          pointer: pointerTo('screens', id, 'flow'),
          message: message + didYouMean(nearFlow),
          fix,
          ...mend(screen.flow, flowNames),
        };
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
        const path = findFlowCycle(flow, screen.flow, flows);
        if (!path) continue;
        const message = `Screen "${id}" calls the flow "${screen.flow}", which leads back here: ${path.join(' → ')}.`;
        const fix = `Break the circle at "${id}"; loops belong inside one flow.`;
        yield { pointer: pointerTo('screens', id, 'flow'), message, fix };
      }
    },
  },
  {
    code: 'flow-depth',
    severity: 'error',
    means: 'more flows are called by each other than a session may be in at once',
    *find({ flow, flows }) {
      const path = findDeepCalls(flow, flows);
      if (!path) return;
      const first = Object.entries(flow.screens).find(
        ([, screen]) => screen.type === 'flow' && screen.flow === path[1],
      );
      const message = `${path.join(' → ')} call each other: a session may be in ${FLOW_LIMITS.flowLevels} flows at once.`;
      const fix = 'Let one flow call them one after the other, instead of each the next.';
      yield { pointer: pointerTo('screens', first![0], 'flow'), message, fix };
    },
  },
  {
    code: 'spin',
    severity: 'error',
    means: 'a cycle of branches (error) or of calls (warning) without a screen that waits for the caller',
    *find(lint) {
      yield* branchCircles(lint);
      yield* callCircles(lint);
    },
  },
  {
    code: 'no-failure-path',
    severity: 'error',
    means: 'a failed call leads only back to itself',
    *find(lint) {
      for (const [id, screen] of lint.graph.screens) {
        if (screen.type !== 'call' || reachesRest(lint, id, listWays(lint, screen.fail))) continue;
        const message = `When the call "${id}" (${screen.service}) fails, it is only called again, for ever.`;
        const fix = `Let "fail" of "${id}" lead to a screen that the caller sees, such as a menu that says sorry.`;
        yield { pointer: pointerTo('screens', id, 'fail'), message, fix };
      }
    },
  },
];

const SMS = 'sms.send';

/** Where a flow sends an SMS. */
export function listSms(flow: Flow) {
  return Object.entries(flow.screens).flatMap(([id, screen]) =>
    listServiceUses(screen).flatMap(({ steps, service }) => (service === SMS ? [{ id, steps }] : [])),
  );
}

/** The flows from `flow` through `first` back to `flow`, or undefined when there is no such path. */
function findFlowCycle(flow: Flow, first: string, flows: ReadonlyMap<string, Flow> | undefined): string[] | undefined {
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

/** A chain of calls that enters more flows than a session may be in at once, each only once; undefined when there is none. */
function findDeepCalls(flow: Flow, flows: ReadonlyMap<string, Flow> | undefined): readonly string[] | undefined {
  let level = new Map<string, readonly string[]>([[flow.flow, [flow.flow]]]);
  for (let count = 0; count < FLOW_LIMITS.flowLevels; count++) {
    const next = new Map<string, readonly string[]>();
    for (const [name, path] of level) {
      const one = name === flow.flow ? flow : flows?.get(name);
      for (const called of one ? listCalled(one) : []) if (!path.includes(called)) next.set(called, [...path, called]);
    }
    level = next;
  }
  return level.values().next().value;
}

function* branchCircles({ graph }: Lint): Iterable<RuleFinding> {
  const isBranch = (id: string) => graph.screens.get(id)?.type === 'branch';
  const next = (id: string) => graph.next.get(id)!.filter(isBranch);
  for (const cycle of findCycles([...graph.screens.keys()].filter(isBranch), next)) {
    const message = `The branches ${cycle.join(' → ')} lead into each other, and nobody is asked in between.`;
    const fix = `Put a menu or input between them, or lead "${cycle.at(-2)}" elsewhere.`;
    yield { pointer: pointerTo('screens', cycle[0]!), at: 'key', message, fix };
  }
}

function* callCircles(lint: Lint): Iterable<RuleFinding> {
  const { screens } = lint.graph;
  const passing = [...screens.keys()].filter((id) => !isResting(lint, id));
  const ways = (id: string) => listOnward(lint, screens.get(id)!);
  const resting = passing.filter((id) => ways(id).some((to) => to === undefined || isResting(lint, to)));
  const targets = (id: string) => ways(id).filter((to) => to !== undefined);
  const stopping = reachFrom(resting, reverseEdges(passing, targets));
  const stuck = new Set(passing.filter((id) => !stopping.has(id)));
  const inside = (id: string) => targets(id).filter((to) => stuck.has(to));
  for (const cycle of findCycles([...stuck], inside)) {
    const call = cycle.find((id) => screens.get(id)!.type !== 'branch');
    if (call === undefined) continue;
    const message = `${cycle.join(' → ')} go round as long as the call "${call}" succeeds; nothing stops them.`;
    const fix = `Let one way of "${call}" lead to a screen that the caller sees.`;
    yield { pointer: pointerTo('screens', call), at: 'key', message, fix, severity: 'warning' };
  }
}

/** Cycles among `ids`, such as `a, b, a`: one per strongly connected component, without shared nodes. */
function findCycles(ids: readonly string[], next: (id: string) => readonly string[]): string[][] {
  const circles: string[][] = [];
  const done = new Set<string>();
  const reported = new Set<string>();
  for (const first of ids) {
    // Iterative depth-first search: each entry of the trail remembers its next edge.
    const trail: { id: string; ways: readonly string[]; at: number }[] = [];
    const place = new Map<string, number>();
    const enter = (id: string): void => {
      done.add(id);
      place.set(id, trail.length);
      trail.push({ id, ways: next(id), at: 0 });
    };
    if (!done.has(first)) enter(first);
    for (let top = trail.at(-1); top; top = trail.at(-1)) {
      const to = top.ways[top.at++];
      if (to === undefined) {
        place.delete(top.id);
        trail.pop();
      } else if (place.has(to)) {
        const cycle = trail.slice(place.get(to)).map(({ id }) => id);
        if (!cycle.some((id) => reported.has(id))) circles.push([...cycle, to]);
        for (const id of cycle) reported.add(id);
      } else if (!done.has(to)) enter(to);
    }
  }
  return circles;
}

// Whether a failed call reaches a screen where the conversation rests without passing the call again.
function reachesRest(lint: Lint, call: string, from: readonly (string | undefined)[]): boolean {
  const passed = new Set([call]);
  const work = [...from];
  while (work.length) {
    const id = work.pop();
    if (id === undefined) return true;
    if (passed.has(id)) continue;
    if (isResting(lint, id)) return true;
    passed.add(id);
    const screen = lint.graph.screens.get(id)!;
    work.push(...listOnward(lint, screen), ...(screen.type === 'call' ? listWays(lint, screen.fail) : []));
  }
  return false;
}

function isResting({ graph, flows }: Lint, id: string): boolean {
  const screen = graph.screens.get(id)!;
  if (screen.type !== 'flow') return isInteractive(screen) || screen.type === 'end';
  const called = flows?.get(screen.flow);
  return !called || Object.values(called.screens).some((one) => isInteractive(one) || one.type === 'flow');
}

/** The screens that follow without input from the caller if calls succeed. */
function listOnward(lint: Lint, screen: Screen): (string | undefined)[] {
  if (isInteractive(screen)) return [];
  return listWays(lint, screen.type === 'call' ? screen.done : listTargets(screen).map((to) => ({ to })));
}

function listWays({ meant }: Lint, ways: string | readonly Way[]): (string | undefined)[] {
  return typeof ways === 'string' ? [meant(ways)] : ways.map(({ to }) => meant(to));
}

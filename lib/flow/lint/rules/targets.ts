// Screen ids that something leads to.

import { nameOf, sentence } from '../../format/finding.ts';
import type { Flow } from '../../format/flow.ts';
import { pointerTo } from '../../format/source.ts';
import { didYouMean, type Lint, listed, type Rule, type RuleFinding } from '../rule.ts';

export const targetRules: readonly Rule[] = [
  {
    code: 'dangling-target',
    severity: 'error',
    means: 'something leads to a screen that does not exist',
    *find(lint) {
      for (const { pointer, to } of lint.parts.targets)
        if (!lint.graph.screens.has(to)) yield dangling(lint, { pointer, to });
      for (const { pointer, to } of migrationsOf(lint.flow))
        if (!isPlace(lint.flow, to, lint.flows)) yield dangling(lint, { pointer, to });
    },
  },
  {
    code: 'unused-migration',
    severity: 'warning',
    means: 'a migration from this or a later version, which never happens',
    *find({ flow }) {
      for (const version of Object.keys(flow.migrate ?? {})) {
        if (Number(version) < flow.version) continue;
        const message = `Migration "${version}" is never used: this is version ${flow.version}.`;
        const fix = `Name it after an older version than ${flow.version}, or raise "version".`;
        yield { pointer: pointerTo('migrate', version), at: 'key', message, fix };
      }
    },
  },
];

/** Where each migration entry takes its conversations in the end: later entries may rename the screen again. */
export function migrationsOf(flow: Flow): { pointer: string; to: string }[] {
  const entries = Object.entries(flow.migrate ?? {}).sort(([a], [b]) => Number(a) - Number(b));
  return entries.flatMap(([version, { screens = {} }], at) =>
    Object.entries(screens).map(([old, first]) => {
      let to = first;
      for (const [later, step] of entries.slice(at + 1)) {
        if (Number(later) < flow.version && step.screens && Object.hasOwn(step.screens, to)) to = step.screens[to]!;
      }
      return { pointer: pointerTo('migrate', version, 'screens', old), to };
    }),
  );
}

// `login.pin` is the screen `pin` of the flow that the screen `login` calls.
function isPlace(flow: Flow, path: string, flows: Lint['flows']): boolean {
  if (Object.hasOwn(flow.screens, path)) return true;
  const dot = path.indexOf('.');
  const id = dot < 0 ? path : path.slice(0, dot);
  const screen = Object.hasOwn(flow.screens, id) ? flow.screens[id] : undefined;
  if (screen?.type !== 'flow') return false;
  const called = flows?.get(screen.flow);
  return !called || isPlace(called, path.slice(dot + 1), flows);
}

function dangling({ screenIds, nearest }: Lint, { pointer, to }: { pointer: string; to: string }): RuleFinding {
  const message = `${sentence(nameOf(pointer))} is "${to}", which is not a screen of this flow.`;
  const meant = nearest(to, screenIds);
  const fix =
    meant === undefined ? `Write one of: ${listed(screenIds)}; or add a screen "${to}".` : `Write "${meant}".`;
  return { pointer, message: message + didYouMean(meant), fix };
}

// Names of screens, variables and options, and the screen ids that something leads to.

import { isTimeZone } from '../../expression/days.ts';
import { WORDS } from '../../expression/tokens.ts';
import { isRefusedName } from '../../expression/values.ts';
import { type Flow, isName, listFlowsBelow } from '../../format/flow.ts';
import { LOCAL_NAMES } from '../../format/names.ts';
import { capitalize, describePlace } from '../../format/problem.ts';
import { pointerTo } from '../../format/source.ts';
import { listOptions } from '../../screens/option.ts';
import { didYouMean, formatNames, type Lint, type LintRule, type RuleFinding } from '../rule.ts';

interface Named {
  readonly what: 'screen' | 'variable' | 'option';
  readonly name: string;
  readonly pointer: string;
  readonly isKey: boolean;
}

const TIME_ZONES: readonly string[] = Intl.supportedValuesOf('timeZone');

// The names that list rows (`row`) and failed calls (`error`) define.
const BROUGHT = new Set(Object.keys(LOCAL_NAMES));

export const nameRules: readonly LintRule[] = [
  {
    code: 'bad-name',
    severity: 'error',
    means: 'the name of a screen, variable or option has characters other than letters, digits and _',
    *find(lint) {
      for (const { what, name, ...place } of listNames(lint.flow)) {
        if (isName(name) || findConflict(what, name)) continue;
        const fix = `Rename "${name}": a letter first, then letters, digits and _, at most 64.`;
        const similar = what === 'screen' ? findMeantName(lint, name) : undefined;
        const mend = similar !== undefined && { mend: { old: name, text: similar } };
        yield { ...nameFinding(place, `${what} "${name}" has a name that cannot be used.`, fix), ...mend };
      }
    },
  },
  {
    code: 'reserved-name',
    severity: 'error',
    means: 'the name of a screen, variable or option is reserved',
    *find({ flow }) {
      for (const { what, name, ...place } of listNames(flow)) {
        const why = findConflict(what, name);
        if (why) yield nameFinding(place, `${what} "${name}" has a reserved name: ${why}.`, `Rename "${name}".`);
      }
    },
  },
  {
    code: 'dangling-target',
    severity: 'error',
    means: 'a reference to a screen that does not exist',
    *find(lint) {
      for (const { pointer, to } of lint.parts.targets)
        if (!lint.graph.screens.has(to)) yield danglingFinding(lint, { pointer, to });
      for (const { pointer, to } of listMigrations(lint.flow))
        if (!isPlace(lint.flow, to, lint.flows)) yield danglingFinding(lint, { pointer, to });
    },
  },
  {
    code: 'unknown-timezone',
    severity: 'error',
    means: 'there is no time zone of this name',
    *find({ flow, parts, nearest }) {
      const initial = flow.vars?.timezone?.default;
      const written = [
        { pointer: '/timezone', name: flow.timezone },
        { pointer: '/vars/timezone/default', name: typeof initial === 'string' ? initial : undefined },
        ...parts.literals
          .filter(({ into }) => typeof into === 'object' && into.name === 'timezone')
          .map(({ pointer, source }) => ({ pointer, name: source })),
      ];
      for (const { pointer, name } of written) {
        if (name === undefined || isTimeZone(name)) continue;
        const similar = nearest(name, TIME_ZONES);
        const message = `${capitalize(describePlace(pointer))} is "${name}", and there is no such time zone.${similar === undefined ? '' : ` Did you mean "${similar}"?`}`;
        const mend = similar !== undefined && { mend: { old: name, text: similar } };
        yield { pointer, message, fix: 'Write one such as "Africa/Nairobi".', ...mend };
      }
    },
  },
  {
    code: 'other-timezone',
    severity: 'warning',
    means: 'a called flow names another time zone, which does not hold when it is called',
    *find({ flow, flows }) {
      for (const [id, screen] of Object.entries(flow.screens)) {
        const zone = screen.type === 'flow' ? flows?.get(screen.flow)?.timezone : undefined;
        if (screen.type !== 'flow' || zone === undefined || zone === flow.timezone) continue;
        const message = `The flow "${screen.flow}" has the time zone "${zone}"; called by "${flow.flow}" its days are those of ${flow.timezone ?? 'the setting TIMEZONE'}.`;
        const fix = `Write "timezone": "${zone}" in "${flow.flow}" too, or take it away from "${screen.flow}".`;
        yield { pointer: pointerTo('screens', id, 'flow'), message, fix };
      }
    },
  },
  {
    code: 'unused-migration',
    severity: 'warning',
    means: 'a migration from this or a later version is never used',
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

function nameFinding({ pointer, isKey }: Pick<Named, 'pointer' | 'isKey'>, message: string, fix: string): RuleFinding {
  return { pointer, ...(isKey && { at: 'key' }), message: capitalize(message), fix };
}

// A dangling id that equals the name, or its start, without the invalid characters.
function findMeantName({ parts, graph }: Lint, name: string): string | undefined {
  const bare = bareName(name);
  const lost = parts.targets.map(({ to }) => to).filter((to) => isName(to) && !graph.screens.has(to));
  const [meant, ...others] = [...new Set(lost)].filter((to) => bare.startsWith(bareName(to)));
  return others.length ? undefined : meant;
}

const bareName = (name: string) => name.replace(/[^A-Za-z0-9]/g, '').toLowerCase();

function findConflict(what: Named['what'], name: string): string | undefined {
  if (name in Object.prototype || isRefusedName(name)) return 'every JavaScript object has it';
  if (what !== 'variable') return undefined;
  if (WORDS.has(name.toLowerCase())) return 'it is a word of the expression language';
  return BROUGHT.has(name) ? 'it is what rows and failures are called' : undefined;
}

function* listNames(flow: Flow): Iterable<Named> {
  for (const name of Object.keys(flow.vars ?? {}))
    yield { what: 'variable', name, pointer: pointerTo('vars', name), isKey: true };
  for (const [id, screen] of Object.entries(flow.screens)) {
    yield { what: 'screen', name: id, pointer: pointerTo('screens', id), isKey: true };
    for (const [at, option] of listOptions(screen).entries())
      yield { what: 'option', name: option.id, pointer: pointerTo('screens', id, 'options', at, 'id'), isKey: false };
  }
}

/** The final target of each migration entry: later entries may rename the screen again. */
export function listMigrations(flow: Flow): { pointer: string; to: string }[] {
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

// `login.pin` is the screen `pin` of the flow `login`, which is called from here.
function isPlace(flow: Flow, path: string, flows: Lint['flows']): boolean {
  if (Object.hasOwn(flow.screens, path)) return true;
  const dot = path.indexOf('.');
  if (dot < 0) return false;
  const name = path.slice(0, dot);
  const isCalled = listFlowsBelow(flow, flows ?? new Map()).has(name);
  const called = flows?.get(name);
  return isCalled && (!called || Object.hasOwn(called.screens, path.slice(dot + 1)));
}

function danglingFinding(
  { screenIds, nearest, mend }: Lint,
  { pointer, to }: { pointer: string; to: string },
): RuleFinding {
  const message = `${capitalize(describePlace(pointer))} is "${to}", which is not a screen of this flow.`;
  const similar = nearest(to, screenIds);
  const fix =
    similar === undefined ? `Write one of: ${formatNames(screenIds)}; or add a screen "${to}".` : `Write "${similar}".`;
  return { pointer, message: message + didYouMean(similar), fix, ...mend(to, screenIds) };
}

// Checks a flow that conforms to the schema against a table of rules, each with its code.

import { requireGiven } from '../../given.ts';
import { findNearest } from '../expression/suggest.ts';
import { DEFAULT_KEYS, type Flow, listCalled } from '../format/flow.ts';
import { CHAT_FLOW } from '../format/names.ts';
import { type ParsedFlow, parseFlow } from '../format/parse.ts';
import { locateProblem, type Problem, sortProblems } from '../format/problem.ts';
import { type FlowSource, pointerTo } from '../format/source.ts';
import type { ScreenRule } from '../screens/kind.ts';
import { KINDS } from '../screens/kinds.ts';
import { collectParts } from './parts.ts';
import { buildGraph, type Lint, type LintRule, type RuleFinding } from './rule.ts';
import { answerRules } from './rules/answers.ts';
import { callRules } from './rules/calls.ts';
import { keyRules } from './rules/keys.ts';
import { typeRules } from './rules/kinds.ts';
import { languageRules } from './rules/languages.ts';
import { listMigrations, nameRules } from './rules/names.ts';
import { keptRules, privateRules } from './rules/private.ts';
import { reachRules } from './rules/reach.ts';
import { savedRules } from './rules/saved.ts';
import { pinRules, secretRules } from './rules/secrets.ts';
import { signRules } from './rules/signs.ts';
import { textRules } from './rules/texts.ts';
import { lengthRules } from './rules/too-long.ts';
import { variableRules } from './rules/variables.ts';
import { wayRules } from './rules/ways.ts';
import type { Contracts } from './shapes.ts';

/** All rules, by family. */
export const RULES: readonly LintRule[] = [
  ...nameRules,
  ...reachRules,
  ...wayRules,
  ...keyRules,
  ...answerRules,
  ...variableRules,
  ...signRules,
  ...textRules,
  ...languageRules,
  ...lengthRules,
  ...secretRules,
  ...pinRules,
  ...privateRules,
  ...keptRules,
  ...callRules,
  ...typeRules,
  ...savedRules,
  ...Object.entries(KINDS).flatMap(([type, kind]) => (kind.rules ?? []).map((rule) => applyToScreens(type, rule))),
];

/** Turns a rule for single screens into a rule for flows. */
function applyToScreens(type: string, { find, ...rule }: ScreenRule<never>): LintRule {
  return {
    ...rule,
    *find({ flow }) {
      for (const [id, screen] of Object.entries(flow.screens))
        if (screen.type === type)
          yield* find(screen as never, { id, pointer: (...steps) => pointerTo('screens', id, ...steps) });
    },
  };
}

/** Problems of files that are not valid flows; lint rules have codes of their own. */
const FILE_CODES = {
  unreadable: 'the file cannot be read',
  encoding: 'the file is not UTF-8',
  'too-large': 'the file is larger than the limit for flows',
  'too-deep': 'values are nested too deeply',
  syntax: 'the file is not JSON',
  'duplicate-key': 'an object has the same key twice',
  'name-mismatch': 'the file and its flow have different names',
  'unknown-key': 'the format has no such key',
  'missing-key': 'a required key is missing',
  'wrong-type': 'a value has the wrong type',
  'bad-value': 'a value is not allowed here',
  'too-many-screens': 'a flow has too many screens',
} as const;

/** Further problems of test files. */
const TEST_CODES = {
  'duplicate-name': 'two tests of a file have the same name',
  'no-dial': 'a test does not start with a dial',
  'bad-pattern': 'the pattern of a test is not a valid regular expression',
  'bad-answer': 'a mocked answer needs either return or fail',
  'unknown-code': 'a mocked answer fails with an unknown code',
  'wrong-mock': 'a mocked answer does not fit the contract of its service',
} as const;

/** Code → what it means, sorted by code. */
export const PROBLEM_CODES: ReadonlyMap<string, string> = new Map(
  [...Object.entries({ ...FILE_CODES, ...TEST_CODES }), ...RULES.map(({ code, means }) => [code, means] as const)].sort(
    ([a], [b]) => (a < b ? -1 : 1),
  ),
);

/** What is known of the server: how answers come to the flows, and what they reach. */
export interface LintDoors {
  /** Whether a request of the telecom gateway has all answers, or the last one. */
  readonly textMode: 'cumulative' | 'latest';
  /** Names of flows that users write to in a chat. */
  readonly chats: readonly string[];
  /** Names of flows that callers dial. @default unknown */
  readonly dialled?: readonly string[] | undefined;
  /** The time zone of flows that name none. @default UTC */
  readonly timezone?: string | undefined;
  /** Whether there is a gateway for `sms.send`. @default unknown */
  readonly sendsSms?: boolean | undefined;
  /** Hosts that the services `http.…` may call. @default unknown */
  readonly serviceHosts?: readonly string[] | undefined;
  /** Whether PUBLIC_URL gives callbacks their address. @default unknown */
  readonly hasAddress?: boolean | undefined;
}

/** The context of a flow. Whatever is omitted is not checked. */
export interface LintContext {
  /** Flows that `flow` screens can call, by name. */
  readonly flows?: ReadonlyMap<string, Flow> | undefined;
  /** Names of services that `call` screens can call. */
  readonly services?: ReadonlySet<string> | undefined;
  /** Inputs and outputs of services, by name; not necessarily of all. */
  readonly contracts?: Contracts | undefined;
  /** @default telecom gateways that repeat all answers in each request, and chats with the flow `assistant` */
  readonly doors?: LintDoors | undefined;
  /** Additional rules. @default none */
  readonly rules?: readonly LintRule[] | undefined;
}

/**
 * Applies all rules to a flow that conforms to the schema. Returns the problems in file order; never throws.
 * @example
 * const text = '{"flow":"hi","version":1,"start":"bye","screens":{"bye":{"type":"end","text":"Bye, {{name}}"}}}';
 * const { flow, source } = parseFlow(text, 'hi.flow.json');
 * lintFlow(flow!, { source }).map(({ code }) => code); // → ['unknown-variable']
 */
export function lintFlow(flow: Flow, options: LintContext & { readonly source: FlowSource }): Problem[] {
  requireGiven(
    'look for mistakes in a flow',
    { flow, ...options },
    { flow: 'flow', services: 'names?', flows: 'flows?', source: 'object' },
  );
  const findings = listFindings(flow, [...RULES, ...(options.rules ?? [])], options);
  const problems = findings.map(({ rule: { code, severity }, finding }) =>
    locateProblem(options.source, finding, { code, severity: finding.severity ?? severity }),
  );
  return sortProblems(problems);
}

/** What these rules find in a flow that conforms to the schema. */
export function listFindings(
  flow: Flow,
  rules: readonly LintRule[],
  context: LintContext,
): { readonly rule: LintRule; readonly finding: RuleFinding }[] {
  const lint = prepareLint(flow, context);
  return rules.flatMap((rule) => [...rule.find(lint)].map((finding) => ({ rule, finding })));
}

/**
 * Reads the text of a flow file and applies the rules. Returns every problem at once; never throws.
 * @example
 * const { flow, problems } = checkFlow('{ "flow": "hi", "version": 1 }', 'hi.flow.json');
 * flow; // → undefined
 * problems.length > 0; // → true
 */
export function checkFlow(text: string, file: string, context: LintContext = {}): ParsedFlow {
  return applyRules(parseFlow(text, file), context);
}

/** Adds the findings of the rules to a parsed flow. */
export function applyRules(parsed: ParsedFlow, context: LintContext): ParsedFlow {
  const { flow, source, problems } = parsed;
  return flow
    ? { ...parsed, problems: sortProblems([...problems, ...lintFlow(flow, { ...context, source })]) }
    : parsed;
}

function prepareLint(flow: Flow, { flows, services, contracts = {}, doors }: LintContext): Lint {
  const vars = new Map(Object.entries(flow.vars ?? {}));
  const screenIds = Object.keys(flow.screens);
  const ids = new Set(screenIds);
  const find = nearestFinder();
  const nearest = (name: string, names: readonly string[]) => find(name, names)?.name;
  const meant = (id: string) => (ids.has(id) ? id : nearest(id, screenIds));
  const keys = { ...DEFAULT_KEYS, ...flow.keys };
  const places = listMigrations(flow).map(({ to }) => to.split('.') as [string, string?]);
  const migrated = places.flatMap(([name, inner]) => (inner === undefined ? [name] : listCalls(flow, name)));
  const isCalled = [...(flows?.values() ?? [])].some((other) => listCalled(other).includes(flow.flow));
  return {
    flow,
    parts: collectParts(flow),
    graph: buildGraph(flow, { meant, keys, migrated, isCalled }),
    vars,
    screenIds,
    varNames: [...vars.keys()],
    langs: flow.langs?.length ? flow.langs : ['en'],
    keys,
    flows: flows && new Map([...flows, [flow.flow, flow]]),
    services,
    contracts,
    isOnlyCalled: isCalled && doors?.dialled !== undefined && ![...doors.dialled, ...doors.chats].includes(flow.flow),
    sendsSms: doors?.sendsSms,
    serviceHosts: doors?.serviceHosts,
    hasAddress: doors?.hasAddress,
    isRepeated: doors?.textMode !== 'latest' && !(doors?.chats ?? [CHAT_FLOW]).includes(flow.flow),
    meant,
    nearest,
    mend: (name, names) => {
      const similar = find(name, names);
      return similar?.isAlone ? { mend: { old: name, text: similar.name } } : {};
    },
  };
}

/** The screens by which a flow calls another. */
function listCalls(flow: Flow, name: string): string[] {
  const calls = Object.entries(flow.screens).filter(([, screen]) => screen.type === 'flow' && screen.flow === name);
  return calls.map(([id]) => id);
}

const COMPARISONS = 100_000;

type Nearest = ReturnType<typeof findNearest>;

/** Finds the most similar name in a list; gives up after {@link COMPARISONS} comparisons in total. */
function nearestFinder(): (name: string, names: readonly string[]) => Nearest {
  const cache = new Map<readonly string[], Map<string, Nearest>>();
  let left = COMPARISONS;
  return (name, names) => {
    const before = cache.get(names) ?? new Map<string, Nearest>();
    cache.set(names, before);
    if (before.has(name)) return before.get(name);
    left -= names.length;
    const nearest = left < 0 ? undefined : findNearest(name, names);
    before.set(name, nearest);
    return nearest;
  };
}

// Resolves the target of a way: skips steps that only show a text or set variables, up to the next step that needs a screen. Skipped texts
// are shown above that screen, so that callers do not have to press a key for every message. A step can become several screens, with
// different texts above it.

import type { Text, Values, Way } from '../../format/flow.ts';
import { FLOW_LIMITS } from '../../limits.ts';
import { uniqueNames } from '../names.ts';
import { refuseFile } from '../source.ts';
import {
  isSilent,
  joinSaid,
  listPrinted,
  type Next,
  readsAny,
  SILENCE,
  type Step,
  type StepWay,
  type Words,
  type WordsWithValues,
} from './step.ts';

export interface StepGraph {
  readonly flow: string;
  /** By their keys. */
  readonly steps: ReadonlyMap<string, Step>;
  readonly start: Next;
  readonly langs: readonly string[];
  /** Whether another flow calls this one, so that its end texts are not shown. */
  readonly isCalled: boolean;
  /** The output of its ends. */
  readonly output?: Values;
  readonly onNote: (node: string, what: string, reason: string) => void;
}

/** Texts to show on the next screen: keys of their steps, and the combined text. */
export interface Pending {
  readonly keys: readonly string[];
  readonly said: WordsWithValues;
}

/** A screen to create. */
export interface PendingScreen {
  readonly id: string;
  readonly step: Step;
  readonly pending: Pending;
}

export interface Router {
  readonly graph: StepGraph;
  /** Screens to create; creating one may add others. */
  readonly queue: PendingScreen[];
  name(wish: string): string;
  /** The screen of a step, where no variables can be set on the way. */
  target(next: Next, pending: Pending): string;
  way(way: StepWay, pending: Pending): Way;
  text(words: Words): Text;
}

export const NOTHING: Pending = { keys: [], said: SILENCE };
/** Maximum number of screens per step, and of messages above a screen. */
const COPIES_MAX = 8;
const MESSAGES_MAX = 6;

export function makeRouter(graph: StepGraph): Router {
  const ids = new Map<string, string>();
  const copies = new Map<string, number>();
  const queue: PendingScreen[] = [];
  const name = uniqueNames();
  let count = 0;

  const allocate = (key: string, step: Step, pending: Pending): string => {
    const copy = ids.get(key);
    if (copy !== undefined) return copy;
    if (++count > FLOW_LIMITS.screensPerFlow)
      throw refuseFile(`the flow "${graph.flow}"`, `it becomes more than ${FLOW_LIMITS.screensPerFlow} screens`);
    const id = name(step.name);
    ids.set(key, id);
    queue.push({ id, step, pending });
    return id;
  };
  const lastSaid = (keys: readonly string[], fallback: string) => {
    const step = graph.steps.get(keys.at(-1) ?? '');
    return { node: step?.node ?? '', name: step?.name ?? fallback };
  };
  const message = (next: Next, { keys, said }: Pending): string => {
    const step: Step = { kind: 'say', ...lastSaid(keys, 'message'), said, waits: true, next };
    return allocate(`message ${next} ${keys}`, step, NOTHING);
  };
  const allocateStep = (key: string, step: Step, pending: Pending): string => {
    const own = `step ${key} ${pending.keys}`;
    const copiesBefore = copies.get(key) ?? 0;
    if (!ids.has(own) && pending.keys.length && copiesBefore >= COPIES_MAX) return message(key, pending);
    if (!ids.has(own)) copies.set(key, copiesBefore + 1);
    return allocate(own, step, pending);
  };
  const end = (pending: Pending): string => {
    if (graph.isCalled && !isSilent(pending.said)) return message(undefined, pending);
    return allocate(`end ${pending.keys}`, { kind: 'end', ...lastSaid(pending.keys, 'end'), said: SILENCE }, pending);
  };
  const needsMessage = (step: Step, { said }: Pending): boolean => {
    if (step.kind === 'enter') return !isSilent(said);
    const set = findOnlyWay(step)?.set;
    if (set) return isTouched(said, Object.keys(set));
    return step.kind === 'call' && step.save !== undefined && isTouched(said, [step.save]);
  };

  const follow = ({ next, set: given = {} }: StepWay, before: Pending, maySet: boolean): Way => {
    let [key, pending, set] = [next, before, given];
    const leadTo = (to: string): Way => ({ ...(Object.keys(set).length && { set }), to });
    for (const seen = new Set<string>(); ; ) {
      const step = key === undefined ? undefined : graph.steps.get(key);
      if (key === undefined || !step) return leadTo(end(pending));
      if (seen.has(key) && isSilent(pending.said)) return leadTo(end(pending));
      if (seen.has(key) || needsMessage(step, pending) || !fitsBelow(step, pending))
        return leadTo(message(key, pending));
      seen.add(key);
      const pass = findOnlyWay(step);
      if (step.kind === 'say' && !step.waits && pending.keys.length < MESSAGES_MAX) {
        pending = { keys: [...pending.keys, key], said: joinSaid(pending.said, step.said) };
        key = step.next;
      } else if (pass && isFoldable(pass, set, maySet)) {
        set = { ...set, ...pass.set };
        key = pass.next;
      } else return leadTo(allocateStep(key, step, pending));
    }
  };
  return {
    graph,
    queue,
    name,
    target: (next, pending) => follow({ next }, pending, false).to,
    way: ({ when, ...way }, pending) => ({ ...(when !== undefined && { when }), ...follow(way, pending, true) }),
    text: (words) => makeText(words, graph.langs),
  };
}

// Texts of one screen are one template, which has a limit in each language.
function fitsBelow(step: Step, { said }: Pending): boolean {
  if (step.kind !== 'say' || isSilent(said)) return true;
  return Object.values(joinSaid(said, step.said).words).every((text) => text.length <= FLOW_LIMITS.templateChars);
}

/** The single way of a step without input or conditions. */
function findOnlyWay(step: Step): StepWay | undefined {
  if (step.kind === 'assign') return { set: step.values, next: step.next };
  const [only] = step.kind === 'split' && step.ways.length === 1 ? step.ways : [];
  return only?.when === undefined ? only : undefined;
}

// All values of a way are computed before any of them is set.
function isFoldable({ set = {} }: StepWay, before: Values, maySet: boolean): boolean {
  if (Object.keys(set).length === 0) return true;
  return maySet && !readsAny(Object.values(set), Object.keys(before));
}

function isTouched(said: WordsWithValues, names: readonly string[]): boolean {
  if (isSilent(said)) return false;
  const printed = listPrinted(said);
  return names.some((name) => printed.has(name)) || readsAny(Object.values(said.values), names);
}

/** A single text if all languages have the same, else one for each. */
function makeText(words: Words, langs: readonly string[]): Text {
  const first = langs.map((lang) => words[lang]).find((one) => one !== undefined) ?? Object.values(words)[0] ?? '';
  const texts = langs.map((lang) => [lang, words[lang] ?? first] as const);
  return texts.every(([, one]) => one === first) ? first : Object.fromEntries(texts);
}

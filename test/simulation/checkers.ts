// Every checker, new for every simulation.

import type { Checker, Effect } from './checker.ts';
import { OUTCOMES, WAIT } from './machine.ts';

export const allCheckers = (): Checker[] => [
  turnsOnce(),
  sameAnswer(),
  ownSession(),
  monotoneRevision(),
  timersOnce(),
  effectsOnce(),
  everyCallerAnswered(),
];

/** Every input of a caller is in the state of its session exactly once, in order; in every answer and at the end. */
function turnsOnce(): Checker {
  return {
    promise: 'every turn is taken exactly once, in order',
    answered: ({ session, text, inputs, isLatest }) => {
      const log = text.slice(text.indexOf(':') + 1);
      if (!isLatest || log === WAIT) return undefined;
      return difference(session, taken(log), inputs);
    },
    ended: (callers) => {
      for (const { session, inputs, record, lastText } of callers) {
        if (typeof record === 'string') return `${session}: its record is ${record}`;
        // Of an ended session nothing is kept but its last answer.
        const log = inputs.at(-1)?.startsWith('q')
          ? taken(lastText.slice(lastText.indexOf(':') + 1))
          : (record.rest.context.log ?? []);
        const found = difference(session, log as readonly string[], inputs);
        if (found) return found;
      }
      return undefined;
    },
  };
}

const taken = (log: string) => (log === '' ? [] : log.split(','));

/** Undefined when the log holds every input that changes something, in one of its outcomes. */
function difference(session: string, log: readonly string[], inputs: readonly string[]): string | undefined {
  let at = 0;
  for (const input of inputs) {
    const outcomes = OUTCOMES[input.charAt(0)];
    if (!outcomes) continue;
    const found = log[at++];
    if (found === undefined || found.slice(1) !== input.slice(1) || !outcomes.includes(found.charAt(0)))
      return `${session} typed ${inputs.join(' ')}, but its session took ${log.join(' ') || 'nothing'}`;
  }
  return at === log.length ? undefined : `${session} typed ${inputs.join(' ')}, but its session took ${log.join(' ')}`;
}

/** The same request gets the same bytes. One that comes late may get the answer of a later turn, and no other. */
function sameAnswer(): Checker {
  // Answers by session and turn.
  const answers = new Map<string, string>();
  return {
    promise: 'the same request gets the same bytes',
    answered: ({ session, turn, kind, text, isLatest, inputs }) => {
      const answer = `${kind} ${text}`;
      const first = answers.get(`${session} ${turn}`);
      if (first === undefined && isLatest) answers.set(`${session} ${turn}`, answer);
      if (first === undefined || first === answer) return undefined;
      const isLater = (at: number) => at > turn && answers.get(`${session} ${at}`) === answer;
      if (!isLatest && (inputs.some((_, at) => isLater(at + 1)) || !answers.has(`${session} ${inputs.length}`)))
        return undefined;
      return `${session} was answered "${first}" to turn ${turn}, and then "${answer}"`;
    },
  };
}

/** An answer is about the session that asked. */
function ownSession(): Checker {
  return {
    promise: 'nobody gets the answer of another session',
    answered: ({ session, text }) => (text.startsWith(`${session}:`) ? undefined : `${session} was answered "${text}"`),
  };
}

/** Revisions go up by one with every commit, each from the one before: a stale writer never wins. */
function monotoneRevision(): Checker {
  const revisions = new Map<string, number>();
  return {
    promise: 'revisions only grow, and a stale writer loses',
    committed: ({ key, expected, revision }) => {
      const before = revisions.get(key) ?? 0;
      revisions.set(key, revision);
      return expected === before && revision === before + 1
        ? undefined
        : `${key}: a writer that had read revision ${expected} wrote ${revision} over ${before}`;
    },
  };
}

/** Every timer of a living session fires, once, if sweeping goes on for long enough. */
function timersOnce(): Checker {
  return {
    promise: 'every timer fires once and none is lost',
    ended: (callers) => {
      for (const { session, inputs, record, dueAt } of callers) {
        // The timers of an ended session end with it.
        if (typeof record === 'string' || inputs.at(-1)?.startsWith('q')) continue;
        const set = inputs.filter((input) => input.startsWith('t')).sort();
        const fired = [...((record.rest.context.ticks ?? []) as readonly string[])].sort();
        if (set.join() !== fired.join())
          return `${session} set the timers ${set.join(' ') || '(none)'}; fired: ${fired.join(' ') || 'none'}`;
        if (record.timers.length || record.calls.length || dueAt !== null)
          return `${session} still waits for ${JSON.stringify([...record.timers, ...record.calls])}`;
      }
      return undefined;
    },
  };
}

const SUCCESS: { readonly [letter: string]: readonly string[] } = {
  p: ['charge'],
  d: ['order', 'deliver'],
  s: ['prove'],
};

/**
 * What a turn asks of a service is asked under one key, so that a service that acts once per key acts once per turn; and
 * what the session believes of it is true.
 */
function effectsOnce(): Checker {
  const acted = new Map<string, Effect>();
  return {
    promise: 'every service acts once for a turn, and as the session says',
    acted: (effect) => {
      const { session, service, token, key } = effect;
      const first = acted.get(`${session} ${service} ${token}`);
      if (first === undefined) acted.set(`${session} ${service} ${token}`, effect);
      return first === undefined || first.key === key
        ? undefined
        : `${session}: "${service}" was asked for ${token} under the key ${first.key}, and again under ${key}`;
    },
    ended: (callers) => {
      for (const { session, record } of callers) {
        const log = typeof record === 'string' ? [] : ((record.rest.context.log ?? []) as readonly string[]);
        for (const entry of log)
          for (const service of SUCCESS[entry.charAt(0)] ?? []) {
            const effect = acted.get(`${session} ${service} ${entry}`);
            if (!effect || effect.isRefused)
              return `${session} believes that "${service}" did ${entry}, which it never did`;
          }
      }
      return undefined;
    },
  };
}

/**
 * When the faults have stopped every caller gets an answer to every turn, within a bounded number of steps; and nothing is
 * ever refused that a patient caller may ask.
 */
function everyCallerAnswered(): Checker {
  return {
    promise: 'once the faults stop, every caller is answered',
    failed: (session, reason) => `${session}: ${reason}`,
    ended: (callers) => {
      const waiting = callers.find(({ isDone }) => !isDone);
      return waiting && `${waiting.session} still waits for the answer to ${waiting.inputs.at(-1) ?? 'its dial'}`;
    },
  };
}

// Counts of turns and of the services that flows call, and a line of the log for each turn. Where callers leave is where more turns lead
// to a screen than go on from it.

import { LRUCache } from 'lru-cache';
import type { Clock } from '../../lib/clock.ts';
import { growing } from '../../lib/common-limits.ts';
import { toPath } from '../../lib/engine/machine/state-path.ts';
import type { Service, Services } from '../../lib/engine/service.ts';
import { describeSpan, traced } from '../../lib/http/tracing.ts';
import type { UssdTurn } from '../../lib/ussd/service.ts';
import type { Log } from './log.ts';
import { counter, createDurations, type Durations, histogram } from './metrics.ts';
import { type TroubledSession, troubleRing } from './trouble.ts';

export interface TurnWatch {
  /** Takes each turn. Never throws. */
  note(turn: UssdTurn): void;
  /** A session, by its key, met a failure that is no caller's. */
  fail(failure: { readonly key: string; readonly reason: string }): void;
  /** Sessions that failed, with their last turns. */
  trouble(): readonly TroubledSession[];
  metrics(): readonly string[];
}

/** Screens that are counted each; further ones, of very many flows, count as `other`. */
const SCREENS_COUNTED = 2_000;
/** Callers whose names for the log are remembered. */
const CALLERS_NAMED = 10_000;

export interface TurnWatchOptions {
  readonly log: Pick<Log, 'info' | 'isLevelEnabled'>;
  readonly clock: Pick<Clock, 'now'>;
  /** Stands for a phone number where the number itself must not be written. */
  readonly alias: (phone: string) => string;
  /** Stands for the key of a session. */
  readonly nameSession: (key: string) => string;
}

export function turnWatch({ log, clock, alias, nameSession }: TurnWatchOptions): TurnWatch {
  const shown = new Map<string, number>();
  const answered = new Map<string, number>();
  const ended = new Map<string, number>();
  const names = new LRUCache<string, string>(growing(CALLERS_NAMED));
  const isLogged = log.isLevelEnabled('info');
  const ring = troubleRing();

  function count(counts: Map<string, number>, flow: string, path: string): void {
    const known = `flow="${flow}",screen="${path}"`;
    const labels = counts.has(known) || counts.size < SCREENS_COUNTED ? known : 'flow="other",screen="other"';
    counts.set(labels, (counts.get(labels) ?? 0) + 1);
  }

  function nameCaller(phone: string): string {
    const known = names.get(phone);
    if (known !== undefined) return known;
    const name = alias(phone);
    names.set(phone, name);
    return name;
  }

  return {
    note({ dialect, key, phoneNumber, requestId, ms, reply: outcome, move, refused, failure }) {
      const reason = failure ?? refused;
      if (!move && reason === undefined) return;
      const [session, caller, at] = [nameSession(key), nameCaller(phoneNumber), clock.now()];
      if (failure !== undefined) ring.fail({ session, at, reason: failure });
      if (!move) {
        ring.note({ at, session, caller, turn: null, from: null, to: null, outcome, reason, requestId });
        log.info({ caller, session, outcome, reason, ms, dialect, requestId }, 'a turn was not taken');
        return;
      }
      const { flow, version } = move;
      const from = move.from === undefined ? null : toPath(move.from);
      const to = toPath(move.to);
      if (from !== null) count(answered, flow, from);
      count(outcome === 'end' ? ended : shown, flow, to);
      const places = { 'twinline.screen.from': from ?? '', 'twinline.screen.to': to };
      describeSpan({ 'twinline.flow': flow, 'twinline.version': version, 'twinline.outcome': outcome, ...places });
      const turn = `${flow}@${version}`;
      ring.note({ at, session, caller, turn, from, to, outcome, reason, requestId });
      if (isLogged) log.info({ turn, caller, session, from, to, outcome, reason, ms, dialect, requestId });
    },
    fail: ({ key, reason }) => ring.fail({ session: nameSession(key), at: clock.now(), reason }),
    trouble: ring.list,
    metrics: () => [
      ...counter('twinline_screens_shown_total', 'Turns that showed a screen and wait for input.', shown),
      ...counter('twinline_screens_answered_total', 'Turns that left a screen.', answered),
      ...counter('twinline_sessions_ended_total', 'Turns that ended a session, by its last screen.', ended),
    ],
  };
}

interface ServiceCalls {
  /** The same services, counted. */
  watch(services: Services): Services;
  metrics(): readonly string[];
}

/** `late`: it ended after its caller had stopped waiting. */
type CallOutcome = 'answered' | 'failed' | 'late';

/** Nothing was called yet. */
export function serviceCalls(): ServiceCalls {
  const counts = new Map<string, number>();
  const durations = new Map<string, Durations>();

  function note(service: string, outcome: CallOutcome, begun: number): void {
    const labels = `service="${service}",outcome="${outcome}"`;
    counts.set(labels, (counts.get(labels) ?? 0) + 1);
    const took = durations.get(service) ?? createDurations();
    durations.set(service, took);
    took.add(performance.now() - begun);
  }

  const watchService = (name: string, service: Service): Service => {
    return async (input, call) => {
      const begun = performance.now();
      try {
        const attributes = { 'twinline.service': name };
        const answer = await traced(`service ${name}`, { way: 'out', attributes }, () => service(input, call));
        note(name, call.signal.aborted ? 'late' : 'answered', begun);
        return answer;
      } catch (error) {
        note(name, call.signal.aborted ? 'late' : 'failed', begun);
        throw error;
      }
    };
  };

  return {
    // Names come from the services that are loaded, so there are no more of them than those.
    watch: (services) =>
      Object.fromEntries(Object.entries(services).map(([name, service]) => [name, watchService(name, service)])),
    metrics: () => [
      ...counter(
        'twinline_service_calls_total',
        'Attempts of service calls made by flows, by service and outcome.',
        counts,
      ),
      ...histogram(
        'twinline_service_call_seconds',
        'Duration of an attempt.',
        new Map([...durations].map(([name, took]) => [`service="${name}"`, took])),
      ),
    ],
  };
}

// The last turns of sessions in which something failed, for operators who look after a caller has complained. Of this process only,
// without private values and phone numbers, in memory that is bounded.

/** A turn as operators see it: a line of the log. */
export interface ToldTurn {
  /** Milliseconds since 1970. */
  readonly at: number;
  /** What the log calls the session and its caller: keyed hashes. */
  readonly session: string;
  readonly caller: string;
  /** `<flow>@<version>`; null where no turn was taken. */
  readonly turn: string | null;
  /** The screens; null before the first one, and where no turn was taken. */
  readonly from: string | null;
  readonly to: string | null;
  readonly outcome: 'continue' | 'end';
  /** Why the caller got something else than the next screen. */
  readonly reason: string | undefined;
  readonly requestId: string | undefined;
}

export interface TroubledSession {
  readonly session: string;
  /** When it failed last, in milliseconds since 1970. */
  readonly at: number;
  /** Of that failure. */
  readonly reason: string;
  /** The oldest first; at most {@link TROUBLE_LIMITS.turns}. */
  readonly turns: readonly ToldTurn[];
}

export const TROUBLE_LIMITS = {
  /** Turns of all sessions that are remembered, so that a session that fails has its turns of before. */
  recent: 4_096,
  /** Sessions, and turns of each. */
  sessions: 100,
  turns: 20,
} as const;

export interface TroubleRing {
  /** Remembers a turn. */
  note(turn: ToldTurn): void;
  /** A session has failed: its turns are kept from now on, with those of before. */
  fail(failure: { readonly session: string; readonly at: number; readonly reason: string }): void;
  /** The session that failed last comes first. */
  list(): readonly TroubledSession[];
}

export function troubleRing(): TroubleRing {
  const recent: ToldTurn[] = [];
  const troubled = new Map<string, TroubledSession & { readonly turns: ToldTurn[] }>();
  let next = 0;
  return {
    note(turn) {
      recent[next] = turn;
      next = (next + 1) % TROUBLE_LIMITS.recent;
      const turns = troubled.get(turn.session)?.turns;
      if (turns?.push(turn) === TROUBLE_LIMITS.turns + 1) turns.shift();
    },
    fail({ session, at, reason }) {
      const inOrder = () => [...recent.slice(next), ...recent.slice(0, next)];
      const turns =
        troubled.get(session)?.turns ??
        inOrder()
          .filter((turn) => turn.session === session)
          .slice(-TROUBLE_LIMITS.turns);
      // The newest stands last, so that the oldest is dropped.
      troubled.delete(session);
      troubled.set(session, { session, at, reason, turns });
      if (troubled.size > TROUBLE_LIMITS.sessions) troubled.delete(troubled.keys().next().value!);
    },
    list: () => [...troubled.values()].reverse(),
  };
}

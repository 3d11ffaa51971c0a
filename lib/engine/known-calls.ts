// Calls that are running or were answered, until their answers are stored or their leases end.

export interface KnownCall {
  /** The end of its lease, in milliseconds since 1970. */
  readonly until: number;
  readonly isRunning: boolean;
}

export interface KnownCalls<C extends KnownCall> {
  get(key: string): C | undefined;
  set(key: string, call: C): void;
  delete(key: string): void;
  /** Notes that a call runs no more. */
  settle(key: string, call: C, now: number): void;
  /** Forgets calls whose lease has ended and that do not run. */
  dropStale(now: number): void;
}

interface Place<C> {
  readonly key: string;
  readonly call: C;
}

/** Entries of the line that are not worth clearing. */
const SLACK = 256;

/**
 * The line of leases is an array: a Map that is read from its beginning must skip the holes of all that was deleted there,
 * so each call would cost more the more are open. Here a call enters once, and again when it outlasts its lease.
 */
export function knownCalls<C extends KnownCall>(): KnownCalls<C> {
  const calls = new Map<string, C>();
  let line: Place<C>[] = [];
  let head = 0;

  const isKnown = ({ key, call }: Place<C>) => calls.get(key) === call;

  function enter(place: Place<C>): void {
    line.push(place);
    // No call stands here more than twice: a third of the line is gone whenever it is cleared, and pays for the copy.
    if (line.length <= 3 * calls.size + SLACK) return;
    line = line.slice(head).filter(isKnown);
    head = 0;
  }

  return {
    get: (key) => calls.get(key),
    set(key, call) {
      calls.set(key, call);
      enter({ key, call });
    },
    delete: (key) => void calls.delete(key),
    settle(key, call, now) {
      // Its lease ended while it ran, so it left the line.
      if (call.until <= now) enter({ key, call });
    },
    dropStale(now) {
      for (; head < line.length && line[head]!.call.until <= now; head++) {
        const place = line[head]!;
        if (!place.call.isRunning && isKnown(place)) calls.delete(place.key);
      }
    },
  };
}

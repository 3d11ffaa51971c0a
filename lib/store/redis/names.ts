// What channels and frame logs are called in Redis. All names of one topic share a hash tag, so they lie on one node.

import { TwinlineError } from '../../errors.ts';

export interface LogNames {
  readonly head: string;
  readonly frames: string;
  /** The topic on which changes of the log are told. */
  readonly topic: string;
}

/** Throws ERR_CONFIG unless `prefix` is up to 64 letters, digits and `:._-`. */
export function checkPrefix(prefix: string): void {
  if (/^[\w:.-]{0,64}$/.test(prefix)) return;
  throw new TwinlineError(
    'ERR_CONFIG',
    `The prefix of names in Redis must be up to 64 letters, digits and :._- ; it was ${JSON.stringify(prefix)}.`,
  );
}

export function channelName(prefix: string, topic: string): string {
  return `${prefix}channel:${tag(topic)}`;
}

export function logNames(prefix: string, log: string): LogNames {
  const topic = `log/${log}`;
  const start = `${prefix}log:${tag(topic)}`;
  return { head: `${start}:head`, frames: `${start}:frames`, topic };
}

// The hash tag ends at the first `}`, wherever that is: the same for all names of one topic.
function tag(topic: string): string {
  return `{${topic}}`;
}

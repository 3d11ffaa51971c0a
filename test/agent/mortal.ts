// What a process sees of its stores until it dies: so many answers, and perhaps one write that is never answered.

import type { Ground } from './ground.ts';

export interface Body {
  readonly stores: Pick<Ground, 'documents' | 'logs' | 'channel' | 'snapshots'>;
  readonly death: Promise<'dead'>;
}

const CALLS = {
  documents: ['insert', 'get', 'replace', 'remove', 'find', 'count'],
  logs: ['open', 'append', 'state', 'read', 'remove', 'sweep'],
  snapshots: ['load', 'commit', 'remove'],
  channel: ['publish'],
} as const;

export function mortal(here: Ground, { calls, lastWrite }: { calls: number; lastWrite: boolean }): Body {
  let left = calls;
  let die = () => {};
  const death = new Promise<'dead'>((resolve) => {
    die = () => resolve('dead');
  });
  const living =
    (call: (...args: unknown[]) => Promise<unknown>) =>
    async (...args: unknown[]): Promise<unknown> => {
      if (left-- > 0) return call(...args);
      if (left === -1 && lastWrite) await Promise.resolve(call(...args)).catch(() => {});
      die();
      return new Promise(() => {});
    };
  const stores = Object.entries(CALLS).map(([name, methods]) => {
    const store = here[name as keyof typeof CALLS] as unknown as Record<
      string,
      (...args: unknown[]) => Promise<unknown>
    >;
    const dying = methods.map((method) => [method, living((...args) => store[method]!(...args))]);
    return [name, { ...store, ...Object.fromEntries(dying) }];
  });
  return { stores: Object.fromEntries(stores) as Body['stores'], death };
}

// Disposables: what was opened is closed again in reverse order, when the server ends or when its start fails halfway.

export interface Disposables {
  /** Registers what disposeAll calls; the last registered one first. */
  readonly defer: (end: () => Promise<unknown> | unknown) => void;
  readonly disposeAll: () => Promise<void>;
}

/** Opens something of several parts; when that fails, the parts already open are closed before it rejects. */
export async function openWithDisposables<T>(open: (ends: Disposables) => Promise<T>): Promise<T> {
  const ends: (() => Promise<unknown> | unknown)[] = [];
  const disposeAll = async () => {
    for (let end = ends.pop(); end; end = ends.pop()) await end();
  };
  try {
    return await open({ defer: (end) => ends.push(end), disposeAll });
  } catch (error) {
    await disposeAll();
    throw error;
  }
}

// What has been opened and must be closed again: all of it when the server ends, or as far as a start came that failed.

export interface Disposables {
  /** Something to end when all ends; the last one first. */
  readonly defer: (end: () => Promise<unknown> | unknown) => void;
  readonly disposeAll: () => Promise<void>;
}

/** Opens something of several parts; when that fails, those that were open are closed before it is told. */
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

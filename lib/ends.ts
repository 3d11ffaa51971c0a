// What has been opened and must be closed again: all of it when the server ends, or as far as a start came that failed.

export interface Ends {
  /** Something to end when all ends; the last one first. */
  readonly later: (end: () => Promise<unknown> | unknown) => void;
  readonly endAll: () => Promise<void>;
}

/** Opens something of several parts; when that fails, those that were open are closed before it is told. */
export async function opening<T>(open: (ends: Ends) => Promise<T>): Promise<T> {
  const ends: (() => Promise<unknown> | unknown)[] = [];
  const endAll = async () => {
    for (let end = ends.pop(); end; end = ends.pop()) await end();
  };
  try {
    return await open({ later: (end) => ends.push(end), endAll });
  } catch (error) {
    await endAll();
    throw error;
  }
}

// Parts that are pushed from anywhere and pulled by one reader.

export interface PartQueue<T> {
  readonly push: (item: T) => void;
  /** No more will come. */
  readonly end: (result: string) => void;
  readonly fail: (error: unknown) => void;
  /** Ends when `end` was called; what `fail` was called with is thrown by `result`. */
  readonly items: AsyncIterable<T>;
  readonly result: Promise<string>;
}

export function partQueue<T>(): PartQueue<T> {
  let waiting: T[] = [];
  let wake = () => {};
  let isOver = false;
  let settle: { resolve: (value: string) => void; reject: (error: unknown) => void };
  const result = new Promise<string>((resolve, reject) => {
    settle = { resolve, reject };
  });
  // A reader that stops early does not need the result.
  result.catch(() => {});
  const close = () => {
    isOver = true;
    wake();
  };

  async function* items(): AsyncGenerator<T> {
    for (;;) {
      while (waiting.length) {
        const some = waiting;
        waiting = [];
        yield* some;
      }
      if (isOver) return;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  }

  return {
    push(item) {
      waiting.push(item);
      wake();
    },
    end(value) {
      settle.resolve(value);
      close();
    },
    fail(error) {
      settle.reject(error);
      close();
    },
    items: items(),
    result,
  };
}

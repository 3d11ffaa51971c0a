// Working on several items at a time and giving the answers in the order of the items; no more of either than fits.

/** Starts `work` on up to `width` items; gives its answers in order, each as soon as it can be. `work` never rejects. */
export async function* inOrder<T, A>(
  items: AsyncIterable<T>,
  { width, work }: { readonly width: number; readonly work: (item: T) => Promise<A> },
): AsyncGenerator<A> {
  const source = items[Symbol.asyncIterator]();
  const running: Promise<{ answer: A }>[] = [];
  const ask = () => source.next().then((item) => ({ item }));
  let next: ReturnType<typeof ask> | undefined = ask();
  try {
    while (next || running.length) {
      const first = running[0];
      const turns = [...(first ? [first] : []), ...(next && running.length < width ? [next] : [])];
      const turn = await Promise.race<{ answer: A } | { item: IteratorResult<T> }>(turns);
      if ('answer' in turn) {
        void running.shift();
        yield turn.answer;
      } else if (turn.item.done) next = undefined;
      else {
        running.push(work(turn.item.value).then((answer) => ({ answer })));
        next = ask();
      }
    }
  } finally {
    // Whoever waits for more of a source that has gone silent is not waited for.
    next?.catch(() => {});
    void source.return?.().catch(() => {});
  }
}

// Reads server-sent events from the body of an answer, as WHATWG's HTML describes the format.

/** An event; `''` where a field is not there. Lines of data have line feeds between them. */
export interface StreamedEvent {
  readonly event: string;
  readonly id: string;
  readonly data: string;
}

type Bytes = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

/**
 * Yields the events that have data. With `cut`, one that the end of the body cuts counts, too: some servers forget the blank
 * line.
 */
export async function* readEvents(body: Bytes, { cut = false } = {}): AsyncGenerator<StreamedEvent, void, undefined> {
  let event = { event: '', id: '', data: undefined as string | undefined };
  for await (const line of readLines(body, cut)) {
    const [, field, text = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line)!;
    if (field === 'event' || field === 'id') event[field] = text;
    else if (field === 'data') event.data = event.data === undefined ? text : `${event.data}\n${text}`;
    if (line !== '') continue;
    const { data } = event;
    if (data !== undefined) yield { ...event, data };
    event = { event: '', id: '', data: undefined };
  }
}

// Without a byte order mark. What is read again of a line is its last character, which may be the first half of its end.
async function* readLines(body: Bytes, cut: boolean): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder();
  const end = /\r\n|\n|\r(?!$)/g;
  let rest = '';
  for await (const bytes of body) {
    end.lastIndex = Math.max(0, rest.length - 1);
    rest += decoder.decode(bytes, { stream: true });
    let begin = 0;
    for (let found = end.exec(rest); found; found = end.exec(rest)) {
      yield rest.slice(begin, found.index);
      begin = found.index + found[0].length;
      end.lastIndex = begin;
    }
    rest = rest.slice(begin);
  }
  if (cut) yield* [(rest + decoder.decode()).replace(/\r$/, ''), ''];
}

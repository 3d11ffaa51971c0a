// Reads server-sent events from the body of an answer: the data of each, as WHATWG's HTML describes the format.

type Bytes = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

/** The data of each event. An event that the end of the body cuts counts, too: some servers forget the blank line. */
export async function* readEvents(body: Bytes): AsyncGenerator<string> {
  let rest = '';
  let data: string[] = [];
  for await (const text of texts(body)) {
    const lines = (rest + text).split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop()!;
    for (const line of lines) {
      if (line === '' && data.length) {
        yield data.join('\n');
        data = [];
      } else data.push(...readData(line));
    }
  }
  data.push(...readData(rest.replace(/\r$/, '')));
  if (data.length) yield data.join('\n');
}

// Without a byte order mark.
async function* texts(body: Bytes): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  for await (const bytes of body) yield decoder.decode(bytes, { stream: true });
  yield decoder.decode();
}

function readData(line: string): string[] {
  if (!line.startsWith('data')) return [];
  if (line === 'data') return [''];
  return line[4] === ':' ? [line.slice(line[5] === ' ' ? 6 : 5)] : [];
}

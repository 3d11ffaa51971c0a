// Files of descriptors with their names and imports, put in the order in which they can be read.

import { all, text, unreadable } from './reflection-messages.ts';

export interface File {
  readonly name: string;
  readonly imports: readonly string[];
  /** A `google.protobuf.FileDescriptorProto`, as it came. */
  readonly content: Uint8Array;
}

/** Throws ERR_SERVICE for bytes that are no file. */
export function fileOf(content: Uint8Array, node: string): File {
  try {
    const name = text(all(content, 1)[0]);
    if (!name) throw new Error('A file has no name.');
    // A copy: what came is a part of a larger message.
    return { name, imports: all(content, 3).map(text), content: Uint8Array.from(content) };
  } catch (cause) {
    throw unreadable(node, cause);
  }
}

/** The files, each after those that it imports; imports that go in a circle stay in the order in which they came. */
export function dependenciesFirst(files: ReadonlyMap<string, File>): File[] {
  const ordered: File[] = [];
  const seen = new Set<string>();
  // A stack of its own: a chain of imports may be as long as there are files.
  for (const start of files.keys()) {
    const stack = [{ name: start, isLast: false }];
    for (let top = stack.pop(); top; top = stack.pop()) {
      const file = files.get(top.name);
      if (!file) continue;
      if (top.isLast) ordered.push(file);
      else if (!seen.has(top.name)) {
        seen.add(top.name);
        stack.push({ name: top.name, isLast: true });
        for (const name of [...file.imports].reverse()) if (!seen.has(name)) stack.push({ name, isLast: false });
      }
    }
  }
  return ordered;
}

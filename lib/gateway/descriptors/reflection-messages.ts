// The subset of gRPC server reflection messages that we use (identical in v1 and v1alpha), and the files in replies, sorted
// by imports.

import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { TwinlineError } from '../../errors.ts';
import { readFields } from './options.ts';

/** Asks for all service names, the file that declares a symbol, or a file by name. */
export type ReflectionRequest = 'services' | { readonly symbol: string } | { readonly file: string };

export type ReflectionReply =
  | { readonly kind: 'services'; readonly names: readonly string[] }
  /** Each a `google.protobuf.FileDescriptorProto`, verbatim. */
  | { readonly kind: 'files'; readonly files: readonly Uint8Array[] }
  | { readonly kind: 'error'; readonly code: number; readonly message: string }
  | { readonly kind: 'nothing' };

/** A `ServerReflectionRequest`. */
export function encodeRequest(request: ReflectionRequest): Uint8Array {
  const writer = new BinaryWriter();
  if (request === 'services') writer.tag(7, WireType.LengthDelimited).string('*');
  else if ('symbol' in request) writer.tag(4, WireType.LengthDelimited).string(request.symbol);
  else writer.tag(3, WireType.LengthDelimited).string(request.file);
  return writer.finish();
}

/** Parses a `ServerReflectionResponse`. Throws ERR_SERVICE for malformed bytes. */
export function readReply(message: Uint8Array, node: string): ReflectionReply {
  let reply: ReflectionReply = { kind: 'nothing' };
  try {
    readFields(message, {
      4: (reader) => (reply = { kind: 'files', files: readRepeated(reader.bytes(), 1) }),
      6: (reader) => (reply = { kind: 'services', names: readRepeated(reader.bytes(), 1).map(readName) }),
      7: (reader) => (reply = readError(reader.bytes())),
    });
    return reply;
  } catch (cause) {
    throw unreadable(node, cause);
  }
}

function unreadable(node: string, cause: unknown): TwinlineError {
  const text = `The node ${node} sent malformed descriptors. Use a descriptor file instead.`;
  return new TwinlineError('ERR_SERVICE', text, { cause });
}

/** All values of a bytes or string field. */
export function readRepeated(message: Uint8Array, field: number): Uint8Array[] {
  const values: Uint8Array[] = [];
  readFields(message, { [field]: (reader) => values.push(reader.bytes()) });
  return values;
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

export function decodeText(bytes: Uint8Array | undefined): string {
  return bytes ? utf8.decode(bytes) : '';
}

// Services and files both have their name in field 1.
function readName(message: Uint8Array): string {
  return decodeText(readRepeated(message, 1)[0]);
}

function readError(bytes: Uint8Array): ReflectionReply {
  let code = 0;
  readFields(bytes, { 1: (reader) => (code = reader.int32()) }, WireType.Varint);
  return { kind: 'error', code, message: decodeText(readRepeated(bytes, 2)[0]).slice(0, 200) };
}

export interface File {
  readonly name: string;
  readonly imports: readonly string[];
  /** A `google.protobuf.FileDescriptorProto`, verbatim. */
  readonly content: Uint8Array;
}

/** Throws ERR_SERVICE for malformed bytes. */
export function readFile(content: Uint8Array, node: string): File {
  try {
    const name = readName(content);
    if (!name) throw new Error('A file has no name.');
    // A copy, because the input is a view of a larger message.
    return { name, imports: readRepeated(content, 3).map(decodeText), content: Uint8Array.from(content) };
  } catch (cause) {
    throw unreadable(node, cause);
  }
}

/** Sorts files after their imports; circular imports keep their order. */
export function sortByImports(files: ReadonlyMap<string, File>): File[] {
  const ordered: File[] = [];
  const seen = new Set<string>();
  // An explicit stack, because an import chain may be as long as the list of files.
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

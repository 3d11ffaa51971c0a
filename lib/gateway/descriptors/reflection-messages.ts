// The messages of gRPC server reflection, as far as they are needed; v1 and v1alpha have the same fields.

import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { TwinlineError } from '../../errors.ts';

/** What is asked: the names of all services, or the file that declares a symbol, or a file by its name. */
export type Asked = 'services' | { readonly symbol: string } | { readonly file: string };

export type Reply =
  | { readonly kind: 'services'; readonly names: readonly string[] }
  /** Each a `google.protobuf.FileDescriptorProto`, as the node sent it. */
  | { readonly kind: 'files'; readonly files: readonly Uint8Array[] }
  | { readonly kind: 'error'; readonly code: number; readonly message: string }
  | { readonly kind: 'nothing' };

const ASK = { file: 3, symbol: 4, services: 7 } as const;

/** A `ServerReflectionRequest`. */
export function requestFor(asked: Asked): Uint8Array {
  const writer = new BinaryWriter();
  if (asked === 'services') writer.tag(ASK.services, WireType.LengthDelimited).string('*');
  else if ('symbol' in asked) writer.tag(ASK.symbol, WireType.LengthDelimited).string(asked.symbol);
  else writer.tag(ASK.file, WireType.LengthDelimited).string(asked.file);
  return writer.finish();
}

const READERS: { readonly [field: number]: (bytes: Uint8Array) => Reply } = {
  4: (bytes) => ({ kind: 'files', files: all(bytes, 1) }),
  6: (bytes) => ({ kind: 'services', names: all(bytes, 1).map((service) => text(all(service, 1)[0])) }),
  7: readError,
};

/** Reads a `ServerReflectionResponse`. Throws ERR_SERVICE for bytes that are none. */
export function readReply(message: Uint8Array, node: string): Reply {
  try {
    let reply: Reply = { kind: 'nothing' };
    eachField(message, (field, reader, wireType) => {
      const read = READERS[field];
      if (!read || wireType !== WireType.LengthDelimited) reader.skip(wireType, field);
      else reply = read(reader.bytes());
    });
    return reply;
  } catch (cause) {
    throw unreadable(node, cause);
  }
}

/** What is thrown for bytes of the node that are not what they should be. */
export function unreadable(node: string, cause: unknown): TwinlineError {
  const text = `The node ${node} sent descriptors that cannot be read. Give a file of descriptors instead.`;
  return new TwinlineError('ERR_SERVICE', text, { cause });
}

/** All values of a field of bytes or text. */
export function all(message: Uint8Array, field: number): Uint8Array[] {
  const found: Uint8Array[] = [];
  eachField(message, (its, reader, wireType) => {
    if (its === field && wireType === WireType.LengthDelimited) found.push(reader.bytes());
    else reader.skip(wireType, its);
  });
  return found;
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

export function text(bytes: Uint8Array | undefined): string {
  return bytes ? utf8.decode(bytes) : '';
}

function readError(bytes: Uint8Array): Reply {
  let code = 0;
  eachField(bytes, (field, reader, wireType) => {
    if (field === 1 && wireType === WireType.Varint) code = reader.int32();
    else reader.skip(wireType, field);
  });
  return { kind: 'error', code, message: text(all(bytes, 2)[0]).slice(0, 200) };
}

function eachField(message: Uint8Array, take: (field: number, reader: BinaryReader, wireType: WireType) => void): void {
  const reader = new BinaryReader(message);
  while (reader.pos < reader.len) {
    const [field, wireType] = reader.tag();
    take(field, reader, wireType);
  }
}

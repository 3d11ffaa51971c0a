// google.api.HttpBody: replies that are a body of any media type, not JSON.

import type { DescMessage } from '@bufbuild/protobuf';
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import { unreadable } from './wire.ts';

export interface HttpBody {
  /** A media type that may stand in a header. */
  readonly type: string;
  readonly data: Buffer;
}

const CONTENT_TYPE = 1;
const DATA = 2;
// RFC 9110: type/subtype and parameters.
const MEDIA_TYPE = /^[\w!#$&^.+-]{1,127}\/[\w!#$&^.+*-]{1,127}(?:\s*;[\x20-\x7e]{0,256})?$/;
const ANY_BYTES = 'application/octet-stream';

/** Whether replies of this type are such bodies. */
export function isHttpBody({ typeName }: DescMessage): boolean {
  return typeName === 'google.api.HttpBody';
}

/** Reads one. Bytes of an unknown or unusable type are `application/octet-stream`. Throws ERR_SERVICE, `unreadable`. */
export function readHttpBody(bytes: Uint8Array): HttpBody {
  let type = '';
  let data: Uint8Array = new Uint8Array();
  try {
    const reader = new BinaryReader(bytes);
    while (reader.pos < reader.len) {
      const [number, wire] = reader.tag();
      if (number === CONTENT_TYPE && wire === WireType.LengthDelimited) type = reader.string();
      else if (number === DATA && wire === WireType.LengthDelimited) data = reader.bytes();
      else reader.skip(wire, number);
    }
  } catch (cause) {
    throw unreadable('its google.api.HttpBody cannot be decoded', cause);
  }
  const { buffer, byteOffset, length } = data;
  return { type: MEDIA_TYPE.test(type) ? type : ANY_BYTES, data: Buffer.from(buffer, byteOffset, length) };
}

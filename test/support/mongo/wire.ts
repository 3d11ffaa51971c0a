// The frames of MongoDB's wire protocol that a driver sends and reads: OP_MSG, and OP_QUERY for the first hello.

import { BSON } from 'mongodb';

const OP_REPLY = 1;
const OP_QUERY = 2004;
const OP_MSG = 2013;
const HEADER_BYTES = 16;
const CHECKSUM_BYTES = 4;
/** The largest message that hello allows, in bytes. */
const MESSAGE_BYTES_MAX = 48_000_000;

const CHECKSUM_PRESENT = 1 << 0;
const MORE_TO_COME = 1 << 1;

/** One command, as the driver sent it. */
export interface Command {
  readonly requestId: number;
  readonly opcode: number;
  /** The command itself, as BSON. */
  readonly body: Buffer;
  /** Documents of a document sequence, one after another, as the engine wants them; undefined when there is none. */
  readonly sequence: Buffer | undefined;
  /** Number of documents in `sequence`. */
  readonly sequenceLength: number;
  /** False when the driver does not wait, as with writeConcern 0. */
  readonly wantsReply: boolean;
}

/** Takes whole messages out of a stream of chunks. */
export function frames(): (chunk: Buffer) => Buffer[] {
  let held: Buffer[] = [];
  let bytes = 0;
  let wanted = HEADER_BYTES;
  return (chunk) => {
    held.push(chunk);
    bytes += chunk.length;
    if (bytes < wanted) return [];
    const found: Buffer[] = [];
    let rest = Buffer.concat(held);
    for (wanted = lengthOf(rest); rest.length >= wanted; wanted = lengthOf(rest)) {
      found.push(rest.subarray(0, wanted));
      rest = rest.subarray(wanted);
    }
    held = [rest];
    bytes = rest.length;
    return found;
  };
}

/** The length of the message that begins here; of a header, when not even that is there. */
function lengthOf(rest: Buffer): number {
  if (rest.length < HEADER_BYTES) return HEADER_BYTES;
  const length = rest.readInt32LE(0);
  if (length < HEADER_BYTES || length > MESSAGE_BYTES_MAX) throw new Error(`a message of ${length} bytes`);
  return length;
}

/** Reads one message; throws on an opcode or a section that no driver of this decade sends. */
export function readCommand(message: Buffer): Command {
  const requestId = message.readInt32LE(4);
  const opcode = message.readInt32LE(12);
  const read = READERS[opcode];
  if (!read) throw new Error(`opcode ${opcode}`);
  return { requestId, opcode, ...read(message) };
}

type Content = Omit<Command, 'requestId' | 'opcode'>;

const READERS: Record<number, (message: Buffer) => Content> = { [OP_QUERY]: readQuery, [OP_MSG]: readMessage };

function readQuery(message: Buffer): Content {
  const afterName = message.indexOf(0, HEADER_BYTES + 4) + 1;
  return { body: documentAt(message, afterName + 8), sequence: undefined, sequenceLength: 0, wantsReply: true };
}

function readMessage(message: Buffer): Content {
  const flags = message.readUInt32LE(HEADER_BYTES);
  const end = message.length - (flags & CHECKSUM_PRESENT ? CHECKSUM_BYTES : 0);
  let body: Buffer | undefined;
  let sequence: Buffer | undefined;
  for (let at = HEADER_BYTES + 4; at < end; ) {
    const kind = message[at];
    if (kind !== 0 && kind !== 1) throw new Error(`an OP_MSG section of kind ${kind}`);
    const size = message.readInt32LE(at + 1);
    if (kind === 0) body = documentAt(message, at + 1);
    else sequence = message.subarray(message.indexOf(0, at + 5) + 1, at + 1 + size);
    at += 1 + size;
  }
  if (!body) throw new Error('an OP_MSG without a body');
  return { body, sequence, sequenceLength: countDocuments(sequence), wantsReply: (flags & MORE_TO_COME) === 0 };
}

function documentAt(message: Buffer, at: number): Buffer {
  return message.subarray(at, at + message.readInt32LE(at));
}

function countDocuments(sequence: Buffer | undefined): number {
  let count = 0;
  for (let at = 0; sequence && at < sequence.length; at += sequence.readInt32LE(at)) count += 1;
  return count;
}

/** The message that answers `command`; a Buffer is BSON already. */
export function writeReply(command: Command, reply: Buffer | BSON.Document): Buffer {
  const document = Buffer.isBuffer(reply) ? reply : BSON.serialize(reply);
  const [opcode, prefix] = command.opcode === OP_QUERY ? [OP_REPLY, replyPrefix()] : [OP_MSG, Buffer.alloc(5)];
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeInt32LE(HEADER_BYTES + prefix.length + document.length, 0);
  header.writeInt32LE(command.requestId, 8);
  header.writeInt32LE(opcode, 12);
  return Buffer.concat([header, prefix, document]);
}

// flags, cursor id, starting from, number returned
function replyPrefix(): Buffer {
  const prefix = Buffer.alloc(20);
  prefix.writeInt32LE(1, 16);
  return prefix;
}

// Streams of messages between a call and its reader: when the sender waits, what is held, and who has a turn.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { GRPC } from '../../lib/gateway/channel/channel.ts';
import { ByteBudget, MessageQueue, messageStream, type Sink } from '../../lib/gateway/channel/message-stream.ts';
import { GATEWAY_LIMITS } from '../../lib/gateway/limits.ts';

const test = suite('message stream');
const EMPTY = Buffer.alloc(0);
const OK = { status: { code: 0, message: '', from: 'node' }, trailers: [] } as const;

/** A stream whose sender is the test. */
function sender(budget = new ByteBudget(1_000_000)) {
  const did: string[] = [];
  let sink: Sink | undefined;
  const note = (what: string) => () => void did.push(what);
  const stream = messageStream((made) => {
    sink = made;
    return { pause: note('pause'), resume: note('resume'), cancel: note('cancel') };
  }, budget);
  return { stream, did, sink: sink!, budget, reader: stream.messages[Symbol.asyncIterator]() };
}

test('the sender waits when many empty messages wait, and goes on when all are taken', async () => {
  const { sink, did, reader } = sender();
  let sent = 0;
  while (!did.length && sent < 100_000) {
    sink.message(EMPTY);
    sent++;
  }
  assert.equal([did, sent], [['pause'], GATEWAY_LIMITS.grpcAheadMessages]);
  for (let taken = 1; taken < sent; taken++) await reader.next();
  assert.equal(did, ['pause']);
  await reader.next();
  assert.equal(did, ['pause', 'resume']);
});

test('a message of few bytes counts for what it costs', () => {
  const { sink, did } = sender();
  let sent = 0;
  while (!did.length) {
    sink.message(Buffer.alloc(100));
    sent++;
  }
  assert.is(sent, Math.floor(GATEWAY_LIMITS.grpcAheadBytes / 164) + 1);
});

test('messages come in order, however many wait', async () => {
  const queue = new MessageQueue();
  let next = 0;
  let taken = 0;
  for (let round = 0; round < 200; round++) {
    for (let nth = 0; nth < 50 + round; nth++) queue.add(Buffer.from(String(next++)));
    for (let nth = 0; nth < 40 + round; nth++) assert.is(queue.take()?.toString(), String(taken++));
  }
  assert.is(queue.length, next - taken);
  while (taken < next) assert.is(queue.take()?.toString(), String(taken++));
  assert.is(queue.take(), undefined);
});

test('a reader with much to take lets others have their turn', async () => {
  const { sink, did, reader } = sender();
  let taken = 0;
  let before = 0;
  let most = 0;
  const turn = () => {
    most = Math.max(most, taken - before);
    before = taken;
    if (taken < 5_000) setImmediate(turn);
  };
  setImmediate(turn);
  // A sender that is never out of messages.
  for (; taken < 5_000; taken++) {
    while (did.filter((what) => what === 'pause').length === did.filter((what) => what === 'resume').length)
      sink.message(EMPTY);
    await reader.next();
  }
  assert.ok(most <= GATEWAY_LIMITS.grpcMessagesPerTurn, `${most} messages in one turn`);
});

test('large messages count until they are taken, and a stream without room for one ends', async () => {
  const budget = new ByteBudget(200_000);
  const one = sender(budget);
  one.sink.message(Buffer.alloc(150_000));
  assert.is(budget.held, 150_000);
  const two = sender(budget);
  two.sink.message(Buffer.alloc(10));
  two.sink.message(Buffer.alloc(100_000));
  assert.equal([two.did, (await two.stream.end).status.code], [['cancel'], GRPC.unavailable]);
  assert.is((await two.reader.next()).value?.length, 10, 'what came before it is told');
  assert.ok((await two.reader.next()).done);
  await one.reader.next();
  assert.is(budget.held, 0);
});

test('a reader who leaves gives back what was held for him, and what comes late is dropped', async () => {
  const { sink, budget, reader, did } = sender();
  sink.message(EMPTY);
  await reader.next();
  sink.message(Buffer.alloc(100_000));
  assert.is(budget.held, 100_000);
  await reader.return?.();
  sink.message(Buffer.alloc(100_000));
  assert.equal([budget.held, did.at(-1)], [0, 'cancel']);
  sink.end(OK);
});

test.run();

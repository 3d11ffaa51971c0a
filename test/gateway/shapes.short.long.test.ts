// Size × shape: whatever a node answers, the event loop of the server goes on, memory has a bound, refusals are declared.

import { suite, type Test } from 'uvu';
import * as assert from 'uvu/assert';
import type { GatewaySettings } from '../../lib/gateway/index.ts';
import { GATEWAY_LIMITS } from '../../lib/gateway/limits.ts';
import { SERVER_LIMITS } from '../../server/config/limits.ts';
import { type GroveNode, groveNode, metadataOf, type Scripted } from '../server/gateway/node.ts';
import { sharedBy } from '../server/gateway/place.ts';
import { chooseSize, isShort } from '../support/size.ts';
import { field, SHAPES, SHAPES_SET } from './shapes.ts';
import { type Answered, TURNS, type Watched, withWatched } from './watched.ts';

const RSS_MB = 1_500;
const MEGABYTE = 1_000_000;
const HUGE = chooseSize({ short: MEGABYTE, day: 4 * MEGABYTE, whole: 4 * MEGABYTE });
const LARGEST = chooseSize({
  short: 1_000_000,
  day: GATEWAY_LIMITS.grpcAnswerBytes - 64,
  whole: GATEWAY_LIMITS.grpcAnswerBytes - 64,
});
/** Of shapes of very many parts a quarter is enough to see the event loop stand still; the largest take seconds each. */
const LARGE = chooseSize({ short: 500_000, day: 2_500_000, whole: LARGEST });
const OF_MANY_PARTS = [
  'a map of many',
  'a map of messages',
  'a Struct of many',
  'an Any in an Any, all out of order',
  'packed reals',
];
const LARGE_AT_ONCE = chooseSize({ short: 3, day: 8, whole: 30 });
/** What the gateway's table of errors declares for a reply that it cannot or will not tell. */
const DECLARED = [200, 500, 502, 503, 504];

let node: GroveNode;
let server: Watched;

/** A suite with a node and a server that calls it over this channel. */
function shapesSuite(channel: GatewaySettings['channel']): Test {
  const made = suite(`size and shape of replies, ${channel}`);
  const open = async (work: (opened: { node: GroveNode; server: Watched }) => Promise<void>) => {
    const started = await groveNode(0, SHAPES_SET);
    const settings = { upstream: started.upstream, channel };
    await withWatched(settings, SHAPES_SET, (watched) => work({ node: started, server: watched }));
    started.stop();
  };
  const at = sharedBy(made, open);
  made.before.each(() => {
    ({ node, server } = at());
  });
  return made;
}

/**
 * What `work` gives; fails when the event loop stood still meanwhile, or memory had no bound. Neighbours that use the caches and
 * the memory of the machine make every turn longer: the shortest of five tries counts.
 */
async function bounded<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    await server.look();
    const result = await work();
    const { turns, rssMb } = await server.look();
    assert.ok(rssMb < RSS_MB, `${rssMb} MB`);
    if (turns < TURNS) return result;
    assert.ok(tries < 5, `the event loop stood still for ${turns} units`);
  }
}

let asked = 0;
// Each is another question: calls that are alike would be made once for all.
const path = () => `/shapes/${asked++}`;
const scripted = (script: Scripted) => {
  node.script = () => script;
};

function isDeclared({ status, text }: Answered): void {
  assert.ok(DECLARED.includes(status), `${status}: ${text}`);
  if (status !== 200) assert.match(text, /^\{"code":(4|8|13|14),"message":"[^"]/);
}

const DETAIL = (bytes: Buffer) => field(3, Buffer.concat([field(1, 'x/shapes.Shape'), field(2, bytes)]));

/** The promises that hold on both channels. */
function testShapes(test: Test, cases: readonly (readonly [name: string, size: number])[]): void {
  test('the server is warm', async () => {
    scripted({ bytes: SHAPES['a map of many']!(200_000) });
    for (let nth = 0; nth < 5; nth++) assert.is((await server.ask(path())).status, 200);
  });

  for (const [name, size] of cases)
    test(`${name}, ${size} bytes`, async () => {
      scripted({ bytes: SHAPES[name]!(size) });
      isDeclared(await bounded(() => server.ask(path())));
    });

  test('a message beyond the limit is refused as such', async () => {
    scripted({ bytes: field(1, Buffer.alloc(GATEWAY_LIMITS.grpcAnswerBytes)) });
    const { status, text } = await bounded(() => server.ask(path()));
    assert.equal([status, (JSON.parse(text) as { code: number }).code], [502, 8]);
  });

  for (const type of ['a text of control characters', 'a map of messages'])
    test(`a stream with one huge message: ${type}`, async () => {
      scripted({ bytes: SHAPES[type]!(HUGE), replies: [{ text: 'after' }] });
      const { status, bytes, text } = await bounded(() => server.ask(`${path()}/follow`));
      assert.is(status, 200);
      assert.ok(bytes > 2.5 * HUGE || text.includes('"error"'), `${bytes} bytes: ${text}`);
    });

  test('many large replies at once: each is told or refused as declared, and others are served meanwhile', async () => {
    scripted({ bytes: SHAPES['a map of many']!(MEGABYTE) });
    await bounded(async () => {
      let isOver = false;
      const large = Promise.all(Array.from({ length: LARGE_AT_ONCE }, () => server.ask(path()))).finally(() => {
        isOver = true;
      });
      while (!isOver) assert.is((await server.ask('/livez')).status, 200);
      const answers = await large;
      for (const answer of answers) isDeclared(answer);
      assert.ok(answers.some(({ status }) => status === 200));
    });
  });

  test('metadata of every kind and size', async () => {
    const trailers: readonly Readonly<Record<string, string | Buffer>>[] = [
      Object.fromEntries(Array.from({ length: 300 }, (_, nth) => [`x-${nth}`, 'y'])),
      { 'x-long': 'y'.repeat(15_000) },
      { 'grpc-status-details-bin': DETAIL(SHAPES['empty messages']!(11_000)) },
      { 'grpc-status-details-bin': DETAIL(SHAPES['a text of quotes']!(11_000)) },
      { 'grpc-status-details-bin': Buffer.concat(Array.from({ length: 350 }, () => DETAIL(Buffer.alloc(0)))) },
      { 'grpc-status-details-bin': DETAIL(field(1, 'a-'.repeat(5_500))) },
      { 'grpc-status-details-bin': DETAIL(field(1, '1.'.repeat(5_500))) },
      { 'grpc-status-details-bin': DETAIL(field(1, '1:'.repeat(5_500))) },
    ];
    const texts = ['%'.repeat(4_000), 'a.'.repeat(2_000), '::'.repeat(2_000), '1:'.repeat(2_000), '🌳'.repeat(1_000)];
    for (const metadata of trailers) {
      scripted({ status: { code: 9, details: 'no', metadata: metadataOf(metadata) } });
      const { status, bytes } = await bounded(() => server.ask(path()));
      assert.ok([400, 502].includes(status), `${status}`);
      assert.ok(bytes < 2 * GATEWAY_LIMITS.gatewayDetailBytes + 1_000, `${bytes} bytes of details`);
    }
    for (const details of texts) {
      scripted({ status: { code: 9, details } });
      assert.is((await bounded(() => server.ask(path()))).status, 400);
    }
  });
}

const onGrpcJs = shapesSuite('grpc-js');
const largest = (name: string) => [name, OF_MANY_PARTS.includes(name) ? LARGE : LARGEST] as const;
testShapes(
  onGrpcJs,
  // In short one size of each shape, by turns.
  Object.keys(SHAPES).flatMap((name, at) => {
    const sizes = [[name, SERVER_LIMITS.gatewayBriefBytes] as const, largest(name)];
    return isShort ? [sizes[at % 2]!] : sizes;
  }),
);
onGrpcJs.run();

// The channel brings bytes; what becomes of each shape and size is up to the writers of JSON, the same for both.
if (!isShort) {
  const onHttp2 = shapesSuite('http2');
  testShapes(onHttp2, ['empty messages', 'a map of many', 'a text of control characters'].map(largest));
  onHttp2.run();
}

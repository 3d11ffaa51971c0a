// Outcomes as HTTP answers: the whole table, the texts that clients see, and that no address is among them.

import { BinaryWriter } from '@bufbuild/protobuf/wire';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { TwinlineError } from '../../lib/errors.ts';
import { createJsonWriters, createStatusAnswers, httpStatus, readDescriptorSet } from '../../lib/gateway/index.ts';
import { GATEWAY_LIMITS } from '../../lib/gateway/limits.ts';
import cases from '../fixtures/gateway/status.json' with { type: 'json' };
import { compileProtos } from '../support/protoc.ts';

const test = suite('gateway statuses');

const { registry } = readDescriptorSet(
  compileProtos({ 'd.proto': 'syntax = "proto3"; package google.rpc; message DebugInfo { string detail = 2; }' }),
);
const writers = createJsonWriters({ registry, form: 'cosmos' });
const answers = createStatusAnswers({ registry, writers, hide: ['node:9090'] });
const node = (code: number, message = 'm', details?: Uint8Array) => {
  const { http, body } = answers.ofStatus({ code, message, from: 'node' }, details);
  return { http, ...(JSON.parse(body) as { code: number; message: string; details: unknown[] }) };
};

test('every code has its status of HTTP, and itself in the body', () => {
  for (const [name, code, http] of cases.codes as [string, number, number][]) {
    const answer = node(code);
    assert.equal([httpStatus(code), answer.http, answer.code, answer.details], [http, http, code, []], name);
  }
});

test('the message of the node is told, also that of UNIMPLEMENTED; where it has none, and where the channel says so, ours', () => {
  assert.is(node(5, 'entity did:ixo:entity:abc not found "x"').message, 'entity did:ixo:entity:abc not found "x"');
  assert.is(node(12, 'unknown service a.B at 10.0.0.1').message, 'unknown service a.B at address');
  assert.is(node(12, '').message, 'Not Implemented');
  const own = answers.ofStatus({ code: 12, message: 'The node answered with HTTP status 404.', from: 'channel' });
  assert.equal([own.http, JSON.parse(own.body).message], [501, 'Not Implemented']);
});

test('an answer that is too large for the gateway is 502, while a node that asks for fewer requests is 429', () => {
  assert.is(answers.ofStatus({ code: 8, message: 'large', from: 'channel' }).http, 502);
  assert.is(node(8).http, 429);
});

test('no address of a node or of its network leaks, and what is none stays', () => {
  for (const leak of cases.leaks) {
    const { message } = node(14, leak);
    assert.match(message, /address/, leak);
    assert.not.match(message, /\d\.\d|9090|39691|26657|::|db8|internal|var/, leak);
  }
  for (const kept of cases.kept) assert.is(node(5, kept).message, kept);
});

function details(...anys: readonly (readonly [string, Uint8Array])[]): Uint8Array {
  const status = new BinaryWriter().tag(1, 0).int32(5).tag(2, 2).string('not shown');
  for (const [url, value] of anys) status.tag(3, 2).fork().tag(1, 2).string(url).tag(2, 2).bytes(value).join();
  return status.finish();
}

test('details are told in JSON; unknown types, traces and broken bytes are left away', () => {
  const text = new BinaryWriter().tag(1, 2).string('see 10.0.0.1').finish();
  const known = 'type.googleapis.com/google.protobuf.StringValue';
  const some = details(
    [known, text],
    ['type.googleapis.com/a.Nobody', text],
    ['type.googleapis.com/google.rpc.DebugInfo', text],
  );
  assert.equal(node(5, 'm', some).details, [{ '@type': known, value: 'see address' }]);
  assert.equal(node(5, 'm', Buffer.from('ffff', 'hex')).details, []);
});

test('details that are long in JSON are left away, and those that are long together from there on', () => {
  const known = 'type.googleapis.com/google.protobuf.StringValue';
  const text = (chars: number) => new BinaryWriter().tag(1, 2).string('"'.repeat(chars)).finish();
  const large = GATEWAY_LIMITS.gatewayDetailBytes;
  assert.is(node(5, 'm', details([known, text(large / 2)], [known, text(1)])).details.length, 1);
  const many = Array.from({ length: 10 }, () => [known, text(large / 8)] as const);
  assert.is(node(5, 'm', details(...many)).details.length, 3);
});

test('refusals of the gateway: 404, 405, 501, 401, 403 with codes of gRPC; 501 for what is not there as the Cosmos SDK', () => {
  const shown = (list: ReturnType<typeof createStatusAnswers>) =>
    (['unknown-route', 'method', 'disabled', 'no-credentials', 'forbidden'] as const).map((kind) => {
      const { http, body } = list.ofRefusal(kind);
      return [http, (JSON.parse(body) as { code: number }).code];
    });
  assert.equal(shown(answers), [
    [404, 5],
    [405, 12],
    [501, 12],
    [401, 16],
    [403, 7],
  ]);
  const cosmos = createStatusAnswers({ registry, writers, hide: [], unknownRoute: 501 });
  assert.equal(shown(cosmos).slice(0, 2), [
    [501, 12],
    [501, 12],
  ]);
  assert.is(answers.ofRefusal('unknown-route').body, '{"code":5,"message":"Not Found","details":[]}');
});

test('errors: of the request 400, of the reply 500 or 502, of time 504; of the gateway itself nothing is told', () => {
  const shown = (error: unknown) => {
    const { http, body } = answers.ofError(error);
    return [http, ...Object.values(JSON.parse(body) as object).slice(0, 2)];
  };
  assert.equal(shown(new TwinlineError('ERR_INPUT', 'bad')), [400, 3, 'bad']);
  assert.equal(shown(new TwinlineError('ERR_SERVICE', 'odd', { reason: 'unreadable' })), [500, 13, 'odd']);
  assert.equal(shown(new TwinlineError('ERR_SERVICE', 'long', { reason: 'too-large' })), [502, 8, 'long']);
  assert.equal(shown(new TwinlineError('ERR_TIMEOUT', 'late')), [504, 4, 'late']);
  assert.equal(shown(new TwinlineError('ERR_BUSY', 'full')), [503, 14, 'full']);
  assert.equal(shown(new Error('secret at 10.0.0.1')), [500, 13, 'Internal error']);
  assert.equal(shown(undefined), [500, 13, 'Internal error']);
});

test.run();

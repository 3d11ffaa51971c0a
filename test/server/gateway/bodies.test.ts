// Bodies at the door of the query gateway: update masks of PATCH, and answers that are a body of their own (HttpBody).

import { BinaryWriter } from '@bufbuild/protobuf/wire';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import cases from '../../fixtures/gateway/bodies.json' with { type: 'json' };
import { compileKept } from '../../support/protoc.ts';
import { json } from '../support/serve.ts';
import { withGateway } from './place.ts';

const test = suite('bodies of the query gateway');

const SET = compileKept('shop/shop.proto');

test('PATCH without a mask: the node is told which fields the body has, as grpc-gateway tells it', () =>
  withGateway(
    {},
    async ({ server, node }) => {
      node.script = () => ({});
      const patch = async (path: string, body: object, method = 'PATCH') => {
        const answer = await server.ask(path, { ...json(body), method });
        assert.is(answer.status, 200, answer.text);
        return node.last().request.updateMask;
      };
      for (const [what, body, mask] of cases.masks as [string, object, string | null][])
        assert.is((await patch('/shop/1', body)) ?? null, mask, what);
      assert.is(await patch('/shop/1?update_mask=long_name', { id: 'x' }), 'longName');
      assert.is(await patch('/shop/1?update_mask=', { id: 'x' }), 'id');
      assert.is(await patch('/whole/1', { item: { id: 'x' } }), undefined);
      assert.is(await patch('/shop/1', { id: 'x' }, 'PUT'), undefined);
      await server.ask('/two', { ...json({ id: 'x' }), method: 'PATCH' });
      assert.equal(Object.keys(node.last().request), ['item']);
      const deep = `${'{"inner":'.repeat(50_000)}{}${'}'.repeat(50_000)}`;
      const headers = { 'content-type': 'application/json' };
      assert.is((await server.ask('/shop/1', { method: 'PATCH', headers, body: deep })).status, 400);
    },
    { set: SET },
  ));

const httpBody = (type: string, data: string | Buffer) =>
  Buffer.from(new BinaryWriter().tag(1, 2).string(type).tag(2, 2).bytes(Buffer.from(data)).finish());

test('an HttpBody is answered as it is, with its type, and may not act as a page', () =>
  withGateway(
    {},
    async ({ server, node }) => {
      node.script = () => ({ bytes: httpBody('image/png', Buffer.from([0x89, 0, 255])) });
      const response = await fetch(`${server.url}/shop/files/1`);
      assert.equal([...new Uint8Array(await response.arrayBuffer())], [0x89, 0, 255]);
      assert.equal([response.headers.get('content-type'), response.headers.get('content-length')], ['image/png', '3']);
      assert.match(response.headers.get('content-security-policy')!, /\bsandbox\b/);
      assert.is(response.headers.get('x-content-type-options'), 'nosniff');
      const etag = response.headers.get('etag')!;
      assert.is((await server.ask('/shop/files/1', { headers: { 'if-none-match': etag } })).status, 304);
      const types = {
        'text/html; charset=utf-8': true,
        '': false,
        'no type': false,
        'a/b\r\nX: y': false,
        'a/b;\u00e4': false,
      };
      for (const [type, isUsed] of Object.entries(types)) {
        node.script = () => ({ bytes: httpBody(type, '<b>') });
        const answer = await server.ask('/shop/files/x');
        assert.equal([answer.status, answer.text], [200, '<b>']);
        assert.is(answer.headers['content-type'], isUsed ? type : 'application/octet-stream');
      }
      node.script = () => ({ status: { code: 5, details: 'none' } });
      const none = await server.ask('/shop/files/2');
      assert.equal([none.status, none.json()], [404, { code: 5, message: 'none', details: [] }]);
      node.script = () => ({ bytes: Buffer.from([0x0a, 5]) });
      assert.is((await server.ask('/shop/files/3')).status, 500);
    },
    { set: SET },
  ));

test('a stream of HttpBody is one body: lines of text, or bytes as they are; what breaks off is cut', () =>
  withGateway(
    {},
    async ({ server, node }) => {
      const part = (contentType: string, data: string) => ({ contentType, data: Buffer.from(data).toString('base64') });
      node.script = () => ({ replies: [part('text/html', 'Hello 1'), part('', 'Hello 2')] });
      const text = await server.ask('/shop/parts/1');
      assert.equal([text.text, text.headers['content-type']], ['Hello 1\nHello 2\n', 'text/html']);
      node.script = () => ({ replies: [part('application/zip', 'PK1'), part('application/zip', 'PK2')] });
      const bytes = await server.ask('/shop/parts/1');
      assert.equal([bytes.text, bytes.headers['content-type']], ['PK1PK2', 'application/zip']);
      assert.match(bytes.headers['content-security-policy']!, /\bsandbox\b/);
      node.script = () => ({ replies: [part('application/zip', 'PK1')], status: { code: 13, details: 'broke' } });
      const cut = await fetch(`${server.url}/shop/parts/1`)
        .then((response) => response.text())
        .catch(() => 'cut');
      assert.is(cut, 'cut');
      node.script = () => ({ status: { code: 5, details: 'none' } });
      assert.equal((await server.ask('/shop/parts/1')).json(), { code: 5, message: 'none', details: [] });
      node.script = () => ({ bytes: Buffer.from([0x0a, 5]), replies: [] });
      assert.is((await server.ask('/shop/parts/1')).status, 500);
    },
    { set: SET },
  ));

test.run();

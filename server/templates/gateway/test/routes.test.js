// The gateway's file can be used, and every address leads to its method.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { createRouteTable, parseGatewayFile, readDescriptorSet } from 'twinline/gateway';

const read = (/** @type {string} */ path) => readFileSync(new URL(`../${path}`, import.meta.url));
const { descriptors } = parseGatewayFile(String(read('gateway.json')), 'gateway.json');
assert.ok(descriptors.kind === 'file');
const routes = createRouteTable(readDescriptorSet(read(descriptors.path)));

test('no method is left without an address', () => {
  assert.deepEqual(routes.left, []);
  assert.deepEqual(
    routes.routes.map(({ method, template, rpc }) => `${method} ${template} ${rpc}`),
    [
      'GET /bank/v1/balances/{address}/{denom} bank.v1.Query/Balance',
      'GET /bank/v1/balances/{address} bank.v1.Query/Balances',
    ],
  );
});

test('an address gives the values of its request', () => {
  const found = routes.match('GET', '/bank/v1/balances/ixo1abc/uixo');
  assert.ok(found.kind === 'found');
  assert.deepEqual(found.values, ['ixo1abc', 'uixo']);
});

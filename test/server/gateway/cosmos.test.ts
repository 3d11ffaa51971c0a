// The query gateway before a node of a real chain: all routes of auth, bank, gov, IBC, CosmWasm, and what accounts hold.

import { readFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createRouteTable, readDescriptorSet } from '../../../lib/gateway/index.ts';
import { cosmosSet } from '../../gateway/cosmos-set.ts';
import { field } from '../../gateway/shapes.ts';
import { json } from '../support/serve.ts';
import { withGateway } from './place.ts';

const test = suite('query gateway of a real chain');

const KEY = 'A6Wm6Vn1EPxAlEQB+iI1Cbsdq9Vs3V3LvV4Z0u+Sm2bO';
const any = (url: string, value: Buffer) => Buffer.concat([field(1, url), field(2, value)]);
const pubKey = any('/cosmos.crypto.secp256k1.PubKey', field(1, Buffer.from(KEY, 'base64')));
// Number 7 and sequence 9.
const account = Buffer.concat([field(1, 'ixo1abc'), field(2, pubKey), Buffer.from([0x18, 7, 0x20, 9])]);
/** A QueryAccountResponse. */
const ACCOUNT = field(1, any('/cosmos.auth.v1beta1.BaseAccount', account));
/** A QueryAccountsResponse with an account of another type, which no service imports. */
const ACCOUNTS = Buffer.concat([
  ACCOUNT,
  field(1, any('/cosmos.vesting.v1beta1.PermanentLockedAccount', Buffer.alloc(0))),
]);
const VESTING = { '@type': '/cosmos.vesting.v1beta1.PermanentLockedAccount', base_vesting_account: null };
const printed = {
  '@type': '/cosmos.auth.v1beta1.BaseAccount',
  address: 'ixo1abc',
  pub_key: { '@type': '/cosmos.crypto.secp256k1.PubKey', key: KEY },
  account_number: '7',
  sequence: '9',
};

test('the whole set has its routes, but for the two that nobody can tell apart, of which the later is served', () => {
  const { registry, methods, left } = readDescriptorSet(cosmosSet());
  assert.equal(left, []);
  const table = createRouteTable({ registry, methods, left });
  assert.equal(table.left, [
    {
      rpc: 'cosmos.auth.v1beta1.Query/AddressBytesToString',
      path: 'GET /cosmos/auth/v1beta1/bech32/{address_bytes}',
      reason:
        'it has the path of cosmos.auth.v1beta1.Query/AddressStringToBytes (/cosmos/auth/v1beta1/bech32/{address_string}), which is served',
    },
  ]);
  // Counted by another reader: the texts of the .proto files.
  const written = readFileSync(new URL(import.meta.resolve('@protobufs/cosmos/bank/v1beta1/query.proto')), 'utf8');
  const inBank = table.routes.filter(({ rpc }) => rpc.startsWith('cosmos.bank.v1beta1.Query/'));
  assert.is(inBank.length, written.match(/\.get = "/g)!.length);
  assert.ok(table.routes.length > 150, `${table.routes.length} routes`);
});

for (const [name, settings] of [
  ['a file over http2', { channel: 'http2' }],
  ['reflection over grpc-js', { channel: 'grpc-js', descriptors: undefined, reflection: true }],
] as const)
  test(`by ${name}: the chain is served, and an account with a key is told`, () =>
    withGateway(
      settings,
      async ({ server, node }) => {
        assert.ok(server.routes.some(({ path }) => path === '/cosmos/bank/v1beta1/balances/{address}'));
        const warnings = server.logged.map(({ warning }) => String(warning ?? '')).filter(Boolean);
        assert.is(warnings.length, 1, warnings.join('\n'));
        assert.match(warnings[0]!, /AddressBytesToString is skipped at GET \/cosmos\/auth\/v1beta1\/bech32\//);
        node.script = () => ({ bytes: ACCOUNT });
        const answer = await server.ask('/cosmos/auth/v1beta1/accounts/ixo1abc');
        assert.equal([answer.status, answer.json()], [200, { account: printed }]);
        node.script = () => ({ bytes: Buffer.concat(Array(2_000).fill(ACCOUNTS)) });
        const many = (await server.ask('/cosmos/auth/v1beta1/accounts')).json() as { accounts: object[] };
        assert.equal(many.accounts.slice(-2), [printed, VESTING], 'a large reply, written in a thread');
        node.script = () => ({ reply: { sequences: ['2'], height: { revisionNumber: '1', revisionHeight: '5' } } });
        const ports = '/ibc/core/channel/v1/channels/channel-0/ports/transfer/packet_commitments';
        const unreceived = await server.ask(`${ports}/1,2,3/unreceived_packets`);
        assert.equal(node.last().request, {
          portId: 'transfer',
          channelId: 'channel-0',
          packetCommitmentSequences: ['1', '2', '3'],
        });
        assert.equal((unreceived.json() as { sequences: unknown }).sequences, ['2']);
        assert.is((await server.ask(`${ports}/1,x/unreceived_packets`)).status, 400);
        node.script = () => ({});
        const send = { '@type': '/cosmos.bank.v1beta1.MsgSend', from_address: 'a', to_address: 'b' };
        const simulate = json({ tx: { body: { messages: [send] } } });
        const simulated = await server.ask('/cosmos/tx/v1beta1/simulate', simulate);
        assert.is(simulated.status, 200, simulated.text);
        const [message] = (node.last().request as { tx: { body: { messages: object[] } } }).tx.body.messages;
        assert.equal(message, {
          '@type': 'type.googleapis.com/cosmos.bank.v1beta1.MsgSend',
          fromAddress: 'a',
          toAddress: 'b',
        });
        const nobody = json({ tx: { body: { messages: [{ '@type': '/x.Nobody' }] } } });
        assert.is((await server.ask('/cosmos/tx/v1beta1/simulate', nobody)).status, 400);
      },
      { set: cosmosSet() },
    ));

test.run();

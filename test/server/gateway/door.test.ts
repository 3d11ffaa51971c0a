// The door of the query gateway: paths, methods, queries and bodies to calls of a node, replies and errors to HTTP.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { sharedGateway } from './place.ts';

const test = suite('door of the query gateway');
const { scripted } = sharedGateway(test);

test('a path with a DID asks the node, and the reply is JSON in the Cosmos form', async () => {
  const { server, node } = scripted(() => ({
    reply: { tree: { id: 'did:ixo:tree:1', rings: '7', planted: '2024-01-02T03:04:05Z' } },
  }));
  const { status, headers, json } = await server.ask('/grove/tree/did:ixo:tree:1?pagination.limit=5&unknown=1');
  assert.is(status, 200);
  assert.equal(node.last().request, { id: 'did:ixo:tree:1', pagination: { limit: '5' } });
  assert.is(node.last().rpc, 'Query/Tree');
  assert.match(headers['content-type']!, /^application\/json/);
  const tree = {
    id: 'did:ixo:tree:1',
    kind: '',
    rings: '7',
    planted: '2024-01-02T03:04:05Z',
    birds: [],
    parent: null,
    seed: null,
  };
  assert.equal(json(), { tree, trees: [], text: '', counts: {}, extra: null });
});

test.run();

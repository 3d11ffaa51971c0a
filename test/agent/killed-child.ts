// A process of its own that answers messages from a folder, until it is killed in the middle of a call.

import { openAgent } from '../../lib/agent/agent.ts';
import { ANN } from './ground.ts';
import { effectsIn, folderStores, shopResponder } from './killed-place.ts';

const [folder = '', session = ''] = process.argv.slice(2);
const stores = folderStores(folder);
const responder = shopResponder(stores, async (key) => {
  await effectsIn(folder).note(key);
  process.send?.('called');
  await new Promise((resolve) => setTimeout(resolve, 60_000));
  return 0;
});
const oracle = { name: 'o', did: 'd', entityDid: 'e' };
const agent = await openAgent({ ...stores, responder, oracle });
const sent = await agent.send({ owner: ANN, session, requestId: 'r', request: { message: '1' } });
process.send?.(sent);

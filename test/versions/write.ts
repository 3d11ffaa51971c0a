// Writes the fixtures of this version, once, when it is released: node --import tsx test/versions/write.ts
// From then on they stay as they are, and test/versions/versions.test.ts reads them with every later version.

import { randomBytes } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspectToken } from '../../lib/delegation/tokens.ts';
import { makeOracleKey } from '../../server/config/data-dir.ts';
import { manifest, ROOT } from '../package/manifest.ts';
import { DIAL, json } from '../server/support/serve.ts';
import { type WorldKeys, withWorld, writeJson } from './world.ts';

const folder = join(ROOT, 'test/fixtures', manifest.version);
if (existsSync(join(folder, 'held.json'))) throw new Error(`${folder} is written, and stays as it is.`);
mkdirSync(folder, { recursive: true });

const keys: WorldKeys = {
  PIN_ENCRYPTION_KEY: randomBytes(32).toString('hex'),
  ORACLE_KEY: makeOracleKey(),
  user: makeOracleKey(),
};

await withWorld(keys, { sessions: [], documents: [], logs: [] }, async (world) => {
  const { server, domain, asUser } = world;
  await server.ussd(DIAL);
  await server.ussd({ ...DIAL, text: '1' });
  await domain.protocol('controller');
  const did = await domain.project('controller', { properties: { size: 3 } });
  const { sessionId } = (await asUser('/sessions', json({}))) as { sessionId: string };
  await asUser(`/messages/${sessionId}`, json({ message: 'hello' }));
  writeJson(join(folder, 'keys.json'), keys);
  writeJson(join(folder, 'held.json'), await world.take());
  writeFileSync(join(folder, 'export.jsonl'), (await domain.send('operator', '/v1/export')).text);
  const token = await world.token();
  writeJson(join(folder, 'invocation.json'), { token, says: inspectToken(token) });
  // What the same requests must answer from then on.
  writeJson(join(folder, 'says.json'), {
    dial: { ...DIAL, text: '1*0' },
    screen: await server.ussd({ ...DIAL, text: '1*0' }),
    domain: { did, is: (await domain.send('controller', `/v1/domains/${did}`)).json() },
    chat: { sessionId, is: await asUser(`/messages/${sessionId}`) },
  });
});
for (const name of ['main.flow.json', 'main.test.json', 'wallet.flow.json', 'wallet.test.json'])
  copyFileSync(join(ROOT, 'menus', name), join(folder, name));

// Two instances on one Redis: an operator on one sees what happens on the other, while somebody watches and no longer.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type RedisServer, startRedis } from '../../support/redis-server.ts';
import { until } from '../../support/until.ts';
import { readEvents } from '../support/event-reader.ts';
import { DIAL, withServer } from '../support/serve.ts';

const test = suite('inspector of two instances');
let redis: RedisServer;
test.before(async () => {
  redis = await startRedis();
});
test.after(async () => redis?.stop());

const KEYS = { PIN_ENCRYPTION_KEY: '8f1de1e2c1a53b2d7f6a90e4b35c7d2818aa4cfe0b61d9f3e27c5b8490ad6f13' };

test('turns of both instances are seen on one, once each', async () => {
  const env = { REDIS_URL: redis.url, ...KEYS };
  await withServer({ env }, (here) =>
    withServer({ env }, async (there) => {
      const seen = await readEvents(`${here.url}/inspector/stream`, {});
      try {
        const labels = () =>
          (seen.events() as unknown as { type: string; twinline?: { label: string; id: string } }[]).flatMap(
            ({ type, twinline }) => (type === '@xstate.snapshot' && twinline ? [twinline] : []),
          );
        // The other instance hears of it in its own time: until then it notes nothing.
        let dials = 0;
        await until('a turn of the other instance', async () => {
          await there.ussd({ ...DIAL, sessionId: `there-${dials++}`, phoneNumber: '+260977000555' });
          return labels().some(({ label }) => label.startsWith('there'));
        });
        await here.ussd({ ...DIAL, sessionId: 'here' });
        // The same session goes on elsewhere.
        await there.ussd({ ...DIAL, sessionId: 'here', text: '1' });
        await seen.until(() => labels().filter(({ label }) => label === 'here').length === 2);
        const ids = labels().map(({ id }) => id);
        assert.is(new Set(ids).size, ids.length);
        assert.not.ok(JSON.stringify(seen.blocks).includes('260977000555'));
      } finally {
        await seen.close();
      }
    }),
  );
});

test.run();

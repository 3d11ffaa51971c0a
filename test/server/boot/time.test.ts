// A server that takes its time from elsewhere: on a clock that stands still nothing expires, and what is due happens when it is set on.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SimulatedClock } from '../../../lib/clock.ts';
import { until } from '../../support/until.ts';
import { DIAL, json, withServer } from '../support/serve.ts';

const test = suite('time');

test('limits, sessions, times of answers and background work follow the clock', async () => {
  const clock = new SimulatedClock(Date.parse('2030-01-01T00:00:00Z'));
  const env = { RATE_LIMIT_MAX: '2', RATE_LIMIT_WINDOW_MS: '60000' };
  await withServer({ env, clock }, async (server) => {
    const health = await server.ask('/health');
    assert.is((health.json() as { timestamp: string }).timestamp, '2030-01-01T00:00:00.000Z');
    assert.match(await server.ussd(DIAL), /^CON /);
    await clock.advance(59_999);
    // A jump of the time of day ends no window, and makes none longer.
    clock.jump(-7_200_000);
    const limited = await server.ask('/api/ussd', json(DIAL));
    assert.equal([limited.status, limited.headers['retry-after']], [429, '1']);
    const count = async () => /^twinline_ussd_sessions (\d+)$/m.exec((await server.ask('/metrics')).text)?.[1];
    await clock.advance(60_000);
    await until('the session is counted', async () => {
      await clock.advance(60_000);
      return (await count()) === '1';
    });
    // Longer than a session lives: the sweeper removes it.
    await clock.advance(3_600_000);
    await until('the session is gone', async () => {
      await clock.advance(60_000);
      return (await count()) === '0';
    });
  });
});

test.run();

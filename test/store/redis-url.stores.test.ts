// Redis URLs: every form is read, no other, and a password is never shown.

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { isRedisUrl, parseRedisUrl, type RedisAddress } from '../../lib/store/redis/url.ts';
import { refuses } from '../../lib/testing/sessions/bench.ts';
import { fixture } from '../support/fixture.ts';

const { read, refused } = fixture<{
  readonly read: readonly { readonly text: string; readonly parts: RedisAddress }[];
  readonly refused: readonly string[];
}>('store/redis-urls.json');

const test = suite('Redis URLs');

test('every form is read, and named without its password', () => {
  for (const { text, parts } of read) {
    assert.equal(parseRedisUrl(text), parts, text);
    assert.ok(isRedisUrl(text));
    assert.not.match(parts.name, /canary/);
  }
});

test('what is no Redis URL is refused without being quoted', async () => {
  for (const text of refused) {
    assert.not(isRedisUrl(text), text);
    const error = await refuses('ERR_CONFIG', () => parseRedisUrl(text));
    assert.not.match(`${error.stack}`, /canary|can\/ary|can@ary/);
  }
});

test.run();

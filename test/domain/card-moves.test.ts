// Cards of a server that is restored, moved and given new keys, as the verifier of others sees them with all signatures.

import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { makeOracleKey } from '../../server/config/data-dir.ts';
import { domainClient, writeKeys } from '../server/support/domain-client.ts';
import { type Served, withServer } from '../server/support/serve.ts';
import { withFolder } from '../support/process.ts';
import { type Credential, verdictOn } from './credentials.ts';

const test = suite('cards of a server that moves');
const PUBLIC_URL = 'https://twins.example.com/registry';
const [OLD, NEW] = [makeOracleKey(), makeOracleKey()];

/** A server, and what people do with its cards. */
function cardsOn(server: Served) {
  const client = domainClient(() => server.url);
  const lookup = async (url: string) => {
    const answer = await server.ask(url.slice(PUBLIC_URL.length));
    if (answer.status !== 200) throw new Error(`${url}: ${answer.status}`);
    return answer.json();
  };
  const twin = () => client.project('operator');
  const card = async (did: string) => {
    const answer = await client.send('operator', `/v1/domains/${did}/card`);
    assert.is(answer.status, 200, answer.text);
    return answer.json() as Credential;
  };
  const end = (did: string) => client.send('operator', `/v1/domains/${did}`, { method: 'DELETE' });
  const verdicts = (cards: readonly Credential[]) =>
    Promise.all(cards.map(async (one) => (await verdictOn(one, lookup)).verified));
  return { client, twin, card, end, verdicts };
}

test('a copy that is restored, an export that is imported and new keys undo no revocation, and good cards stay good as long as their key is there', () =>
  withFolder(async (folder) => {
    const DATA_DIR = join(folder, 'data');
    const copy = join(folder, 'copy');
    const env = { API_KEYS_FILE: writeKeys(folder), PUBLIC_URL: `${PUBLIC_URL}/`, DATA_DIR };
    const serve = <T>(
      keys: readonly string[],
      work: (cards: ReturnType<typeof cardsOn>, server: Served) => Promise<T>,
    ) =>
      withServer(
        // Tokens name this DID; credentials name the key, whatever it says.
        {
          env: { ...env, ORACLE_KEY: keys.join(','), ORACLE_DID: keys[0] === OLD ? '' : 'did:web:oracle.example.com' },
        },
        (server) => work(cardsOn(server), server),
      );
    const names = (server: Served) => server.logged.filter(({ msg }) => /cannot be checked any more/.test(String(msg)));

    const first = await serve([OLD], async ({ client, twin, card, end, verdicts }) => {
      await client.protocol('operator');
      const [good, ended] = [await twin(), await twin()];
      const cards = [await card(good), await card(ended)];
      await end(ended);
      assert.equal(await verdicts(cards), [true, false]);
      return { good, cards };
    });
    cpSync(DATA_DIR, copy, { recursive: true });
    await serve([OLD, NEW], async ({ verdicts }) => assert.equal(await verdicts(first.cards), [true, false]));
    const later = await serve([NEW, OLD], async ({ twin, card, end, verdicts }, server) => {
      const ended = await twin();
      const cards = [await card(first.good), await card(ended)];
      await end(ended);
      assert.equal(await verdicts([...first.cards, ...cards]), [true, false, true, false]);
      assert.equal(names(server), []);
      return cards;
    });
    await serve([NEW], async ({ verdicts }, server) => {
      assert.equal(await verdicts([...first.cards, ...later]), [false, false, true, false]);
      const [warning] = names(server);
      assert.match(String(warning?.msg), String(first.cards[0]!.issuer));
    });

    rmSync(DATA_DIR, { recursive: true });
    cpSync(copy, DATA_DIR, { recursive: true });
    const dump = await serve([NEW, OLD], async ({ client, twin, card, end, verdicts }) => {
      // The copy does not know what was given after it, and no other card makes that good.
      const [other, ended] = [await card(await twin()), await twin()];
      const more = [other, await card(ended)];
      assert.equal(await verdicts([...first.cards, ...later, ...more]), [true, false, false, false, true, true]);
      await end(ended);
      assert.equal(await verdicts([...more, await card(first.good)]), [true, false, true]);
      const { text } = await client.send('operator', '/v1/export');
      return { text, more };
    });
    await withServer({ env: { ...env, DATA_DIR: ':memory:', ORACLE_KEY: `${NEW},${OLD}` } }, async (server) => {
      const { client, twin, card, verdicts } = cardsOn(server);
      const headers = { 'content-type': 'application/x-ndjson' };
      const sent = await client.send('operator', '/v1/bulk', { method: 'POST', headers, body: dump.text });
      assert.not.match(sent.text, /"error"/);
      assert.ok((await verdicts([await card(await twin())]))[0]);
      const all = [...first.cards, ...later, ...dump.more];
      assert.equal(await verdicts(all), [true, false, false, false, true, false]);
    });
  }));

test.run();

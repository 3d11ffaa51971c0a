// Credentials are signed as the standards say, by the key that operators set, without any look at the network.

import dns from 'node:dns';
import { Socket } from 'node:net';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { parseOracleKey } from '../../lib/delegation/oracle-key.ts';
import { issuer } from '../../lib/domain/credential/card.ts';
import { makeOracleKey } from '../../server/config/data-dir.ts';
import { verdictOn } from './credentials.ts';

const test = suite('issuer');

// The key of the test vectors of W3C "Data Integrity EdDSA Cryptosuites v1.0", B.1, in ucanto's string format.
const SECRET = 'c96ef9ea10c5e414c471723aff9de72c35fa5b70fae97e8832ecac7d2e2b8ed6';
const PUBLIC = 'b00d8d938e7f773d51565aad36a623f5344f7f5d1960f9cf3e8e12620ea2810f';
const W3C_KEY = `M${Buffer.from(`8026${SECRET}ed01${PUBLIC}`, 'hex').toString('base64')}`;
const W3C_DID = 'did:key:z6MkrJVnaZkeFzdQyMZu1cgjg7k1pZZ6pvBQ7XJPt4swbTQ2';

const newKey = () => parseOracleKey(makeOracleKey());

const ALUMNI = {
  // In place of https://www.w3.org/ns/credentials/examples/v2, which says just this.
  '@context': ['https://www.w3.org/ns/credentials/v2', { '@vocab': 'https://www.w3.org/ns/credentials/examples#' }],
  id: 'urn:uuid:58172aac-d8ba-11ed-83dd-0b3aef56cc33',
  type: ['VerifiableCredential', 'AlumniCredential'],
  name: 'Alumni Credential',
  description: 'A minimum viable example of an Alumni Credential.',
  issuer: 'https://vc.example/issuers/5678',
  validFrom: '2023-01-01T00:00:00Z',
  credentialSubject: { id: 'did:example:abcdefgh', alumniOf: 'The School of Examples' },
};

test('the signature of the W3C test vector B.1 (eddsa-rdfc-2022) comes out byte for byte', async () => {
  const { issue } = issuer(parseOracleKey(W3C_KEY));
  assert.equal((await issue(ALUMNI, Date.parse('2023-02-24T23:36:38Z'))).proof, {
    type: 'DataIntegrityProof',
    created: '2023-02-24T23:36:38Z',
    verificationMethod: `${W3C_DID}#${W3C_DID.slice('did:key:'.length)}`,
    cryptosuite: 'eddsa-rdfc-2022',
    proofPurpose: 'assertionMethod',
    proofValue: 'z2YwC8z3ap7yx1nZYCg4L3j3ApHsF8kgPdSb5xoS1VR7vPG3F561B52hYnQF9iseabecm3ijx4K1FBTQsCZahKZme',
  });
});

test('nothing on the network is touched by signing or checking, and a foreign context is refused', async () => {
  const attempts: string[] = [];
  const refuse = (what: string) => () => {
    attempts.push(what);
    throw new Error('the network was touched');
  };
  const { fetch } = globalThis;
  const { connect } = Socket.prototype;
  const { lookup } = dns;
  globalThis.fetch = refuse('fetch') as never;
  Socket.prototype.connect = refuse('connect') as never;
  dns.lookup = refuse('lookup') as never;
  try {
    const { issue } = issuer(newKey());
    const { issuer: _, ...unsigned } = ALUMNI;
    const credential = await issue(unsigned, Date.now());
    assert.ok((await verdictOn(credential)).verified);
    const foreign = { ...unsigned, '@context': [ALUMNI['@context'][0]!, 'https://evil.example.com/context'] };
    await issue(foreign as never, Date.now()).then(
      () => assert.unreachable('a foreign context was used'),
      () => {},
    );
    await issue({ ...unsigned, unknownTerm: 'unsigned' }, Date.now());
    assert.equal(attempts, []);
  } finally {
    globalThis.fetch = fetch;
    Socket.prototype.connect = connect;
    dns.lookup = lookup;
  }
});

test('what has no meaning in the contexts cannot be signed: it would not be part of the signature', async () => {
  const { issue } = issuer(newKey());
  const { issuer: _, '@context': __, ...rest } = ALUMNI;
  const plain = { ...rest, '@context': ['https://www.w3.org/ns/credentials/v2'], type: ['VerifiableCredential'] };
  await issue(plain, Date.now()).then(
    () => assert.unreachable('alumniOf is not signed'),
    () => {},
  );
});

test.run();

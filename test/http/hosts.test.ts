// Which addresses, hosts and URLs are public: one table for services, webhooks, keys of issuers, twins and plugins.

import { isIP } from 'node:net';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  addressProblem,
  findResolvedProblem,
  guardedLookup,
  isPublicAddress,
  isPublicHost,
  isPublicUrl,
} from '../../lib/http/hosts.ts';
import { publicHomeserver } from '../../server/plugins/context.ts';

const test = suite('public addresses');

const PUBLIC = ['8.8.8.8', '93.184.215.14', '172.32.0.1', '2606:4700:4700::1111', '2a00:1450::1', '2001:200::1'];

const NOT_PUBLIC: { readonly [why: string]: readonly string[] } = {
  loopback: ['127.0.0.1', '127.255.255.254', '::1'],
  unspecified: ['0.0.0.0', '0.1.2.3', '::'],
  'private (RFC 1918)': ['10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.0.1'],
  'shared (RFC 6598)': ['100.64.0.1', '100.127.255.255'],
  'link-local': ['169.254.169.254', 'fe80::1', 'fe80::1%eth0'],
  'unique local': ['fc00::1', 'fd00:ec2::254'],
  'site-local': ['fec0::1'],
  'mapped IPv4': ['::ffff:127.0.0.1', '::ffff:7f00:1', '::ffff:8.8.8.8', '::ffff:808:808'],
  'compatible and translated IPv4': ['::127.0.0.1', '::7f00:1', '::8.8.8.8', '::ffff:0:8.8.8.8'],
  NAT64: ['64:ff9b::7f00:1', '64:ff9b::808:808', '64:ff9b:1::1'],
  '6to4': ['2002:7f00:1::', '2002:808:808::1', '192.88.99.1'],
  Teredo: ['2001::1', '2001:0:808:808::1'],
  documentation: ['192.0.2.1', '198.51.100.1', '203.0.113.5', '2001:db8::1', '3fff::1'],
  benchmarks: ['198.18.0.1', '198.19.255.255', '2001:2::1'],
  'special purpose': ['192.0.0.8', '192.31.196.1', '192.52.193.1', '192.175.48.1', '2001:10::1', '2001:20::1'],
  multicast: ['224.0.0.1', '239.255.255.255', 'ff02::1'],
  'reserved, broadcast, outside 2000::/3': ['240.0.0.1', '255.255.255.255', '100::1', '4000::1', '5f00::1', '8000::1'],
};

const ODD_SPELLINGS = ['2130706433', '134744072', '0x7f.1', '0x08080808', '127.1', '8.8', '0177.0.0.1', '010.8.8.8'];
const NO_ADDRESSES = ['', 'example.com', '8.8.8.8.8', '8.8.8.256', '[2606:4700::1111]', 'not an address'];

const ofHost = (address: string) => (isIP(address) === 6 ? `[${address}]` : address);
const resolving = (address: string) => async () => [{ address, family: isIP(address) }];

async function lookup(address: string): Promise<Error | undefined> {
  const look = guardedLookup(resolving(address), 'public');
  return new Promise((resolve) => look('name.example', { all: true }, (error) => resolve(error ?? undefined)));
}

test('every door takes a public address', async () => {
  for (const address of PUBLIC) {
    const host = ofHost(address);
    assert.ok(isPublicAddress(address), address);
    assert.ok(isPublicHost(host), address);
    assert.ok(isPublicUrl(`https://${host}/a`), address);
    assert.ok(isPublicUrl(`mqtt://${host}/a`), address);
    assert.is(addressProblem(`https://${host}/a`), undefined, address);
    assert.is(await lookup(address), undefined, address);
    assert.is(await findResolvedProblem('https://name.example/', resolving(address)), undefined, address);
    assert.ok(publicHomeserver(`https://${host}`), address);
  }
});

for (const [why, addresses] of Object.entries(NOT_PUBLIC)) {
  test(`every door refuses what is not public: ${why}`, async () => {
    for (const address of addresses) {
      const host = ofHost(address);
      assert.not(isPublicAddress(address), address);
      assert.not(isPublicHost(host), address);
      assert.not(isPublicUrl(`https://${host}/a`), address);
      assert.not(isPublicUrl(`mqtt://${host}/a`), address);
      assert.ok(addressProblem(`https://${host}/a`), address);
      assert.match(String((await lookup(address))?.message), 'resolves to an address that is not public', address);
      assert.ok(await findResolvedProblem('https://name.example/', resolving(address)), address);
      assert.is(publicHomeserver(`https://${host}`), undefined, address);
    }
  });
}

test('another spelling of an address is no public address, also of a public one', () => {
  for (const spelling of [...ODD_SPELLINGS, ...NO_ADDRESSES]) assert.not(isPublicAddress(spelling), spelling);
  for (const spelling of ODD_SPELLINGS) {
    assert.not(isPublicHost(spelling), spelling);
    assert.not(isPublicUrl(`mqtt://${spelling}/a`), spelling);
  }
  for (const host of ['0x8.0x8.0x8.0x8', '010.8.8.8', '08.8.8.8', '127.1'])
    assert.is(publicHomeserver(host), undefined, host);
});

test('URLs write such spellings as the address that they mean', () => {
  for (const spelling of ['2130706433', '0x7f.1', '017700000001', '①②⑦.⓪.⓪.①', '[::ffff:7f00:1]']) {
    assert.not(isPublicUrl(`https://${spelling}/a`), spelling);
    assert.ok(addressProblem(`https://${spelling}/a`), spelling);
  }
  assert.ok(isPublicUrl('https://134744072/a'));
});

test('webhooks go by https, to a port and without a password in the URL', () => {
  const host = 'hooks.example.org';
  for (const url of [
    `http://${host}/`,
    `ftp://${host}/`,
    `https://user:password@${host}/`,
    `https://${host}:0/`,
    'https:///',
  ])
    assert.ok(addressProblem(url), url);
  assert.ok(addressProblem('https://intranet/'), 'a name without a dot');
  assert.is(addressProblem(`https://${host}/`), undefined);
});

test('names of this machine and of private networks are not public, nor is a host in percent signs', () => {
  const names = [
    'localhost',
    'a.localhost',
    'localhost.',
    'LOCALHOST',
    'printer.local',
    'vault.internal',
    'x.intranet',
  ];
  for (const host of [...names, 'router.home.arpa', '', 'a b']) assert.not(isPublicHost(host), host);
  assert.not(isPublicUrl('mqtt://%31%32%37.0.0.1/a'));
  for (const host of ['example.com', 'xn--bcher-kva.example', 'a_b.example']) assert.ok(isPublicHost(host), host);
});

test.run();

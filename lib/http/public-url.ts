// Which URLs may be kept: a known scheme and a public host. Nothing is fetched here.

import ipaddr from 'ipaddr.js';

const SCHEMES = new Set(['https:', 'http:', 'wss:', 'ws:', 'mqtts:', 'mqtt:']);
const HOSTLESS = new Set(['ipfs:', 'did:']);
const PRIVATE_NAMES = /^(.*\.)?(localhost|local|internal|intranet|home\.arpa)\.?$/i;

/** Whether a URL has a scheme that is no script and no file, and a host that is not this machine's or a private one. */
export function isPublicUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  if (HOSTLESS.has(url.protocol)) return true;
  return SCHEMES.has(url.protocol) && !url.username && !url.password && isPublicHost(url.hostname);
}

/** Whether this host name or address may be public, as far as its text tells. */
export function isPublicHost(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, '');
  return ipaddr.isValid(host) ? isPublicAddress(host) : host !== '' && !PRIVATE_NAMES.test(host);
}

/** Whether this IP address belongs to the public internet. */
function isPublicAddress(address: string): boolean {
  return ipaddr.isValid(address) && ipaddr.process(address).range() === 'unicast';
}

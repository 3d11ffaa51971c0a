// What tests of this process have told servers in confidence: tokens and API keys of requests, and PINs that were typed where a
// screen asked for one. Whatever server ends next is searched for the last of them.

import { subscribe } from 'node:diagnostics_channel';
import type { ClientRequest } from 'node:http';

/** As many are looked for as a search can afford; of a token a part, so that one which was cut is found, too. */
const KEPT = 32;
const TOKEN_CHARS = 16;
const PART_CHARS = 24;

const tokens = new Set<string>();
/** By the URL of the server: another may have a flow in which the same digits are no secret. */
const pins = new Map<string, Set<string>>();

function keep(set: Set<string>, secret: string): void {
  set.delete(secret);
  set.add(secret);
  if (set.size > KEPT) set.delete(set.values().next().value!);
}

function noteToken(value: unknown): void {
  const token = String(value ?? '').replace(/^\w+ /, '');
  if (token.length < TOKEN_CHARS) return;
  const begin = Math.max(0, Math.floor((token.length - PART_CHARS) / 2));
  keep(tokens, token.slice(begin, begin + PART_CHARS));
}

const HEADERS = ['authorization', 'x-api-key', 'x-ucan-delegation', 'x-matrix-access-token'];

subscribe('http.client.request.start', (message) => {
  const { request } = message as { readonly request: ClientRequest };
  for (const name of HEADERS) noteToken(request.getHeader(name));
});

// Of fetch: one text in older versions of Node, a list of names and values in newer ones.
subscribe('undici:request:create', (message) => {
  const { headers } = (message as { readonly request: { readonly headers: string | readonly string[] } }).request;
  const lines =
    typeof headers === 'string' ? headers.split('\r\n').flatMap((line) => line.split(/: (.*)/, 2)) : headers;
  for (let at = 0; at + 1 < lines.length; at += 2)
    if (HEADERS.includes(String(lines[at]).toLowerCase())) noteToken(lines[at + 1]);
});

/** Notes what was typed on a screen of a server, if that asked for a PIN. */
export function noteTyped(url: string, screen: string, typed: string): void {
  if (!/\bPIN\b/.test(screen) || !/^\d{4,6}$/.test(typed)) return;
  const known = pins.get(url) ?? new Set();
  pins.set(url, known);
  keep(known, typed);
}

// A number of four digits stands anywhere by chance; what was typed stands as a text, or among other inputs.
const TYPED = /["*=]|%2A/.source;
const TYPED_NUMBER = new RegExp(`(?:${TYPED})(\\d{4,6})(?=\\\\?"|\\*|%2A|&|$)`, 'g');

/** Which of them, and of the PINs of this server, a text holds. */
export function findTold(url: string, text: string): string[] {
  const around = (kind: string, at: number) => `${kind}: …${text.slice(Math.max(0, at - 80), at + 40)}…`;
  const found = [...tokens].flatMap((token) => {
    const at = text.indexOf(token);
    return at < 0 ? [] : [around('a token of a request', at)];
  });
  const typed = pins.get(url);
  if (typed)
    for (const { 1: digits, index } of text.matchAll(TYPED_NUMBER))
      if (typed.has(digits!)) found.push(around('a PIN that was typed', index));
  return found;
}

// Which version of Twinline this is, as its package.json says.

import { existsSync, readFileSync } from 'node:fs';

/** Such as `0.1.0`. The file is one step further away from what was built than from the source. */
export function versionOf(): string {
  const places = ['../../package.json', '../../../package.json'].map((path) => new URL(path, import.meta.url));
  const place = places.find((url) => existsSync(url));
  return place ? (JSON.parse(readFileSync(place, 'utf8')) as { version: string }).version : 'unknown';
}

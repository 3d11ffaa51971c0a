// `npm run versions [-- 22 24] [words]`: runs the tests on other versions of Node, one after the other. Exit code 1 when one fails.
//
//   npm run versions                    all tests, on each of VERSIONS
//   npm run versions -- 22 engine/      the files whose path has this word, on Node 22

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { delimiter, dirname } from 'node:path';
import { createInterface } from 'node:readline';

/** Versions that are supported beside the one in `engines`. */
const VERSIONS = ['22', '24'];

const given = process.argv.slice(2);
const isVersion = (word: string) => /^\d{2}$/.test(word);
const words = given.filter((word) => !isVersion(word));
const versions = given.some(isVersion) ? given.filter(isVersion) : VERSIONS;
const outcomes: string[] = [];

for (const version of versions) outcomes.push(await runOn(version));
console.log(outcomes.join('\n'));

async function runOn(version: string): Promise<string> {
  const found = spawnSync('npx', ['-y', `node@${version}`, '-p', 'process.execPath'], { encoding: 'utf8' });
  const node = found.stdout?.trim();
  if (found.status !== 0 || !node) {
    process.exitCode = 1;
    return `Node ${version}: npx -y node@${version} gives no program: ${found.stderr?.trim().split('\n').at(-1)}`;
  }
  const env = { ...process.env, PATH: `${dirname(node)}${delimiter}${process.env.PATH}`, NO_COLOR: '1' };
  const child = spawn('npm', ['test', '--', ...words], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'close');
  let last = '';
  for await (const line of createInterface({ input: child.stdout })) {
    if (line) last = line;
    console.log(line);
  }
  const [code] = (await ended) as [number | null];
  const isGreen = code === 0 && /^[1-9]\d* passed, 0 failed/.test(last);
  if (!isGreen) process.exitCode = 1;
  return `Node ${spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout.trim()}: ${last}${isGreen ? '' : `, ended with ${code}`}`;
}

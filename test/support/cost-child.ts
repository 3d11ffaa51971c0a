// A server in a process of its own that tells its parent what processor time it has used.

import { startServer } from '../../server/boot/start.ts';
import { readConfig } from '../../server/config/config.ts';

const { config, problems } = readConfig(process.env, { makeKeys: true });
if (!config) throw new Error(problems.join('\n'));
const faults: string[] = [];
const log = {
  write: (line: string) => {
    const { level, msg, err } = JSON.parse(line) as { level: number; msg: string; err?: { message?: string } };
    if (level >= 50) faults.push(`${msg}: ${err?.message ?? ''}`);
  },
};
const server = await startServer(config, { log, overload: { loopDelayMs: 60_000 } });

// What a request with this body, or this answer, costs at least: on this machine, and under its present load.
function floor(text: string): number {
  const value = parsed(text);
  const used = Array.from({ length: 3 }, () => {
    const before = process.cpuUsage();
    JSON.stringify(parsed(text) ?? value);
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000;
  });
  return Math.min(...used);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

process.on('message', ({ what, text = '' }: { what: 'cpu' | 'floor' | 'faults'; text?: string }) => {
  const { user, system } = process.cpuUsage();
  const answers = { cpu: () => (user + system) / 1_000, floor: () => floor(text), faults: () => faults.splice(0) };
  process.send!({ [what]: answers[what]() });
});
process.on('disconnect', () => process.exit(0));
process.send!({ url: server.url, routes: server.routes.map(({ method, path }) => `${method} ${path}`) });

// Loaded into a server of a test with --import: at SIGUSR2 it prints how much memory the server holds, and what keeps its event
// loop alive: timers, sockets, requests to the system.

import { readFileSync, writeSync } from 'node:fs';
import { heldBytes } from './memory.ts';

process.on('SIGUSR2', async () => {
  const held = await heldBytes();
  const resident = Number(/RssAnon:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))![1]) * 1024;
  writeSync(
    2,
    `held ${held} native ${resident - process.memoryUsage().heapTotal}\nhandles ${process.getActiveResourcesInfo().length}\n`,
  );
});

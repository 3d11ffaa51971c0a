// A server that keeps its sessions in this store: node server.js

import { requireConfig, startServer } from 'twinline/server';
import { fileSnapshots } from './index.js';

const snapshots = fileSnapshots({ folder: 'sessions' });
const server = await startServer(requireConfig(process.env), { stores: { snapshots } });
for (const { keeps, program, place } of server.places) console.log(keeps, 'in', program, place);
// What a program has opened, it closes.
/** @type {Promise<void> | undefined} */
let closing;
const close = async () => {
  await server.close();
  await snapshots.close();
};
// Ctrl-C sends SIGINT; Docker and systemd send SIGTERM.
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => (closing ??= close()));

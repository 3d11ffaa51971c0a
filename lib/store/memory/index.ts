// The stores that live in this process's memory, under one import path.

export { memoryChannel } from './channel.ts';
export { memoryDocuments } from './documents.ts';
export { memoryLogs } from './logs.ts';
export { memorySnapshots } from './snapshots.ts';

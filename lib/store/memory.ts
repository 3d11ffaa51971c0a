// The stores that live in this process's memory, under one import path.

export { memoryChannel } from './memory-channel.ts';
export { memoryDocuments } from './memory-documents.ts';
export { memoryLogs } from './memory-logs.ts';
export { memorySnapshots } from './memory-snapshots.ts';

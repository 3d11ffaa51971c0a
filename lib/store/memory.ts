// The stores that live in this process's memory, under one import path.

export { memoryDocuments } from './memory-documents.ts';
export { memorySnapshots } from './memory-snapshots.ts';

// The stores in MongoDB, shared by any number of instances, under one import path.

export {
  connectMongo,
  type MongoConnection,
  type MongoConnectionOptions,
  type MongoSource,
} from './connection.ts';
export { type MongoDocumentsOptions, mongoDocuments } from './documents.ts';
export { type MongoSnapshotsOptions, mongoSnapshots } from './snapshots.ts';

// The stores in MongoDB, shared by any number of instances, under one import path.

export {
  connectMongo,
  type MongoConnection,
  type MongoConnectionOptions,
  type MongoSource,
} from './mongo-connection.ts';
export { type MongoDocumentsOptions, mongoDocuments } from './mongo-documents.ts';
export { type MongoSnapshotsOptions, mongoSnapshots } from './mongo-snapshots.ts';

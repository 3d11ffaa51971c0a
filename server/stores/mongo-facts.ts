// What a MongoDB says about itself: version, clock, and whether it stands alone.

import type { MongoConnection } from '../../lib/store/mongo/connection.ts';

export interface MongoFacts {
  readonly version: string;
  readonly topology: 'standalone' | 'replica set' | 'sharded';
  /** Members that hold data; 1 for one that stands alone. */
  readonly members: number;
  /** Its clock minus ours, in milliseconds; good to half a round trip. */
  readonly skewMs: number;
}

/** Asks the primary. Rejects when it does not answer. */
export async function mongoFacts(mongo: MongoConnection): Promise<MongoFacts> {
  const version = await mongo.version();
  const begun = Date.now();
  const hello = await mongo.db.command({ hello: 1 });
  const ours = (begun + Date.now()) / 2;
  const theirs = hello.localTime instanceof Date ? hello.localTime.getTime() : ours;
  const hosts = [...((hello.hosts as unknown[]) ?? []), ...((hello.passives as unknown[]) ?? [])];
  return {
    version,
    topology: hello.msg === 'isdbgrid' ? 'sharded' : hello.setName ? 'replica set' : 'standalone',
    members: Math.max(1, hosts.length),
    skewMs: Math.round(theirs - ours),
  };
}

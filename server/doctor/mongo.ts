// Checks of MongoDB: whether it answers, and whether what it keeps outlives one machine.

import { advice, type Check, fine, type Patient } from './check.ts';

const isUsed = ({ mongo }: Patient) => mongo !== undefined;
const SAFE_MEMBERS = 3;

export const MONGO_CHECKS: readonly Check[] = [
  {
    name: 'MongoDB answers',
    when: isUsed,
    run: async ({ mongo }) => {
      const { version } = await mongo!.facts();
      return fine(`MongoDB ${version} at ${mongo!.connection.name} answers`);
    },
  },
  {
    name: 'MongoDB topology',
    when: isUsed,
    run: async ({ mongo }) => {
      const { topology, members } = await mongo!.facts();
      if (topology === 'sharded') return fine('MongoDB is sharded');
      if (topology === 'replica set' && members >= SAFE_MEMBERS)
        return fine(`MongoDB is a replica set of ${members}: one may fail`);
      const words = topology === 'standalone' ? 'MongoDB stands alone' : `MongoDB is a replica set of ${members}`;
      return advice(`${words}: documents are lost with its disk`, `Use a replica set of ${SAFE_MEMBERS} members.`);
    },
  },
  {
    name: 'MongoDB write concern',
    when: isUsed,
    run: () => fine('writes wait for the journals of a majority, whatever the URL says'),
  },
];

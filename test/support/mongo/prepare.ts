// Finds or builds what `npm test` needs for its MongoDB server: node --import tsx test/support/mongo/prepare.ts

import { onPath } from '../on-path.ts';
import { chrootLacks, prepareChroot } from './chroot.ts';

const lacks = chrootLacks();
if (process.env.MONGODB_URL || onPath('mongod')) console.log('MongoDB is here: there is nothing to build.');
else if (lacks) console.log(`No MongoDB here, and its engine cannot be built: ${lacks}. Its tests will be skipped.`);
else console.log(`The engine is in ${await prepareChroot(console.log)}`);

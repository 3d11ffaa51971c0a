// Every promise of a SnapshotStore, kept by this one: each check opens it in a new folder, with a clock that stands still.

import { test } from 'node:test';
import { snapshotStoreChecks } from 'twinline/testing';
import { fileSnapshots } from '../index.js';

for (const { name, run, skip } of snapshotStoreChecks(fileSnapshots)) test(name, { skip }, run);

// The flows of a server under faults: one for phones that counts, logs in and calls a service, and one for chats. A turn that is
// lost or applied twice shows in the count, and the service sees who acts.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { flowFixture } from '../../support/flow-fixture.ts';

/** The service that the flows call. */
export interface ActService {
  readonly url: string;
  readonly callMs: number;
}

/** Writes the flows into a folder. */
export function writeFlows(folder: string, { url, callMs }: ActService): void {
  for (const name of ['main', 'assistant']) {
    const flow = JSON.stringify(flowFixture(`faults-${name}`));
    const written = flow.replaceAll('<<service>>', url).replaceAll('<<timeout>>', `${callMs}ms`);
    writeFileSync(join(folder, `${name}.flow.json`), written);
  }
}

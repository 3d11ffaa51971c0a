// The flows and tests that the references show: the examples of the two JSON Schemas.

import type { Flow } from '../../../lib/flow/format/flow.ts';
import { flowSchema } from '../../../lib/flow/format/schema.ts';
import { type FlowTestFile, flowTestSchema } from '../../../lib/flow/testing/file.ts';

/** The smallest flow, one with every type of screen, and the one that it calls. */
export function exampleFlows(): readonly Flow[] {
  return (flowSchema().examples ?? []) as readonly Flow[];
}

/** The tests of the second. */
export function exampleTests(): readonly FlowTestFile[] {
  return (flowTestSchema().examples ?? []) as readonly FlowTestFile[];
}
